package gather

import (
	"context"
	"errors"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
)

// recount replaces the values whose error is larger than what the view's contract
// allows, or unknown, by what the retained log says, if that has all rows behind them;
// the others stay estimates. cols are the columns of the layout.
func (a *answer) recount(ctx context.Context, l *plan.OutputLayout, cols map[int]*types.Vector) error {
	r := &recounting{answer: a, rows: map[int]bool{}, wanted: map[eventtime.Time]map[string]bool{}}
	r.choose()
	if len(r.rows) == 0 {
		return nil
	}
	parts, err := r.ask(ctx)
	if parts == nil || err != nil {
		return err
	}
	return r.replace(l, cols, parts)
}

// recounting is a recount under way.
type recounting struct {
	*answer
	encoded [][]byte     // the keys of the rows
	rows    map[int]bool // that have such values
	aggs    []int        // numbers of the aggregates that have such values
	wanted  map[eventtime.Time]map[string]bool
}

// choose finds what is to be counted again.
func (r *recounting) choose() {
	for _, column := range r.keys() {
		for g := range len(column.Offsets) - 1 {
			r.encoded = append(r.encoded, column.At(g))
		}
	}
	for _, e := range r.estimates {
		if r.scan.Fold.Aggs[e.agg].Shadow == nil {
			continue
		}
		some := false
		for row := range r.groups() {
			if r.exceeded(e.errors, row) {
				r.rows[row], some = true, true
			}
		}
		if some {
			r.aggs = append(r.aggs, e.agg)
		}
	}
	for row := range r.rows {
		start := r.window[row]
		if r.wanted[start] == nil {
			r.wanted[start] = map[string]bool{}
		}
		r.wanted[start][string(r.encoded[row])] = true
	}
}

// ask asks every partition that is in the answer for its part of what it answered;
// nil if one cannot give it.
func (r *recounting) ask(ctx context.Context) ([]*fragment.Recount, error) {
	reaches := map[id.Partition]fragment.Reach{}
	var partitions []id.Partition
	for _, reach := range r.gate.reaches {
		reaches[reach.Partition] = reach
		partitions = append(partitions, reach.Partition)
	}
	req := fragment.RecountRequest{View: r.scan.View.ID, Aggs: r.aggs, Groups: r.wanted, Memory: fragment.NewMemory(r.s.memory)}
	replies, err := ask(ctx, r.s, r.scan.Fold.Stream, partitions, func(ctx context.Context, t fragment.Target) (*fragment.Recount, error) {
		t.Cut = reaches[t.Partition].Applied
		return r.s.transport.Recount(ctx, t, req)
	})
	if err != nil {
		return nil, err
	}
	var out []*fragment.Recount
	for _, reply := range replies {
		if errors.Is(reply.err, fragment.ErrRecountMemory) {
			r.gate.coverage.Estimates, r.gate.coverage.RecountBytes = int64(len(r.rows)), r.s.memory
			return nil, nil
		}
		if !r.serves(reply, reaches[reply.partition]) {
			return nil, nil
		}
		out = append(out, reply.answer)
	}
	return out, nil
}

// serves reports whether a partition counted the very records again that its part of the
// answer covers (L-5), as far as they are left.
func (r *recounting) serves(reply reply[*fragment.Recount], reach fragment.Reach) bool {
	if reply.err != nil || reply.answer.Identity != fold.Identity(r.scan.Fold) {
		return false
	}
	return reply.answer.Missed > eventtime.Min || slices.Equal(reply.answer.Covered, reach.Covered)
}

// group names a group.
type group struct {
	window eventtime.Time
	key    string
}

// replace merges the parts and puts their values into the rows.
func (r *recounting) replace(l *plan.OutputLayout, cols map[int]*types.Vector, parts []*fragment.Recount) error {
	shadows := r.scan.Fold.Shadows(r.aggs)
	merged, missed := newGroupSet(fold.NewGroups(shadows, nil)), eventtime.Min
	for _, part := range parts {
		missed = max(missed, part.Missed)
		if err := merged.add(part.Groups); err != nil {
			return err
		}
	}
	index := map[group]int{}
	for _, p := range merged.parts {
		for i := range p.Len() {
			index[group{p.Windows[i], string(p.Keys.At(i))}] = len(index)
		}
	}
	place := make([]int, r.groups()) // of the rows in merged; -1 for those that stay as they are
	for row := range place {
		at, ok := index[group{r.window[row], string(r.encoded[row])}]
		if place[row] = at; !ok || !r.rows[row] || r.window[row] < missed {
			place[row] = -1
		}
	}
	for n, a := range shadows.Aggs {
		exact := types.NewVector(a.Final.Type(), len(index))
		for _, p := range merged.parts {
			if err := a.Final.Finalise(p.States[n], p.Len(), r.s.settings.Confidence, exact, nil); err != nil {
				return err
			}
		}
		r.replaceAgg(l, cols, r.aggs[n], exact, place)
	}
	r.exact = func(row int) bool {
		return place[row] >= 0 && !slices.ContainsFunc(r.estimates, func(e estimated) bool { return e.errors.IsNull(row) || e.errors.Floats[row] > 0 })
	}
	return nil
}

// replaceAgg puts exact values of an aggregate into the rows that have a place among
// them and whose value is too far off; it is its own limits then, if it has an order.
func (r *recounting) replaceAgg(l *plan.OutputLayout, cols map[int]*types.Vector, number int, exact *types.Vector, place []int) {
	n := slices.IndexFunc(r.estimates, func(e estimated) bool { return e.agg == number })
	old := r.estimates[n].errors
	beyond := func(row int) bool { return place[row] >= 0 && r.exceeded(old, row) }
	limit := func(row int) types.Datum {
		if d := exact.Datum(place[row]); d.Type.OID != types.JSONB {
			return d
		}
		return types.NullOf(exact.Type)
	}
	value := func(row int) types.Datum { return exact.Datum(place[row]) }
	for c, with := range map[int]func(int) types.Datum{l.Aggs + number: value, l.Lo[number]: limit, l.Hi[number]: limit} {
		cols[c] = replaced(cols[c], beyond, with)
	}
	r.estimates[n].errors = replaced(old, beyond, func(int) types.Datum { return types.FloatDatum(0) })
}

// replaced returns a column with other values in some rows.
func replaced(v *types.Vector, where func(row int) bool, with func(row int) types.Datum) *types.Vector {
	out := types.NewVector(v.Type, v.Len())
	for row := range v.Len() {
		if where(row) {
			out.AppendDatum(with(row))
		} else {
			out.AppendFrom(v, row)
		}
	}
	return out
}
