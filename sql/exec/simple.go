package exec

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// filterOp keeps rows.
type filterOp struct {
	Source
	run  *run
	cond *expr.Filter
	sel  []int32
	// width is how many columns are kept, if not 0; others are only for the condition.
	width int
}

// Next implements Source.
func (f *filterOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := f.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if f.sel, err = f.run.filter(ctx, f.cond, b, f.sel); err != nil {
			return nil, err
		}
		if f.width > 0 {
			b = &types.Batch{Cols: b.Cols[:f.width], Rows: b.Rows}
		}
		switch len(f.sel) {
		case 0:
		case b.Rows:
			return b, nil
		default:
			return b.Gather(f.sel), nil
		}
	}
}

// projectOp computes columns.
type projectOp struct {
	Source
	run    *run
	values []expr.Expr
	rest   []*types.Batch // parts of a batch whose values are too large together
}

// Next implements Source.
func (p *projectOp) Next(ctx context.Context) (*types.Batch, error) {
	var b *types.Batch
	if n := len(p.rest); n > 0 {
		b, p.rest = p.rest[n-1], p.rest[:n-1]
	} else {
		var err error
		if b, err = p.Source.Next(ctx); err != nil || b == nil {
			return nil, err
		}
	}
	for {
		if err := cancelled(ctx); err != nil {
			return nil, err
		}
		cols, err := p.run.evalAll(p.values, b)
		if b.Rows < 2 || !expr.TooLarge(err) {
			if err != nil {
				return nil, cause(err)
			}
			return &types.Batch{Cols: cols, Rows: b.Rows}, nil
		}
		half := b.Rows / 2
		p.rest = append(p.rest, slice(b, half, b.Rows))
		b = slice(b, 0, half)
	}
}

// distinctOnOp keeps the first row for each key. Of rows that are sorted by the keys it
// remembers the last, else all keys.
type distinctOnOp struct {
	Source
	run    *run
	keys   []expr.Expr
	seen   *groupIndex
	row    []uint32
	sorted bool
	last   []*types.Vector // the keys of the row before, if sorted
}

func (r *run) newDistinctOn(x *plan.DistinctOn, child Source) *distinctOnOp {
	d := &distinctOnOp{Source: child, run: r, keys: x.Keys, seen: newGroupIndex()}
	s, ok := x.Child.(*plan.Sort)
	if !ok || len(s.Keys) < len(x.Keys) {
		return d
	}
	text := func(e expr.Expr) string { // the same value may be in two columns
		if p, ok := s.Child.(*plan.Project); ok {
			if i, ok := plan.ColumnIndex(e); ok && p.Values[i].Volatility() != expr.Volatile {
				e = p.Values[i]
			}
		}
		return e.String()
	}
	first := map[string]bool{}
	for _, k := range s.Keys[:len(x.Keys)] {
		first[text(k.Value)] = true
	}
	d.sorted = true
	for _, k := range x.Keys {
		d.sorted = d.sorted && first[text(k)]
	}
	return d
}

// Next implements Source.
func (d *distinctOnOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := d.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		keys, err := d.run.eval(d.keys, b)
		if err != nil {
			return nil, err
		}
		var sel []int32
		if d.sorted {
			sel = d.changes(keys, b.Rows)
		} else {
			held := d.seen.memory()
			d.row, sel = d.seen.assign(keys, b.Rows, d.row[:0], nil)
			if err := d.run.state.memory.grow(d.seen.memory() - held); err != nil {
				return nil, err
			}
		}
		if len(sel) > 0 {
			return b.Gather(sel), nil
		}
	}
}

// changes returns the rows whose keys are not those of the row before.
func (d *distinctOnOp) changes(keys []*types.Vector, rows int) (sel []int32) {
	differ := func(before []*types.Vector, i, j int) bool {
		for k, c := range keys {
			if compareKeys(before[k], i, c, j, plan.SortKey{}) != 0 {
				return true
			}
		}
		return false
	}
	if d.last == nil || differ(d.last, 0, 0) {
		sel = append(sel, 0)
	}
	for i := 1; i < rows; i++ {
		if differ(keys, i-1, i) {
			sel = append(sel, int32(i))
		}
	}
	d.last = d.last[:0]
	for _, c := range keys {
		d.last = append(d.last, c.Gather([]int32{int32(rows - 1)}))
	}
	return sel
}

// repeatOp yields rows several times.
type repeatOp struct {
	Source
	run   *run
	times expr.Expr
}

// Next implements Source.
func (r *repeatOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := r.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		times, err := r.run.eval([]expr.Expr{r.times}, b)
		if err != nil {
			return nil, err
		}
		var sel []int32
		for i := range b.Rows {
			for k := int64(0); k < times[0].Ints[i]; k++ {
				sel = append(sel, int32(i))
			}
		}
		if len(sel) > 0 {
			return b.Gather(sel), nil
		}
	}
}

// appendOp yields its inputs one after the other, each opened when its turn comes.
type appendOp struct {
	run    *run
	inputs []plan.Node
	open   Source
}

// Next implements Source.
func (a *appendOp) Next(ctx context.Context) (*types.Batch, error) {
	for {
		if a.open == nil {
			if len(a.inputs) == 0 {
				return nil, nil
			}
			var err error
			if a.open, err = a.run.open(ctx, a.inputs[0]); err != nil {
				return nil, err
			}
			a.inputs = a.inputs[1:]
		}
		b, err := a.open.Next(ctx)
		if err != nil || b != nil {
			return b, err
		}
		if err := a.Close(); err != nil {
			return nil, err
		}
	}
}

