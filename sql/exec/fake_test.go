package exec_test

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// database keeps tables and streams in memory and folds streams over any number
// of partitions, merging portable states, as a cluster would.
type database struct {
	bind       *bind.Env
	data       map[id.Relation]*types.Batch
	partitions int
	partial    bool // rows of streams say that a partition is missing
}

func newDatabase() *database {
	return &database{bind: bindtest.Env(), data: map[id.Relation]*types.Batch{}, partitions: 1}
}

func (db *database) env() *exec.Env {
	return &exec.Env{Expr: db.bind.Expr, Leaves: db, Tables: tables{db: db}, Streams: db}
}

func (db *database) batch(r *catalog.Relation) *types.Batch {
	if db.data[r.ID] == nil {
		db.data[r.ID] = types.NewBatch(r.RowSchema(), 0)
	}
	return db.data[r.ID]
}

// Append implements exec.Streams.
func (db *database) Append(_ context.Context, stream *catalog.Relation, rows *types.Batch) (int64, error) {
	add(db.batch(stream), rows)
	return int64(rows.Rows), nil
}

func add(to, rows *types.Batch) {
	for i, c := range rows.Cols {
		to.Cols[i].AppendAll(c)
	}
	to.Rows += rows.Rows
}

// Seek implements exec.Tables: the filter of a scan leaves no other row.
func (t tables) Seek(ctx context.Context, table *catalog.Relation, _ *catalog.Index, _ *types.Batch, columns []int) (exec.Source, error) {
	return t.Scan(ctx, table, columns)
}

type tables struct {
	exec.References // none

	db *database
}

func (t tables) Scan(_ context.Context, table *catalog.Relation, columns []int) (exec.Source, error) {
	all := t.db.batch(table)
	out := &types.Batch{Rows: all.Rows}
	for _, c := range columns {
		if c != plan.RowID {
			out.Cols = append(out.Cols, all.Cols[c])
			continue
		}
		ids := types.NewVector(types.Of(types.Int8), all.Rows)
		for i := range all.Rows {
			ids.AppendInt(int64(i))
		}
		out.Cols = append(out.Cols, ids)
	}
	return source(out), nil
}

func (t tables) Insert(_ context.Context, table *catalog.Relation, rows *types.Batch) (int64, error) {
	first := int64(t.db.batch(table).Rows)
	add(t.db.batch(table), rows)
	return first, nil
}

func (t tables) Update(_ context.Context, table *catalog.Relation, ids *types.Vector, rows *types.Batch) error {
	t.replace(table, ids, rows)
	return nil
}

func (t tables) Delete(_ context.Context, table *catalog.Relation, ids *types.Vector) error {
	t.replace(table, ids, nil)
	return nil
}

func (t tables) Find(_ context.Context, table *catalog.Relation, _ []catalog.Index, rows *types.Batch) (*types.Vector, *types.Batch, error) {
	all := t.db.batch(table)
	ids, found := types.NewVector(types.Of(types.Int8), rows.Rows), types.NewBatch(table.RowSchema(), rows.Rows)
	found.Rows = rows.Rows
	key := func(b *types.Batch, i int) (k []byte) {
		for _, c := range table.Table.PrimaryKey {
			k = types.AppendKey(k, b.Cols[c], i)
		}
		return k
	}
	for i := range rows.Rows {
		at := -1
		for k := range all.Rows {
			if string(key(all, k)) == string(key(rows, i)) {
				at = k
			}
		}
		for c, v := range found.Cols {
			if at < 0 {
				v.AppendNull()
			} else {
				v.AppendFrom(all.Cols[c], at)
			}
		}
		if at < 0 {
			ids.AppendNull()
		} else {
			ids.AppendInt(int64(at))
		}
	}
	return ids, found, nil
}

func (t tables) IndexKeys(_ *catalog.Relation, x *catalog.Index, rows *types.Batch) ([][]byte, error) {
	out := make([][]byte, rows.Rows)
	for i := range out {
		for _, c := range x.Columns {
			out[i] = types.AppendKey(out[i], rows.Cols[c], i)
		}
	}
	return out, nil
}

