package gather

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/distsql/physical"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
)

// fold runs a FoldScan: it returns the merged, finalised groups with the columns
// that the scan yields, and their coverage.
func (s *Statement) fold(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (*types.Batch, *envelope.Relation, error) {
	f := scan.Fold
	partitions, err := physical.Partitions(f.Stream, scan.Partition, ec)
	if err != nil {
		return nil, nil, err
	}
	needed := physical.NeededStates(f, scan.Needed)
	req := fragment.FoldRequest{
		Fold: f, Context: ec, WindowFrom: eventtime.Min, WindowTo: eventtime.Max,
		KeyFilter: scan.KeyFilter, NeededStates: needed, MaxGroups: s.maxGroups,
	}
	req.WindowFrom, req.WindowTo = physical.WindowBounds(scan, ec)
	if scan.View != nil {
		req.View = scan.View.ID
	}
	replies, err := ask(ctx, s, f.Stream, partitions, func(ctx context.Context, t fragment.Target) (*fragment.Partial, error) {
		return s.transport.Fold(ctx, t, req)
	})
	if err != nil {
		return nil, nil, err
	}
	m := newMerger(s, scan, needed, s.newGate(f.Stream, scanName(scan), partitions, births(scan, replies)))
	if scan.View != nil && scan.View.ContinuousView.MissedUntil != nil {
		m.gate.coverage.Trimmed = req.WindowFrom < *scan.View.ContinuousView.MissedUntil
	}
	identity := fold.Identity(f)
	for _, r := range replies {
		if r.err != nil {
			m.gate.miss(r.partition, missingReason(r.err))
			continue
		}
		if m.gate.admit(r.answer.Reach, r.answer.Identity, identity) {
			if err := m.merge(r.answer); err != nil {
				return nil, nil, err
			}
		}
	}
	batch, err := m.finish()
	return batch, m.gate.coverage, err
}

func scanName(scan *plan.FoldScan) string {
	if scan.View != nil {
		return scan.View.Name
	}
	return scan.Fold.Stream.Name
}

// births returns the first record that counts in each partition: of a view, as
// its descriptor says; of an ad-hoc fold, the base of the retained log.
func births(scan *plan.FoldScan, replies []reply[*fragment.Partial]) map[id.Partition]id.Offset {
	if scan.View != nil {
		return scan.View.ContinuousView.Birth
	}
	out := map[id.Partition]id.Offset{}
	for _, r := range replies {
		if r.err == nil {
			out[r.partition] = r.answer.Birth
		}
	}
	return out
}

// answer is what was merged, on its way to rows.
type answer struct {
	*merger
	window []eventtime.Time // start, by row
	errors []*types.Vector  // declared errors of the approximate columns
}

// finish finalises the groups and puts the envelope on.
func (m *merger) finish() (*types.Batch, error) {
	m.gate.sort()
	a := &answer{merger: m, window: m.windows()}
	for _, w := range slices.Compact(slices.Sorted(slices.Values(a.window))) {
		m.gate.coverage.Degraded += m.degraded[w]
	}
	layout := m.scan.Fold.Layout()
	cols, err := a.dataColumns(&layout)
	if err != nil {
		return nil, err
	}
	e := a.envelope()
	m.gate.coverage.Shorter = m.gate.shorter && !e.allFinal()
	out := &types.Batch{Rows: m.groups()}
	for _, c := range m.scan.Columns {
		v := cols[c]
		if c >= layout.Envelope {
			v = e.column(c - layout.Envelope)
		}
		if v == nil {
			v = nullColumn(layout.Schema.Columns[c].Type, out.Rows)
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

func nullColumn(t types.Type, n int) *types.Vector { return types.Repeat(types.NullOf(t), n) }

// dataColumns returns windows, keys, values, bounds and states by layout column.
func (a *answer) dataColumns(l *plan.OutputLayout) (map[int]*types.Vector, error) {
	f, n := a.scan.Fold, a.groups()
	cols := map[int]*types.Vector{}
	if l.WindowStart >= 0 {
		start := types.NewVector(l.Schema.Columns[l.WindowStart].Type, n)
		end := types.NewVector(l.Schema.Columns[l.WindowEnd].Type, n)
		for _, w := range a.window {
			start.AppendInt(int64(w))
			end.AppendInt(int64(w.Add(f.Window.Size)))
		}
		cols[l.WindowStart], cols[l.WindowEnd] = start, end
	}
	keys := make([]*types.Vector, len(f.Keys))
	for i, k := range f.Keys {
		keys[i] = types.NewVector(k.Type(), n)
		cols[l.Keys+i] = keys[i]
	}
	for _, p := range a.parts {
		for g := range p.Len() {
			rest := p.Keys.At(g)
			for _, v := range keys {
				var err error
				if rest, err = types.ReadKey(rest, v); err != nil {
					return nil, err
				}
			}
		}
	}
	for i := range f.Aggs {
		if a.scan.Needed == nil || a.scan.Needed[i] {
			if err := a.aggColumns(l, i, cols); err != nil {
				return nil, err
			}
		}
	}
	return cols, nil
}

// aggColumns finalises one aggregate.
func (a *answer) aggColumns(l *plan.OutputLayout, i int, cols map[int]*types.Vector) error {
	call, n := a.scan.Fold.Aggs[i], a.groups()
	typ := call.Final.Type()
	value := types.NewVector(typ, n)
	var bounds *agg.Bounds
	if call.Final.Approximate() {
		bounds = &agg.Bounds{
			Lo: types.NewVector(typ, n), Hi: types.NewVector(typ, n), Error: types.NewVector(types.Of(types.Float8), n),
		}
	}
	for _, p := range a.parts {
		if err := call.Final.Finalise(p.States[call.State], p.Len(), a.s.settings.Confidence, value, bounds); err != nil {
			return err
		}
	}
	cols[l.Aggs+i] = value
	if bounds == nil {
		return nil
	}
	cols[l.Lo[i]], cols[l.Hi[i]] = bounds.Lo, bounds.Hi
	a.errors = append(a.errors, bounds.Error)
	if !slices.Contains(a.scan.Columns, l.State[i]) {
		return nil // portable states are large, and read by combine() only
	}
	st := types.NewVector(types.Of(types.Sketch), n)
	var buf []byte
	for _, p := range a.parts {
		for g := range p.Len() {
			buf = p.States[call.State].Append(buf[:0], uint32(g))
			st.AppendBytes(buf)
		}
	}
	cols[l.State[i]] = st
	return nil
}

// envelope describes the envelope of the merged rows.
func (a *answer) envelope() *rowEnvelope {
	f := a.scan.Fold
	lateness := eventtime.Duration(0)
	if a.scan.View != nil {
		lateness = a.scan.View.ContinuousView.AllowedLateness
	}
	end := func(row int) eventtime.Time { return a.window[row].Add(f.Window.Size) }
	e := &rowEnvelope{
		gate: a.gate, rows: a.groups(), windowed: f.Window.Kind != plan.NoWindow,
		end: end, closes: func(row int) eventtime.Time { return end(row).Add(lateness) },
		degraded: func(row int) bool { return a.degraded[a.window[row]] > 0 },
		trimmed:  a.trimmed(),
		errors:   a.errors, kind: worstKind(f, a.scan.Needed), confidence: a.s.settings.Confidence,
	}
	if a.scan.View != nil {
		limit := a.scan.View.ContinuousView.MaxStaleness
		e.outdated = limit > 0 && a.gate.coverage.StalenessMillis > limit.Milliseconds()
	}
	return e
}

// trimmed says of a row whether events of its window may have been trimmed before
// the view was created; nil if none were.
func (a *answer) trimmed() func(row int) bool {
	if a.scan.View == nil || a.scan.View.ContinuousView.MissedUntil == nil {
		return nil
	}
	until := *a.scan.View.ContinuousView.MissedUntil
	return func(row int) bool { return a.window[row] < until }
}
