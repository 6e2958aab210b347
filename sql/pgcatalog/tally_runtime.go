package pgcatalog

import (
	"context"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
)

// eachPartition calls row for every partition of every stream.
func (c *Catalog) eachPartition(ctx context.Context, row func(stream *catalog.Relation, p *PartitionStatus)) error {
	if c.cfg.Runtime == nil {
		return nil
	}
	for _, r := range c.ofKind(catalog.KindStream) {
		list, err := c.cfg.Runtime.Partitions(ctx, r)
		if err != nil {
			return err
		}
		for i := range list {
			row(r, &list[i])
		}
	}
	return nil
}

func fillPartitions(ctx context.Context, c *Catalog, w *writer) error {
	w.columns(`stream partition state base head applied behind staleness_ms watermark offline all_idle sources received admitted
		duplicates rejected dedup_ids memory_bytes log_bytes last_checkpoint`)
	return c.eachPartition(ctx, func(r *catalog.Relation, p *PartitionStatus) {
		row := []any{r.Name, int(p.Partition), partitionState(p), int64(p.Base), int64(p.Head)}
		if p.Answered {
			row = append(row, int64(p.Applied), int64(max(p.Head, p.Applied)-p.Applied), knownOrNull(p.StalenessMillis), optionalTime(p.Watermark),
				p.Offline, p.AllIdle, p.Sources, p.Received, p.Admitted, p.Duplicates, p.Rejected, int64(p.DedupIDs), p.MemoryBytes,
				knownOrNull(p.LogBytes), timeOrNull(p.Checkpoint))
		} else {
			row = append(row, nil, nil, nil, nil, p.Offline, nil, nil, nil, nil, nil, nil, nil, nil, knownOrNull(p.LogBytes), nil)
		}
		w.add(row...)
	})
}

func partitionState(p *PartitionStatus) string {
	switch {
	case p.Offline:
		return "offline"
	case !p.Answered:
		return "unknown"
	case p.Applied < p.Head:
		return "behind"
	case p.AllIdle:
		return "idle"
	}
	return "live"
}

func knownOrNull(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}

func optionalTime(t *time.Time) any {
	if t == nil {
		return nil
	}
	return *t
}

func fillViewPartitions(ctx context.Context, c *Catalog, w *writer) error {
	w.columns("view stream partition applied live rows late errors open_groups open_windows memory_bytes")
	return c.eachPartition(ctx, func(r *catalog.Relation, p *PartitionStatus) {
		for _, v := range c.cfg.Snapshot.ViewsOf(r.ID) {
			if s, ok := p.Views[v.ID]; ok {
				w.add(v.Name, r.Name, int(p.Partition), int64(s.Applied), s.Live, s.Rows, s.Late, s.Errors, s.OpenGroups,
					s.OpenWindows, s.MemoryBytes)
			}
		}
	})
}

// fillJobs lists the views that still read history, counted in records.
func fillJobs(ctx context.Context, c *Catalog, w *writer) error {
	w.columns("view stream partitions partitions_live done total state")
	type progress struct {
		partitions, live, reading int
		done, total               int64
	}
	jobs := map[id.Relation]*progress{}
	err := c.eachPartition(ctx, func(r *catalog.Relation, p *PartitionStatus) {
		for _, v := range c.cfg.Snapshot.ViewsOf(r.ID) {
			j := jobs[v.ID]
			if j == nil {
				j = &progress{}
				jobs[v.ID] = j
			}
			j.partitions++
			s, ok := p.Views[v.ID]
			switch {
			case s.Live:
				j.live++
			case p.Answered:
				j.reading++
			}
			birth := v.ContinuousView.Birth[p.Partition]
			j.total += int64(max(p.Head, birth) - birth)
			if ok {
				j.done += int64(min(max(s.Applied, birth), p.Head) - min(birth, p.Head))
			}
		}
	})
	for _, v := range c.ofKind(catalog.KindContinuousView) {
		j := jobs[v.ID]
		if j == nil || j.reading == 0 {
			continue
		}
		w.add(v.Name, orNull(c.streamName(v)), j.partitions, j.live, j.done, j.total, "reading history")
	}
	return err
}

// fillWatermarks lists the watermark of each stream, the least of its partitions';
// it is NULL until every partition has one.
func fillWatermarks(ctx context.Context, c *Catalog, w *writer) error {
	w.columns("stream watermark partitions partitions_known slowest_partition all_idle")
	type summary struct {
		watermark    *time.Time
		slowest      id.Partition
		total, known int
		idle         bool
	}
	streams := map[id.Relation]*summary{}
	err := c.eachPartition(ctx, func(r *catalog.Relation, p *PartitionStatus) {
		s := streams[r.ID]
		if s == nil {
			s = &summary{idle: true}
			streams[r.ID] = s
		}
		s.total++
		s.idle = s.idle && p.AllIdle
		if !p.Answered || p.Watermark == nil {
			return
		}
		s.known++
		if s.watermark == nil || p.Watermark.Before(*s.watermark) {
			s.watermark, s.slowest = p.Watermark, p.Partition
		}
	})
	for _, r := range c.ofKind(catalog.KindStream) {
		s := streams[r.ID]
		switch {
		case s == nil:
		case s.known < s.total:
			w.add(r.Name, nil, s.total, s.known, nil, s.idle)
		default:
			w.add(r.Name, *s.watermark, s.total, s.known, int(s.slowest), s.idle)
		}
	}
	return err
}

// fillGuarantees lists, for each column of a continuous view, the aggregates that
// it is made of and what they promise.
func fillGuarantees(_ context.Context, c *Catalog, w *writer) error {
	w.columns("view position column function family guarantee error_kind approximate merge_algebra state privacy_class citation max_error on_bound_exceeded")
	if c.cfg.View == nil || c.cfg.Registry == nil {
		return nil
	}
	for _, r := range c.ofKind(catalog.KindContinuousView) {
		v, err := c.cfg.View(r)
		if err != nil {
			return err
		}
		layout := v.Fold.Layout()
		for i, value := range v.Output {
			var aggs []int
			for k := range plan.Columns(value) {
				if k >= layout.Aggs && k < layout.Aggs+len(v.Fold.Aggs) {
					aggs = append(aggs, k-layout.Aggs)
				}
			}
			slices.Sort(aggs)
			for _, a := range aggs {
				c.addGuarantee(w, r, i+1, v.Columns[i].Name, v.Fold, a)
			}
		}
	}
	return nil
}

func (c *Catalog) addGuarantee(w *writer, view *catalog.Relation, position int, column string, fold *plan.Fold, a int) {
	call := &fold.Aggs[a]
	identity := fold.States[call.State].Spec.Identity()
	f := c.cfg.Registry.Lookup(call.Name)
	maxError, exceeded := accuracyOf(view.ContinuousView)
	if !call.Final.Approximate() {
		maxError, exceeded = nil, nil
	}
	if f == nil {
		w.add(view.Name, position, column, call.Name, nil, nil, string(call.Final.Kind()), call.Final.Approximate(), nil, identity, nil, nil, maxError, exceeded)
		return
	}
	w.add(view.Name, position, column, call.Name, f.Family, f.Guarantee, string(call.Final.Kind()), call.Final.Approximate(),
		string(f.MergeAlgebra), identity, string(f.PrivacyClass), orNull(f.Citation), maxError, exceeded)
}
