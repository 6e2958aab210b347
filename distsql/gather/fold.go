package gather

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/catalog"
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
	"github.com/tallydb/tallydb/stream/partition"
)

// folded is the answer to a FoldScan: the merged, finalised groups with the columns
// that the scan yields, and their coverage.
type folded struct {
	batch    *types.Batch
	coverage *envelope.Relation
}

// folding is a FoldScan that is being answered.
type folding struct {
	scan       *plan.FoldScan
	ec         *expr.Context
	partitions []id.Partition // that it expects to hear from
	req        fragment.FoldRequest
	replies    []reply[*fragment.Partial]
}

func (s *Statement) newFolding(scan *plan.FoldScan, ec *expr.Context) (*folding, error) {
	partitions, err := physical.Partitions(scan.Fold.Stream, scan.Partition, ec)
	if err != nil {
		return nil, err
	}
	f := &folding{scan: scan, ec: ec, partitions: partitions, req: fragment.FoldRequest{
		Fold: scan.Fold, View: scan.View.ID, Context: ec, KeyFilter: scan.KeyFilter,
		NeededStates: physical.NeededStates(scan.Fold, scan.Needed),
	}}
	f.req.WindowFrom, f.req.WindowTo = physical.WindowBounds(scan, ec)
	l := scan.Layout()
	states := slices.ContainsFunc(l.State, func(c int) bool { return c >= 0 && slices.Contains(scan.Columns, c) })
	if scan.Fold.Partitioned() && !states {
		f.req.Finish = &partition.Finish{Needed: scan.Needed, Confidence: s.settings.Confidence}
	}
	return f, nil
}

