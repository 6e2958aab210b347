package fold

import (
	"errors"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// evaluated is a batch after its expressions were computed: rows that the filter
// refuses or that fail are gone.
type evaluated struct {
	rows    int
	times   *types.Vector
	keys    []*types.Vector
	inputs  [][]*types.Vector // by state
	filters []*types.Vector   // by state; nil admits all
	hashes  []uint64
	before  []eventtime.Watermark
	numbers []int32 // row numbers in the original batch; nil: the same
}

// original returns the row's number in the batch that Run was given.
func (v *evaluated) original(row int) int {
	if v.numbers == nil {
		return row
	}
	return int(v.numbers[row])
}

// evaluate computes everything the fold needs of a batch.
func (p *Program) evaluate(in Input, sink Sink) (*evaluated, error) {
	v := &p.values
	*v = evaluated{rows: in.Batch.Rows, hashes: in.Hashes, before: in.Before, keys: v.keys[:0], inputs: v.inputs[:0], filters: v.filters[:0]}
	batch := in.Batch
	if f := p.cfg.Fold.Filter; f != nil {
		sel, err := expr.FilterSel(p.cfg.Context, f, batch, nil)
		if err != nil {
			return p.evaluateSlowly(in, sink, err)
		}
		if len(sel) < batch.Rows {
			batch = v.keep(batch, sel)
		}
	}
	if err := p.compute(v, batch); err != nil {
		return p.evaluateSlowly(in, sink, err)
	}
	return v, nil
}

// keep narrows v to the rows of batch that sel names.
func (v *evaluated) keep(batch *types.Batch, sel []int32) *types.Batch {
	numbers := make([]int32, len(sel))
	hashes := make([]uint64, 0, len(sel))
	var before []eventtime.Watermark
	for n, i := range sel {
		numbers[n] = int32(v.original(int(i)))
		if len(v.hashes) > 0 {
			hashes = append(hashes, v.hashes[i])
		}
		if len(v.before) > 0 {
			before = append(before, v.before[i])
		}
	}
	v.numbers, v.hashes, v.before, v.rows = numbers, hashes, before, len(sel)
	return batch.Gather(sel)
}

// compute evaluates keys, inputs and filters over the batch.
func (p *Program) compute(v *evaluated, batch *types.Batch) error {
	fold := p.cfg.Fold
	if fold.Window.Kind != plan.NoWindow {
		v.times = batch.Cols[fold.Window.TimeColumn]
	}
	for _, k := range fold.Keys {
		c, err := k.Eval(p.cfg.Context, batch)
		if err != nil {
			return err
		}
		v.keys = append(v.keys, c)
	}
	for _, s := range fold.States {
		inputs := make([]*types.Vector, len(s.Inputs))
		for i, e := range s.Inputs {
			c, err := e.Eval(p.cfg.Context, batch)
			if err != nil {
				return err
			}
			inputs[i] = c
		}
		v.inputs = append(v.inputs, inputs)
		var filter *types.Vector
		if s.Filter != nil {
			var err error
			if filter, err = s.Filter.Eval(p.cfg.Context, batch); err != nil {
				return err
			}
		}
		v.filters = append(v.filters, filter)
	}
	return nil
}

// evaluateSlowly finds the rows that fail, one by one, reports them and computes
// the rest. It is the path of batches that hold a failing row.
func (p *Program) evaluateSlowly(in Input, sink Sink, first error) (*evaluated, error) {
	var failure *expr.RowError
	if !errors.As(first, &failure) {
		return nil, first
	}
	good := make([]int32, 0, in.Batch.Rows)
	for i := range in.Batch.Rows {
		ok, err := p.tryRow(in.Batch.Gather([]int32{int32(i)}))
		switch {
		case err != nil && errors.As(err, &failure):
			if w := p.windowOf(in.Batch, i); p.late(in.Before, i, w) {
				sink.Late(i, w, in.Before[i]) // a closed window is not degraded either
			} else {
				sink.Failed(i, w, failure.Err)
			}
		case err != nil:
			return nil, err
		case ok:
			good = append(good, int32(i))
		}
	}
	v := &p.values
	*v = evaluated{rows: in.Batch.Rows, hashes: in.Hashes, before: in.Before}
	if err := p.compute(v, v.keep(in.Batch, good)); err != nil {
		return nil, err
	}
	return v, nil
}

// windowOf returns the window of a row whose expressions failed.
func (p *Program) windowOf(b *types.Batch, row int) eventtime.Window {
	if p.cfg.Fold.Window.Kind == plan.NoWindow {
		return eventtime.Global
	}
	return p.assigner.Window(eventtime.Time(b.Cols[p.cfg.Fold.Window.TimeColumn].Ints[row]))
}

// tryRow reports whether the filter admits a batch of one row, and the error of
// the first expression that fails on it.
func (p *Program) tryRow(one *types.Batch) (bool, error) {
	if f := p.cfg.Fold.Filter; f != nil {
		sel, err := expr.FilterSel(p.cfg.Context, f, one, nil)
		if err != nil || len(sel) == 0 {
			return false, err
		}
	}
	return true, p.compute(&evaluated{}, one)
}
