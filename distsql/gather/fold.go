package gather

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/distsql/physical"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
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
	m := &merger{s: s, scan: scan, needed: needed, gate: s.newGate(f.Stream, scanName(scan), partitions, births(scan, replies))}
	if scan.View != nil && scan.View.ContinuousView.MissedUntil != nil {
		m.gate.coverage.Trimmed = req.WindowFrom < *scan.View.ContinuousView.MissedUntil
	}
	m.begin()
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

// merger merges partials into one table of groups.
type merger struct {
	s      *Statement
	scan   *plan.FoldScan
	needed []bool
	gate   *gate
	table  *state.Arena
	index  map[int]int // state number → position in table.States
	window []eventtime.Time
	// degraded counts the rows that failed, by window start.
	degraded map[eventtime.Time]int64
	errors   []*types.Vector
	key      []byte
}

func (m *merger) begin() {
	f := m.scan.Fold
	var specs []agg.StateSpec
	m.index = map[int]int{}
	for i, st := range f.States {
		if m.needed[i] {
			m.index[i] = len(specs)
			specs = append(specs, st.Spec)
		}
	}
	m.table = state.NewArena(eventtime.Global, specs, agg.Config{Seed: f.Stream.Stream.Seed.Derive("aggregate")})
	m.degraded = map[eventtime.Time]int64{}
	if f.Window.Kind == plan.NoWindow && len(f.Keys) == 0 {
		m.group(eventtime.Min, 0, nil) // a total exists before the first event
		m.table.Grow()
	}
}

// group returns the number of the group of a window and key.
func (m *merger) group(w eventtime.Time, hash uint64, key []byte) uint32 {
	m.key = binary.BigEndian.AppendUint64(m.key[:0], uint64(w))
	m.key = append(m.key, key...)
	if len(key) == 0 {
		hash = 0
	}
	g, added := m.table.Find(keyhash.Finalise(hash^uint64(w), keyhash.UseGroup), m.key)
	if added {
		m.window = append(m.window, w)
	}
	return g
}

func (m *merger) merge(p *fragment.Partial) error {
	for start, n := range p.Degraded {
		m.degraded[start] += n
	}
	groups := make([]uint32, p.Groups.Len())
	for i := range groups {
		groups[i] = m.group(p.Groups.Windows[i], p.Groups.Hashes[i], p.Groups.Keys.At(i))
	}
	m.table.Grow()
	for st, pos := range m.index {
		column := &p.Groups.States[st]
		for i, g := range groups {
			if err := m.table.States[pos].Merge(g, column.At(i)); err != nil {
				return fmt.Errorf("merge partition %d: %w", p.Partition, err)
			}
		}
	}
	return nil
}

// finish finalises the groups and puts the envelope on.
func (m *merger) finish() (*types.Batch, error) {
	m.gate.sort()
	for _, w := range slices.Compact(slices.Sorted(slices.Values(m.window))) {
		m.gate.coverage.Degraded += m.degraded[w]
	}
	layout := m.scan.Fold.Layout()
	cols, err := m.dataColumns(&layout)
	if err != nil {
		return nil, err
	}
	e := m.envelope()
	m.gate.coverage.Shorter = m.gate.shorter && !e.allFinal()
	out := &types.Batch{Rows: m.table.Groups()}
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
func (m *merger) dataColumns(l *plan.OutputLayout) (map[int]*types.Vector, error) {
	f, n := m.scan.Fold, m.table.Groups()
	cols := map[int]*types.Vector{}
	if l.WindowStart >= 0 {
		start := types.NewVector(l.Schema.Columns[l.WindowStart].Type, n)
		end := types.NewVector(l.Schema.Columns[l.WindowEnd].Type, n)
		for _, w := range m.window {
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
	for g := range n {
		rest := m.table.Key(g)[8:]
		for _, v := range keys {
			var err error
			if rest, err = types.ReadKey(rest, v); err != nil {
				return nil, err
			}
		}
	}
	for i := range f.Aggs {
		if m.scan.Needed == nil || m.scan.Needed[i] {
			if err := m.aggColumns(l, i, cols); err != nil {
				return nil, err
			}
		}
	}
	return cols, nil
}

// aggColumns finalises one aggregate.
func (m *merger) aggColumns(l *plan.OutputLayout, i int, cols map[int]*types.Vector) error {
	a, n := m.scan.Fold.Aggs[i], m.table.Groups()
	states := m.table.States[m.index[a.State]]
	value := types.NewVector(a.Final.Type(), n)
	var bounds *agg.Bounds
	if a.Final.Approximate() {
		bounds = &agg.Bounds{
			Lo: types.NewVector(a.Final.Type(), n), Hi: types.NewVector(a.Final.Type(), n), Error: types.NewVector(types.Of(types.Float8), n),
		}
	}
	if err := a.Final.Finalise(states, n, m.s.settings.Confidence, value, bounds); err != nil {
		return err
	}
	cols[l.Aggs+i] = value
	if bounds == nil {
		return nil
	}
	cols[l.Lo[i]], cols[l.Hi[i]] = bounds.Lo, bounds.Hi
	m.errors = append(m.errors, bounds.Error)
	if !slices.Contains(m.scan.Columns, l.State[i]) {
		return nil // portable states are large, and read by combine() only
	}
	st := types.NewVector(types.Of(types.Sketch), n)
	var buf []byte
	for g := range n {
		buf = states.Append(buf[:0], uint32(g))
		st.AppendBytes(buf)
	}
	cols[l.State[i]] = st
	return nil
}

// envelope describes the envelope of the merged rows.
func (m *merger) envelope() *rowEnvelope {
	f := m.scan.Fold
	lateness := eventtime.Duration(0)
	if m.scan.View != nil {
		lateness = m.scan.View.ContinuousView.AllowedLateness
	}
	end := func(row int) eventtime.Time { return m.window[row].Add(f.Window.Size) }
	e := &rowEnvelope{
		gate: m.gate, rows: m.table.Groups(), windowed: f.Window.Kind != plan.NoWindow,
		end: end, closes: func(row int) eventtime.Time { return end(row).Add(lateness) },
		degraded: func(row int) bool { return m.degraded[m.window[row]] > 0 },
		trimmed:  m.trimmed(),
		errors:   m.errors, kind: worstKind(f, m.scan.Needed), confidence: m.s.settings.Confidence,
	}
	if m.scan.View != nil {
		limit := m.scan.View.ContinuousView.MaxStaleness
		e.outdated = limit > 0 && m.gate.coverage.StalenessMillis > limit.Milliseconds()
	}
	return e
}

// trimmed says of a row whether events of its window may have been trimmed before
// the view was created; nil if none were.
func (m *merger) trimmed() func(row int) bool {
	if m.scan.View == nil || m.scan.View.ContinuousView.MissedUntil == nil {
		return nil
	}
	until := *m.scan.View.ContinuousView.MissedUntil
	return func(row int) bool { return m.window[row] < until }
}