// fold answers a FoldScan of a view.
func (s *Statement) fold(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (*folded, error) {
	f, err := s.newFolding(scan, ec)
	if err != nil {
		return nil, err
	}
	if err := s.askFolds(ctx, scan.Fold.Stream, f); err != nil {
		return nil, err
	}
	return s.finishFold(ctx, f)
}

// foldTogether answers the scans of a stream's views that are to be of one moment,
// which is the statement's cut from then on.
func (s *Statement) foldTogether(ctx context.Context, stream *catalog.Relation, ec *expr.Context) error {
	scans := s.together[stream.ID]
	delete(s.together, stream.ID)
	if len(scans) == 0 {
		return nil
	}
	folds := make([]*folding, len(scans))
	for i, scan := range scans {
		var err error
		if folds[i], err = s.newFolding(scan, ec); err != nil {
			return err
		}
	}
	if err := s.askFolds(ctx, stream, folds...); err != nil {
		return err
	}
	for i, scan := range scans {
		answer, err := s.finishFold(ctx, folds[i])
		if err != nil {
			return err
		}
		s.answers[scan] = answer
	}
	return nil
}

// askFolds asks each partition for its part in all folds of a stream that expect it.
func (s *Statement) askFolds(ctx context.Context, stream *catalog.Relation, folds ...*folding) error {
	asked := map[id.Partition][]*folding{}
	var partitions []id.Partition
	for _, f := range folds {
		for _, p := range f.partitions {
			if len(asked[p]) == 0 {
				partitions = append(partitions, p)
			}
			asked[p] = append(asked[p], f)
		}
	}
	replies, err := ask(ctx, s, stream, partitions, func(ctx context.Context, t fragment.Target) ([]*fragment.Partial, error) {
		var reqs []fragment.FoldRequest
		for _, f := range asked[t.Partition] {
			reqs = append(reqs, f.req)
		}
		return s.transport.Fold(ctx, t, reqs...)
	})
	if err != nil {
		return err
	}
	for _, r := range replies {
		for i, f := range asked[r.partition] {
			one := reply[*fragment.Partial]{partition: r.partition, err: r.err}
			if r.err == nil {
				one.answer = r.answer[i]
				s.reached(stream, r.partition, one.answer.Applied)
			}
			f.replies = append(f.replies, one)
		}
	}
	return nil
}

// finishFold merges the replies.
func (s *Statement) finishFold(ctx context.Context, f *folding) (*folded, error) {
	scan := f.scan
	m := newMerger(s, f, s.newGate(scan.Fold.Stream, scan.View.Name, f.partitions, scan.View.ContinuousView.Birth))
	if scan.View.ContinuousView.MissedUntil != nil {
		m.gate.coverage.Trimmed = f.req.WindowFrom < *scan.View.ContinuousView.MissedUntil
	}
	identity := fold.Identity(scan.Fold)
	for _, r := range f.replies {
		if r.err != nil {
			m.gate.miss(r.partition, missingReason(r.err))
			continue
		}
		if m.gate.admit(r.answer.Reach, r.answer.Identity, identity) {
			if err := m.merge(r.answer); err != nil {
				return nil, err
			}
		}
	}
	batch, err := m.finish(ctx)
	if err != nil {
		return nil, err
	}
	return &folded{batch, m.gate.coverage}, nil
}

// answer is what was merged, on its way to rows.
type answer struct {
	*merger
	window    []eventtime.Time // start, by row
	estimates []estimated
	exact     func(row int) bool // of rows that were counted again; nil if none were
}

// estimated is an approximate aggregate that was finalised, with the declared errors.
type estimated struct {
	agg    int // its number
	errors *types.Vector
}

// finish finalises the groups and puts the envelope on.
func (m *merger) finish(ctx context.Context) (*types.Batch, error) {
	m.gate.sort()
	m.settle()
	a := &answer{merger: m, window: m.windows()}
	var err error
	if m.gate.coverage.Degraded, err = m.degradedRows(); err != nil {
		return nil, err
	}
	layout := m.scan.Layout()
	cols, err := a.dataColumns(&layout)
	if err != nil {
		return nil, err
	}
	if err := a.keepAccuracy(ctx, &layout, cols); err != nil {
		return nil, err
	}
	e := a.envelope()
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

// settle says what a partition that did not reach the cut means for the result. If
// all windows that the scan reads have closed, what is not applied yet cannot change
// them: the result covers it. Otherwise a window that it may hold is missing from the
// result, so that no row of it is complete.
func (m *merger) settle() {
	c := m.gate.coverage
	if !m.windowsClosed() {
		c.Shorter = m.gate.shorter
		return
	}
	if !c.Partial() {
		c.Covered, c.StalenessMillis = c.Expected, 0
	}
}

// windowsClosed reports whether no window that the scan reads can change.
func (m *merger) windowsClosed() bool {
	f, to := m.scan.Fold, m.req.WindowTo
	return f.Window.Kind != plan.NoWindow && to != eventtime.Max && m.gate.watermark.Passed(to.Add(f.Window.Size).Add(m.lateness()))
}

// lateness is how long after its end a window takes events.
func (m *merger) lateness() eventtime.Duration {
	return m.scan.View.ContinuousView.AllowedLateness
}

// degradedRows counts the rows that failed in the windows that the scan reads,
// whether or not it admits groups of them: what failed has no key to admit it by,
// and may be all that there was.
func (m *merger) degradedRows() (int64, error) {
	if len(m.degraded) == 0 {
		return 0, nil
	}
	l := m.scan.Layout()
	var starts []eventtime.Time
	windows := &types.Batch{Cols: make([]*types.Vector, len(l.Schema.Columns))}
	if l.WindowStart >= 0 {
		windows.Cols[l.WindowStart] = types.NewVector(l.Schema.Columns[l.WindowStart].Type, len(m.degraded))
		windows.Cols[l.WindowEnd] = types.NewVector(l.Schema.Columns[l.WindowEnd].Type, len(m.degraded))
	}
	for start := range m.degraded {
		starts = append(starts, start)
		if l.WindowStart >= 0 {
			windows.Cols[l.WindowStart].AppendInt(int64(start))
			windows.Cols[l.WindowEnd].AppendInt(int64(start.Add(m.scan.Fold.Window.Size)))
		}
		windows.Rows++
	}
	filter, _ := m.scan.Fold.SplitKeyFilter(m.scan.KeyFilter)
	sel, err := selectRows(m.ec, filter, windows)
	n := int64(0)
	for _, i := range sel {
		n += m.degraded[starts[i]]
	}
	return n, err
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
	for _, encoded := range a.keys() {
		for g := range len(encoded.Offsets) - 1 {
			rest := encoded.At(g)
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
	for _, p := range a.finished {
		value.AppendAll(p.Values[i])
		if bounds != nil {
			bounds.Lo.AppendAll(p.Bounds[i].Lo)
			bounds.Hi.AppendAll(p.Bounds[i].Hi)
			bounds.Error.AppendAll(p.Bounds[i].Error)
		}
	}
	cols[l.Aggs+i] = value
	if bounds == nil {
		return nil
	}
	cols[l.Lo[i]], cols[l.Hi[i]] = bounds.Lo, bounds.Hi
	a.estimates = append(a.estimates, estimated{i, bounds.Error})
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
	f, lateness := a.scan.Fold, a.lateness()
	end := func(row int) eventtime.Time { return a.window[row].Add(f.Window.Size) }
	e := &rowEnvelope{
		gate: a.gate, rows: a.groups(), windowed: f.Window.Kind != plan.NoWindow,
		end: end, closes: func(row int) eventtime.Time { return end(row).Add(lateness) },
		degraded: func(row int) bool { return a.degraded[a.window[row]] > 0 },
		trimmed:  a.trimmed(),
		exact:    a.exact, kind: worstKind(f, a.scan.Needed), confidence: a.s.settings.Confidence,
	}
	for _, x := range a.estimates {
		e.errors = append(e.errors, x.errors)
	}
	limit := a.scan.View.ContinuousView.MaxStaleness
	e.outdated = limit > 0 && a.gate.coverage.StalenessMillis > limit.Milliseconds()
	return e
}

// trimmed says of a row whether events of its window may have been trimmed before
// the view was created; nil if none were.
func (a *answer) trimmed() func(row int) bool {
	if a.scan.View.ContinuousView.MissedUntil == nil {
		return nil
	}
	until := *a.scan.View.ContinuousView.MissedUntil
	return func(row int) bool { return a.window[row] < until }
}
