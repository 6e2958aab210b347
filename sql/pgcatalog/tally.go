package pgcatalog

import (
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// eventSpan is a length of event time as an interval; zero is NULL.
func eventSpan(d eventtime.Duration) any {
	if d == 0 {
		return nil
	}
	return types.Span{Micros: int64(d)}.Datum()
}

// clockSpan is a length of time as an interval; zero is NULL.
func clockSpan(d time.Duration) any { return eventSpan(eventtime.Duration(d.Microseconds())) }

// ofKind returns the relations of a kind.
func (c *Catalog) ofKind(kinds ...catalog.Kind) []*catalog.Relation {
	if c.cfg.Snapshot == nil {
		return nil
	}
	var out []*catalog.Relation
	for _, r := range c.cfg.Snapshot.Relations() {
		for _, k := range kinds {
			if r.Kind == k {
				out = append(out, r)
			}
		}
	}
	return out
}

func fillStreams(c *Catalog, w *writer) {
	w.columns(`name partitions event_time watermark_delay partition_key dedup_key dedup_horizon source_key idle_timeout
		max_future_skew retention on_bad_row kind owner created version weight`)
	for _, r := range c.ofKind(catalog.KindStream) {
		s := r.Stream
		o := &s.Options
		var eventTime, delay, horizon, source, weight any
		if s.TimeColumn >= 0 {
			eventTime, delay = r.Columns[s.TimeColumn].Name, types.Span{Micros: int64(s.WatermarkDelay)}.Datum()
		}
		if len(o.DedupKey) > 0 {
			horizon = eventSpan(o.DedupHorizon)
		}
		if o.SourceKey >= 0 && o.SourceKey < len(r.Columns) {
			source = r.Columns[o.SourceKey].Name
		}
		if c := s.WeightColumn(); c >= 0 {
			weight = r.Columns[c].Name
		}
		onBadRow := "error"
		if o.RejectBadRows {
			onBadRow = "reject"
		}
		w.add(r.Name, len(s.Partitions()), eventTime, delay, orNull(columnNames(r, o.PartitionKey)), orNull(columnNames(r, o.DedupKey)),
			horizon, source, clockSpan(o.IdleTimeout), clockSpan(o.MaxFutureSkew), clockSpan(o.Retention), onBadRow,
			orNull(o.StreamKind), orNull(r.Owner), timeOrNull(r.Created), int64(r.Version), weight)
	}
}

func fillTallyViews(c *Catalog, w *writer) {
	w.columns(`name kind stream allowed_lateness early max_groups max_staleness time_zone fingerprint owner created version
		definition max_error on_bound_exceeded`)
	for _, r := range c.ofKind(catalog.KindContinuousView, catalog.KindView) {
		body, _ := viewBody(r)
		body = strings.TrimSpace(body)
		v := r.ContinuousView
		if v == nil {
			w.add(r.Name, string(r.Kind), nil, nil, nil, nil, nil, nil, nil, orNull(r.Owner), timeOrNull(r.Created), int64(r.Version), body, nil, nil)
			continue
		}
		maxError, exceeded := accuracyOf(v)
		var groups any
		if v.MaxGroups > 0 {
			groups = v.MaxGroups
		}
		w.add(r.Name, string(r.Kind), orNull(c.streamName(r)), types.Span{Micros: int64(v.AllowedLateness)}.Datum(), clockSpan(v.Early), groups,
			clockSpan(v.MaxStaleness), v.TimeZone, v.Fingerprint, orNull(r.Owner), timeOrNull(r.Created), int64(r.Version), body, maxError, exceeded)
	}
}

// accuracyOf is the accuracy contract of a view, NULLs without one.
func accuracyOf(v *catalog.ContinuousView) (maxError, onExceeded any) {
	if v.Accuracy == nil {
		return nil, nil
	}
	return v.Accuracy.MaxError, v.Accuracy.OnExceeded
}

// streamName is the name of the stream that a continuous view reads.
func (c *Catalog) streamName(view *catalog.Relation) string {
	if s := c.cfg.Snapshot.ByID(view.ContinuousView.Stream); s != nil {
		return s.Name
	}
	return ""
}

func fillTallyAggregates(c *Catalog, w *writer) {
	w.columns(`name aliases family signature stream_model merge_algebra parameters guarantee confidence memory privacy_class
		codec_version citation`)
	if c.cfg.Registry == nil {
		return
	}
	for _, name := range c.cfg.Registry.Names() {
		f := c.cfg.Registry.Lookup(name)
		if f.Name != name {
			continue // an alias
		}
		var aliases any
		if len(f.Aliases) > 0 {
			aliases = f.Aliases
		}
		w.add(f.Name, aliases, f.Family, f.Signature, string(f.StreamModel), string(f.MergeAlgebra), orNull(parameters(f)),
			f.Guarantee, orNull(f.Confidence), f.Memory, string(f.PrivacyClass), f.CodecVersion, orNull(f.Citation))
	}
}

// parameters shows an aggregate's parameters: "k = 200 (8 to 65535): meaning".
func parameters(f *agg.Function) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	var out []string
	for _, p := range f.Parameters {
		out = append(out, p.Name+" = "+number(p.Default)+" ("+number(p.Min)+" to "+number(p.Max)+"): "+p.Meaning)
	}
	return strings.Join(out, "; ")
}

func fillTallySettings(c *Catalog, w *writer) {
	w.columns("name value initial read_only about")
	for _, s := range c.settings() {
		w.add(s.Name, s.Value, s.Initial, s.ReadOnly, s.About)
	}
}
