package pgcatalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// about is the comment on a relation.
func (c *Catalog) about(r *catalog.Relation) string {
	switch r.Kind {
	case catalog.KindStream:
		text := "Stream of " + count(r.Stream.Options.Partitions, "partition")
		if i := r.Stream.TimeColumn; i >= 0 {
			text += fmt.Sprintf(", event time %s, watermark %s behind", r.Columns[i].Name, span(r.Stream.WatermarkDelay))
		}
		if i := r.Stream.WeightColumn(); i >= 0 {
			text += fmt.Sprintf(", %s with weight %s", r.Stream.Options.StreamKind, r.Columns[i].Name)
		}
		return text + "."
	case catalog.KindContinuousView:
		text := "Continuous view"
		if s := c.cfg.Snapshot.ByID(r.ContinuousView.Stream); s != nil {
			text += " over stream " + s.Name
		}
		if l := r.ContinuousView.AllowedLateness; l > 0 {
			text += ", accepts events up to " + span(l) + " late"
		}
		return text + "."
	}
	return ""
}

// options are the WITH options of a relation as name=value.
func options(r *catalog.Relation) []string {
	var out []string
	add := func(name, value string) { out = append(out, name+"="+value) }
	switch {
	case r.View != nil && r.View.Invoker:
		add("security_invoker", "true")
	case r.Stream != nil:
		o := &r.Stream.Options
		add("partitions", fmt.Sprint(o.Partitions))
		if len(o.PartitionKey) > 0 {
			add("partition_key", columnNames(r, o.PartitionKey))
		}
		if len(o.DedupKey) > 0 {
			add("dedup_key", columnNames(r, o.DedupKey))
			add("dedup_horizon", span(o.DedupHorizon))
		}
		if o.SourceKey >= 0 && o.SourceKey < len(r.Columns) {
			add("source_key", r.Columns[o.SourceKey].Name)
		}
		for _, d := range []struct {
			name  string
			value time.Duration
		}{{"idle_timeout", o.IdleTimeout}, {"max_future_skew", o.MaxFutureSkew}, {"retention", o.Retention}} {
			if d.value > 0 {
				add(d.name, clock(d.value))
			}
		}
		if o.RejectBadRows {
			add("on_bad_row", "reject")
		}
		if c := r.Stream.WeightColumn(); c >= 0 {
			add("kind", o.StreamKind)
			add("weight", r.Columns[c].Name)
		}
	case r.ContinuousView != nil:
		v := r.ContinuousView
		if v.AllowedLateness > 0 {
			add("allowed_lateness", span(v.AllowedLateness))
		}
		if v.Early > 0 {
			add("early", clock(v.Early))
		}
		if v.MaxGroups > 0 {
			add("max_groups", fmt.Sprint(v.MaxGroups))
		}
		if v.MaxStaleness > 0 {
			add("max_staleness", clock(v.MaxStaleness))
		}
		if a := v.Accuracy; a != nil {
			add("max_error", fmt.Sprint(a.MaxError))
			add("on_bound_exceeded", a.OnExceeded)
		}
	}
	return out
}

func columnNames(r *catalog.Relation, columns []int) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = r.Columns[c].Name
	}
	return strings.Join(names, ",")
}

// span shows a length of event time in its largest whole unit: "90 seconds".
func span(d eventtime.Duration) string {
	for _, u := range []struct {
		size eventtime.Duration
		name string
	}{{eventtime.Day, "day"}, {eventtime.Hour, "hour"}, {eventtime.Minute, "minute"}, {eventtime.Second, "second"}} {
		if d >= u.size && d%u.size == 0 {
			return count(int(d/u.size), u.name)
		}
	}
	return count(int(d/eventtime.Millisecond), "millisecond")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// clock shows a length of time like span.
func clock(d time.Duration) string { return span(eventtime.Duration(d.Microseconds())) }