func (t tables) replace(table *catalog.Relation, ids *types.Vector, rows *types.Batch) {
	gone := map[int64]bool{}
	for _, i := range ids.Ints {
		gone[i] = true
	}
	old := t.db.batch(table)
	var sel []int32
	for i := range old.Rows {
		if !gone[int64(i)] {
			sel = append(sel, int32(i))
		}
	}
	fresh := old.Gather(sel)
	if rows != nil {
		add(fresh, rows)
	}
	t.db.data[table.ID] = fresh
}

type memSource struct{ b *types.Batch }

func source(b *types.Batch) exec.Source { return &memSource{b} }

func (s *memSource) Next(context.Context) (*types.Batch, error) {
	b := s.b
	s.b = nil
	if b == nil || b.Rows == 0 {
		return nil, nil
	}
	return b, nil
}

func (s *memSource) Close() error { return nil }

// OpenSide implements exec.Leaves: nothing was ever set aside.
func (db *database) OpenSide(_ context.Context, scan *plan.SideScan, _ *expr.Context) (exec.Source, error) {
	return source(types.NewBatch(scan.Schema(), 0)), nil
}

// OpenStream implements exec.Leaves.
func (db *database) OpenStream(_ context.Context, scan *plan.StreamScan, ec *expr.Context) (exec.Stream, error) {
	rows, err := filter(ec, scan.Filter, db.batch(scan.Stream))
	if err != nil {
		return nil, err
	}
	full := &types.Batch{Rows: rows.Rows, Cols: append(append([]*types.Vector(nil), rows.Cols...), db.envelope(rows.Rows)...)}
	return &memStream{source(choose(full, scan.Columns)), db}, nil
}

type memStream struct {
	exec.Source
	db *database
}

// Envelope implements exec.Stream.
func (s *memStream) Envelope(of *exec.Groups, columns []int) []*types.Vector {
	all := s.db.envelope(of.Rows)
	for _, e := range of.Errors {
		for i, x := range e.Floats {
			all[plan.EnvError].Floats[i] = max(all[plan.EnvError].Floats[i], x)
		}
	}
	return choose(&types.Batch{Cols: all}, columns).Cols
}

func filter(ec *expr.Context, cond expr.Expr, b *types.Batch) (*types.Batch, error) {
	if cond == nil {
		return b, nil
	}
	sel, err := expr.FilterSel(ec, cond, b, nil)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return b.Gather(sel), nil
}

func choose(b *types.Batch, columns []int) *types.Batch {
	out := &types.Batch{Rows: b.Rows}
	for _, c := range columns {
		out.Cols = append(out.Cols, b.Cols[c])
	}
	return out
}

func (db *database) envelope(n int) []*types.Vector {
	var out []*types.Vector
	for _, e := range plan.CompleteEnvelope() {
		d, err := expr.EvalConst(&expr.Context{}, e)
		if err != nil {
			panic(err)
		}
		out = append(out, types.Repeat(d, n))
	}
	if db.partial {
		out[plan.EnvStatus] = types.Repeat(types.TextDatum(plan.StatusPartial), n)
		out[plan.EnvCoverage] = types.Repeat(types.FloatDatum(0.5), n)
	}
	return out
}

// groups are the states of one partition, or of all.
type groups struct {
	fold   *plan.Fold
	number map[string]uint32
	keys   *types.Batch // window bounds and keys
	states []agg.States
}

func newGroups(f *plan.Fold) *groups {
	g := &groups{fold: f, number: map[string]uint32{}}
	l := f.Layout()
	g.keys = types.NewBatch(&types.Schema{Columns: l.Schema.Columns[:l.Aggs]}, 0)
	for _, s := range f.States {
		g.states = append(g.states, s.Spec.New(agg.Config{}))
	}
	if l.Aggs == 0 {
		g.find(nil, 0)
	}
	return g
}

func (g *groups) find(cols []*types.Vector, row int) uint32 {
	var key []byte
	for _, c := range cols {
		key = types.AppendKey(key, c, row)
	}
	n, ok := g.number[string(key)]
	if !ok {
		n = uint32(len(g.number))
		g.number[string(key)] = n
		for i, c := range cols {
			g.keys.Cols[i].AppendFrom(c, row)
		}
		g.keys.Rows++
		for _, s := range g.states {
			s.Grow(int(n) + 1)
		}
	}
	return n
}

