package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
)

// foldSource says that the rows of a scope are the events of one stream, as they
// are: column i of the scope's node is values[i] over the stream's columns.
type foldSource struct {
	stream *catalog.Relation
	values []expr.Expr // nil: the scan's own columns
}

// over returns e as an expression over the stream's data columns; ok is false
// where it reads something else.
func (f *foldSource) over(e expr.Expr) (expr.Expr, bool) {
	if e == nil {
		return nil, true
	}
	// What is immutable is computed now, so that it is not computed for each event.
	e = expr.Fold(e, &expr.Context{})
	if f.values != nil {
		e = plan.Substitute(e, f.values)
	}
	if e.Volatility() == expr.Volatile || has(e, subqueryKind) {
		return nil, false
	}
	for c := range plan.Columns(e) {
		if c >= len(f.stream.Columns) {
			return nil, false
		}
	}
	return e, true
}

// foldOver plans the grouping as a fold, which partitions run; nil where it
// cannot be one.
func (b *binder) foldOver(s *scope, where expr.Expr, g *grouping) *grouped {
	src := s.fold
	if src == nil || g.sets != nil {
		return nil
	}
	fold := &plan.Fold{Stream: src.stream}
	var ok bool
	if fold.Filter, ok = src.over(where); !ok {
		return nil
	}
	places := make([]keyPlace, len(g.keys))
	for i, k := range g.keys {
		over, ok := src.over(k)
		if !ok {
			return nil
		}
		places[i] = placeKey(fold, over)
	}
	for i := range g.calls {
		if !b.addCall(fold, src, &g.calls[i]) {
			return nil
		}
	}
	scan := plan.NewFoldScan(fold, nil)
	layout := scan.Layout()
	schema := layout.Schema
	out := &grouped{
		node: scan, source: s, group: g, envelope: layout.Envelope, windows: map[string]expr.Expr{},
		call: func(i int) expr.Expr { return plan.NewColumn(schema, layout.Aggs+i) },
		bound: func(i, which int) expr.Expr {
			return plan.NewColumn(schema, [3]int{layout.Lo[i], layout.Hi[i], layout.State[i]}[which])
		},
	}
	out.key = func(i int) expr.Expr {
		switch places[i].window {
		case isStart:
			return plan.NewColumn(schema, layout.WindowStart)
		case isEnd:
			return plan.NewColumn(schema, layout.WindowEnd)
		}
		return plan.NewColumn(schema, layout.Keys+places[i].key)
	}
	if fold.Window.Kind != plan.NoWindow {
		out.nameWindows(s, fold.Window, plan.NewColumn(schema, layout.WindowStart), plan.NewColumn(schema, layout.WindowEnd))
	}
	return out
}

// nameWindows lets both ends of the window be read, whichever was grouped by.
func (g *grouped) nameWindows(s *scope, w plan.WindowSpec, start, end expr.Expr) {
	add := func(e expr.Expr) {
		over, ok := s.fold.over(e)
		if !ok {
			return
		}
		b, ok := over.(*plan.WindowBound)
		if !ok || b.Size != w.Size || b.Offset != w.Offset {
			return
		}
		if i, ok := plan.ColumnIndex(b.Time); !ok || i != w.TimeColumn {
			return
		}
		if b.End {
			g.windows[e.String()] = end
		} else {
			g.windows[e.String()] = start
		}
	}
	for i := range s.nodeSchema().Columns {
		add(s.at(i))
	}
	t := s.at(w.TimeColumn)
	for _, isEnd := range []bool{false, true} {
		add(&plan.WindowBound{Time: t, Size: w.Size, Offset: w.Offset, End: isEnd})
	}
}

type keyPlace struct {
	window windowEndKind
	key    int
}

type windowEndKind uint8

const (
	notWindow windowEndKind = iota
	isStart
	isEnd
)

// placeKey makes a key the fold's window, or one of its keys.
func placeKey(fold *plan.Fold, k expr.Expr) keyPlace {
	if w, ok := k.(*plan.WindowBound); ok {
		column, plain := plan.ColumnIndex(w.Time)
		spec := plan.WindowSpec{Kind: plan.Tumbling, TimeColumn: column, Size: w.Size, Offset: w.Offset}
		if plain && column == fold.Stream.Stream.TimeColumn && (fold.Window.Kind == plan.NoWindow || fold.Window == spec) {
			fold.Window = spec
			if w.End {
				return keyPlace{window: isEnd}
			}
			return keyPlace{window: isStart}
		}
	}
	for i, have := range fold.Keys {
		if expr.Equal(have, k) {
			return keyPlace{key: i}
		}
	}
	fold.Keys = append(fold.Keys, k)
	return keyPlace{key: len(fold.Keys) - 1}
}

// addCall adds an aggregate to the fold; false where it cannot be folded.
func (b *binder) addCall(fold *plan.Fold, src *foldSource, call *plan.AggCall) bool {
	fn := b.env.Registry.Lookup(call.Name)
	if call.Combine || len(call.OrderBy) > 0 || fn == nil || fn.MergeAlgebra == agg.OrderedMonoid {
		return false
	}
	// Of a view, the events without a partition key are CREATE's affair.
	if fn.MergeAlgebra == agg.NotMergeable && (!inOnePartition(fold) || fold.Scattered() >= 0 && !b.forView) {
		return false
	}
	st := plan.FoldState{Spec: call.Bound.State}
	var ok bool
	if st.Filter, ok = src.over(call.Filter); !ok {
		return false
	}
	for _, a := range call.Args {
		in, ok := src.over(a)
		if !ok {
			return false
		}
		st.Inputs = append(st.Inputs, in)
	}
	at := -1
	for i := range fold.States {
		if sameState(&fold.States[i], &st) {
			at = i
		}
	}
	if at < 0 {
		at = len(fold.States)
		fold.States = append(fold.States, st)
	}
	fold.Aggs = append(fold.Aggs, plan.FoldAgg{Name: call.Name, State: at, Final: call.Bound.Final, Shadow: call.Bound.Shadow})
	return true
}

// inOnePartition reports whether all rows of a group are in one partition: there is
// but one, or what rows are routed by is among the keys.
func inOnePartition(fold *plan.Fold) bool {
	s := fold.Stream.Stream
	if len(s.Epochs) != 1 {
		return false
	}
	if len(s.Partitions()) == 1 {
		return true
	}
	route := s.Options.PartitionKey
	if len(route) == 0 {
		route = s.Options.DedupKey
	}
	for _, c := range route {
		if !slices.ContainsFunc(fold.Keys, func(k expr.Expr) bool { i, ok := plan.ColumnIndex(k); return ok && i == c }) {
			return false
		}
	}
	return len(route) > 0
}

func sameState(a, b *plan.FoldState) bool {
	if a.Spec.Identity() != b.Spec.Identity() || len(a.Inputs) != len(b.Inputs) || (a.Filter == nil) != (b.Filter == nil) {
		return false
	}
	for i := range a.Inputs {
		if !expr.Equal(a.Inputs[i], b.Inputs[i]) {
			return false
		}
	}
	return a.Filter == nil || expr.Equal(a.Filter, b.Filter)
}
