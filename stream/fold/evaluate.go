package fold

import (
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
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

// evaluate computes everything the fold needs of a batch. A panic of an
// expression is a defect of ours that a row has met: it is that row's failure.
func (p *Program) evaluate(in Input) (v *evaluated, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, &expr.RowError{Err: panicked(r)}
		}
	}()
	v = &p.values
	*v = evaluated{rows: in.Batch.Rows, hashes: in.Hashes, before: in.Before, keys: v.keys[:0], inputs: v.inputs[:0], filters: v.filters[:0]}
	batch := in.Batch
	if f := p.cfg.Fold.Filter; f != nil {
		sel, err := expr.FilterSel(p.cfg.Context, f, batch, nil)
		if err != nil {
			return nil, err
		}
		if len(sel) < batch.Rows {
			batch = v.keep(batch, sel)
		}
	}
	if err := p.compute(v, batch); err != nil {
		return nil, err
	}
	return v, nil
}

func panicked(with any) error {
	return sqlerr.New(sqlerr.InternalError, "internal error: %v", with)
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

// fail reports the only row of a batch, which failed.
func (p *Program) fail(in Input, sink Sink, err error) {
	if w := p.windowOf(in.Batch, 0); p.late(in.Before, 0, w) {
		sink.Late(0, w, in.Before[0]) // a closed window is not degraded either
	} else {
		sink.Failed(0, w, err)
	}
}

// part returns rows [from, to).
func (in Input) part(from, to int) Input {
	sel := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		sel = append(sel, int32(i))
	}
	out := Input{Batch: in.Batch.Gather(sel)}
	if len(in.Hashes) > 0 {
		out.Hashes = in.Hashes[from:to]
	}
	if len(in.Before) > 0 {
		out.Before = in.Before[from:to]
	}
	return out
}

// partSink gives the rows of a part the numbers that they have in the batch.
type partSink struct {
	Sink
	from int
}

// Late implements Sink.
func (s partSink) Late(row int, w eventtime.Window, before eventtime.Watermark) {
	s.Sink.Late(s.from+row, w, before)
}

// Failed implements Sink.
func (s partSink) Failed(row int, w eventtime.Window, err error) { s.Sink.Failed(s.from+row, w, err) }

// windowOf returns the window of a row whose expressions failed.
func (p *Program) windowOf(b *types.Batch, row int) eventtime.Window {
	if p.cfg.Fold.Window.Kind == plan.NoWindow {
		return eventtime.Global
	}
	return p.assigner.Window(eventtime.Time(b.Cols[p.cfg.Fold.Window.TimeColumn].Ints[row]))
}