func (g *groups) fold1(ec *expr.Context, b *types.Batch) error {
	b, err := filter(ec, g.fold.Filter, b)
	if err != nil {
		return err
	}
	var cols []*types.Vector
	if w := g.fold.Window; w.Kind != plan.NoWindow {
		t := b.Cols[w.TimeColumn]
		start, end := types.NewVector(t.Type, 0), types.NewVector(t.Type, 0)
		for _, x := range t.Ints {
			win := eventtime.Tumble(eventtime.Time(x), w.Size, w.Offset)
			start.AppendInt(int64(win.Start))
			end.AppendInt(int64(win.End))
		}
		cols = append(cols, start, end)
	}
	for _, k := range g.fold.Keys {
		v, err := k.Eval(ec, b)
		if err != nil {
			return err
		}
		cols = append(cols, v)
	}
	numbers := make([]uint32, b.Rows)
	for i := range numbers {
		numbers[i] = g.find(cols, i)
	}
	for i, s := range g.fold.States {
		if err := g.feed(ec, s, g.states[i], b, numbers); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) feed(ec *expr.Context, s plan.FoldState, states agg.States, b *types.Batch, numbers []uint32) error {
	var rows []int32
	for i := range b.Rows {
		rows = append(rows, int32(i))
	}
	picked := numbers
	if s.Filter != nil {
		var err error
		if rows, err = expr.FilterSel(ec, s.Filter, b, nil); err != nil {
			return err
		}
		picked = nil
		for _, r := range rows {
			picked = append(picked, numbers[r])
		}
	}
	var inputs []*types.Vector
	for _, e := range s.Inputs {
		v, err := e.Eval(ec, b)
		if err != nil {
			return err
		}
		inputs = append(inputs, v)
	}
	return states.Update(picked, rows, inputs)
}

// merge takes over the groups of another partition, through their portable form.
func (g *groups) merge(o *groups) error {
	for row := range o.keys.Rows {
		to := g.find(o.keys.Cols, row)
		for i, s := range o.states {
			if err := g.states[i].Merge(to, s.Append(nil, uint32(row))); err != nil {
				return err
			}
		}
	}
	return nil
}

// OpenFold implements exec.Leaves.
func (db *database) OpenFold(_ context.Context, scan *plan.FoldScan, ec *expr.Context) (exec.Source, error) {
	all := db.batch(scan.Fold.Stream)
	total := newGroups(scan.Fold)
	for p := range db.partitions {
		var sel []int32
		for i := p; i < all.Rows; i += db.partitions {
			sel = append(sel, int32(i))
		}
		part := newGroups(scan.Fold)
		if err := part.fold1(ec, all.Gather(sel)); err != nil {
			return nil, err
		}
		if err := total.merge(part); err != nil {
			return nil, err
		}
	}
	out, err := total.finish(scan, db.envelope(total.keys.Rows))
	if err != nil {
		return nil, err
	}
	if out, err = filter(ec, scan.KeyFilter, out); err != nil {
		return nil, err
	}
	return source(choose(out, scan.Columns)), nil
}

func (g *groups) finish(scan *plan.FoldScan, env []*types.Vector) (*types.Batch, error) {
	n := g.keys.Rows
	out := &types.Batch{Rows: n, Cols: append([]*types.Vector(nil), g.keys.Cols...)}
	worst := make([]float64, n)
	var hidden []*types.Vector
	for at, a := range g.fold.Aggs {
		v := types.NewVector(a.Final.Type(), n)
		out.Cols = append(out.Cols, v)
		if !a.Final.Approximate() {
			if err := a.Final.Finalise(g.states[a.State], n, 0.95, v, nil); err != nil {
				return nil, err
			}
			continue
		}
		b := &agg.Bounds{Lo: types.NewVector(v.Type, n), Hi: types.NewVector(v.Type, n), Error: types.NewVector(types.Of(types.Float8), n)}
		if err := a.Final.Finalise(g.states[a.State], n, 0.95, v, b); err != nil {
			return nil, err
		}
		s := types.NewVector(types.Of(types.Sketch), n)
		for i := range n {
			s.AppendBytes(g.states[a.State].Append(nil, uint32(i)))
			if scan.Needed[at] {
				worst[i] = max(worst[i], b.Error.Floats[i])
			}
		}
		hidden = append(hidden, b.Lo, b.Hi, s)
	}
	copy(env[plan.EnvError].Floats, worst)
	out.Cols = append(append(out.Cols, hidden...), env...)
	return out, nil
}