// Close implements Source.
func (a *appendOp) Close() error {
	if a.open == nil {
		return nil
	}
	s := a.open
	a.open = nil
	return s.Close()
}

// limitOp skips and stops. With ties, it goes on while rows compare equal.
type limitOp struct {
	Source
	run         *run
	skip, count int64 // count < 0 is no limit
	ties        []plan.SortKey
	last        string
	tying       bool
}

func (r *run) newLimit(l *plan.Limit, child Source) (Source, error) {
	count, skip, err := r.limits(l)
	if err != nil {
		return nil, closing(child, err)
	}
	return &limitOp{Source: child, run: r, skip: skip, count: count, ties: l.Ties}, nil
}

// limits evaluates LIMIT and OFFSET; a count of -1 is none.
func (r *run) limits(l *plan.Limit) (count, skip int64, err error) {
	count = -1
	if l.Count != nil {
		d, err := r.constant(l.Count)
		if err != nil {
			return 0, 0, err
		}
		if !d.Null {
			if count = d.Int; count < 0 {
				return 0, 0, sqlerr.New(sqlerr.Code("2201W"), "LIMIT must not be negative")
			}
		}
	}
	if l.Offset != nil {
		d, err := r.constant(l.Offset)
		if err != nil {
			return 0, 0, err
		}
		if !d.Null {
			if skip = d.Int; skip < 0 {
				return 0, 0, sqlerr.New(sqlerr.Code("2201X"), "OFFSET must not be negative")
			}
		}
	}
	return count, skip, nil
}

// Next implements Source.
func (l *limitOp) Next(ctx context.Context) (*types.Batch, error) {
	for l.count != 0 || l.tying {
		b, err := l.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if l.skip >= int64(b.Rows) {
			l.skip -= int64(b.Rows)
			continue
		}
		from, to := int(l.skip), b.Rows
		l.skip = 0
		if l.count >= 0 && int64(to-from) > l.count {
			to = from + int(l.count)
		}
		if l.count > 0 {
			l.count -= int64(to - from)
		}
		if len(l.ties) > 0 && l.count == 0 {
			if to, err = l.extend(b, from, to); err != nil {
				return nil, err
			}
		}
		if to > from {
			return slice(b, from, to), nil
		}
	}
	return nil, nil
}

// extend moves the end of the batch past the rows that tie with the last one.
func (l *limitOp) extend(b *types.Batch, from, to int) (int, error) {
	keys, err := l.run.eval(sortValues(l.ties), b)
	if err != nil {
		return 0, err
	}
	if to > from {
		l.last = string(appendKeys(nil, keys, to-1))
	}
	for to < b.Rows && string(appendKeys(nil, keys, to)) == l.last {
		to++
	}
	l.tying = to == b.Rows
	return to, nil
}

func (r *run) openTable(ctx context.Context, x *plan.TableScan) (Source, error) {
	if r.env.Tables == nil {
		return nil, sqlerr.New(sqlerr.CannotConnectNow, "tables cannot be read here")
	}
	if x.Filter == nil {
		return r.env.Tables.Scan(ctx, x.Table, x.Columns)
	}
	keys, err := r.keys(x)
	if err != nil {
		return nil, err
	}
	columns := append([]int(nil), x.Columns...)
	place := map[int]int{}
	for i, c := range columns {
		place[c] = i
	}
	for c := range plan.Columns(x.Filter) {
		if _, ok := place[c]; !ok {
			place[c] = len(columns)
			columns = append(columns, c)
		}
	}
	var src Source
	if keys != nil {
		src, err = r.env.Tables.Seek(ctx, x.Table, &x.Key.Index, keys, columns)
	} else {
		src, err = r.env.Tables.Scan(ctx, x.Table, columns)
	}
	if err != nil {
		return nil, err
	}
	cond := expr.NewFilter(plan.Remap(x.Filter, func(c int) int { return place[c] }))
	if len(x.Columns) == 0 {
		return &narrowOp{&filterOp{Source: src, run: r, cond: cond}}, nil
	}
	return &filterOp{Source: src, run: r, cond: cond, width: len(x.Columns)}, nil
}

// narrowOp drops all columns.
type narrowOp struct{ Source }

// Next implements Source.
func (n *narrowOp) Next(ctx context.Context) (*types.Batch, error) {
	b, err := n.Source.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	return &types.Batch{Rows: b.Rows}, nil
}

func (r *run) openValues(v *plan.Values) (Source, error) {
	one := &types.Batch{Rows: 1}
	rows := newRowSet(v.Schema())
	for _, row := range v.Rows {
		for i, e := range row {
			if c, ok := e.(*expr.Const); ok {
				rows.Cols[i].AppendDatum(c.Datum)
				continue
			}
			value, err := e.Eval(r.ec, one)
			if err != nil {
				return nil, cause(err)
			}
			rows.Cols[i].AppendFrom(value, 0)
		}
		rows.Rows++
	}
	if err := rows.charge(&r.state.memory); err != nil {
		return nil, err
	}
	return &cursorSource{cursor{rows: &rows.Batch, all: true}}, nil
}
