package exec

import (
	"context"
	"math"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// functionOp yields the rows of a set-returning function.
type functionOp struct {
	run  *run
	node *plan.FunctionScan
	step expr.RowStep
	rows int64
}

// openZip runs several functions and puts their rows side by side.
func (r *run) openZip(ctx context.Context, x *plan.FunctionScan) (Source, error) {
	out := newRowSet(x.Schema())
	var parts []*rowSet
	for _, z := range x.Zip {
		rows, err := r.collect(ctx, z)
		if err != nil {
			return nil, err
		}
		parts = append(parts, rows)
		out.Rows = max(out.Rows, rows.Rows)
	}
	at := 0
	for _, p := range parts {
		for _, c := range p.Cols {
			out.Cols[at].AppendAll(c)
			for range out.Rows - p.Rows {
				out.Cols[at].AppendNull()
			}
			at++
		}
		p.release(&r.state.memory)
	}
	if x.Ordinality {
		for i := range out.Rows {
			out.Cols[at].AppendInt(int64(i + 1))
		}
	}
	return &cursorSource{cursor{rows: &out.Batch, all: true}}, out.charge(&r.state.memory)
}

func (r *run) openFunction(ctx context.Context, x *plan.FunctionScan) (Source, error) {
	if len(x.Zip) > 0 {
		return r.openZip(ctx, x)
	}
	args := make([]types.Datum, len(x.Args))
	null := false
	for i, e := range x.Args {
		var err error
		if args[i], err = r.constant(e); err != nil {
			return nil, err
		}
		null = null || args[i].Null
	}
	f := &functionOp{run: r, node: x}
	if null && (x.Set == nil || !x.Set.Nulls) {
		f.step = func([]*types.Vector) (bool, error) { return false, nil }
		return f, nil
	}
	var err error
	if x.Set != nil {
		f.step, err = x.Set.Rows(r.ec, args)
		return f, err
	}
	var step func(*types.Vector) (bool, error)
	switch x.Function {
	case "generate_series":
		step, err = r.series(args)
	case "unnest", "_pg_expandarray":
		step, err = unnest(args[0])
	case "generate_subscripts":
		step, err = subscripts(args[0], args[1].Int, len(args) > 2 && args[2].Int != 0)
	default:
		err = sqlerr.New(sqlerr.FeatureNotSupported, "function %s is not supported", x.Function)
	}
	f.step = func(out []*types.Vector) (bool, error) { return step(out[0]) }
	return f, err
}

// Next implements Source.
func (f *functionOp) Next(context.Context) (*types.Batch, error) {
	b := types.NewBatch(f.node.Schema(), 0)
	for b.Rows < types.BatchRows {
		more, err := f.step(b.Cols)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		b.Rows++
		f.rows++
		if f.node.Function == "_pg_expandarray" {
			b.Cols[1].AppendInt(f.rows)
		}
		if f.node.Ordinality {
			b.Cols[len(b.Cols)-1].AppendInt(f.rows)
		}
	}
	if b.Rows == 0 {
		return nil, nil
	}
	return b, nil
}

// Close implements Source.
func (f *functionOp) Close() error { return nil }

func zeroStep() error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot equal zero")
}

// series is generate_series.
func (r *run) series(args []types.Datum) (func(*types.Vector) (bool, error), error) {
	switch args[0].Type.OID {
	case types.Int4, types.Int8:
		return integerSeries(args)
	case types.Numeric:
		return numericSeries(args)
	}
	return r.timeSeries(args)
}

func integerSeries(args []types.Datum) (func(*types.Vector) (bool, error), error) {
	at, stop, step := args[0].Int, args[1].Int, int64(1)
	if len(args) == 3 {
		step = args[2].Int
	}
	if step == 0 {
		return nil, zeroStep()
	}
	done := false
	return func(out *types.Vector) (bool, error) {
		if done || step > 0 && at > stop || step < 0 && at < stop {
			return false, nil
		}
		out.AppendInt(at)
		done = step > 0 && at > math.MaxInt64-step || step < 0 && at < math.MinInt64-step
		at += step
		return true, nil
	}, nil
}

func numericSeries(args []types.Datum) (func(*types.Vector) (bool, error), error) {
	at, stop, step := types.DecodeDecimal(args[0].Bytes), types.DecodeDecimal(args[1].Bytes), types.DecimalFromInt(1)
	if len(args) == 3 {
		step = types.DecodeDecimal(args[2].Bytes)
	}
	if step.Sign() == 0 {
		return nil, zeroStep()
	}
	if !at.Finite() || !stop.Finite() || !step.Finite() {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "start, stop and step values of a series must be finite")
	}
	return func(out *types.Vector) (bool, error) {
		if c := at.Cmp(stop); c*step.Sign() > 0 {
			return false, nil
		}
		out.AppendBytes(at.Append(nil))
		var err error
		at, err = types.NumericAdd(at, step)
		return true, err
	}, nil
}

// timeSeries steps as timestamp + interval does, by the session's calendar.
func (r *run) timeSeries(args []types.Datum) (func(*types.Vector) (bool, error), error) {
	at := args[0]
	span := types.DecodeSpan(args[2].Bytes)
	sign := span.Cmp(types.Span{})
	if sign == 0 {
		return nil, zeroStep()
	}
	next, err := expr.NewOperator("+", &expr.Column{Index: 0, Typ: at.Type}, expr.NewConst(args[2]))
	if err != nil {
		return nil, err
	}
	return func(out *types.Vector) (bool, error) {
		if sign > 0 && at.Int > args[1].Int || sign < 0 && at.Int < args[1].Int {
			return false, nil
		}
		out.AppendInt(at.Int)
		v, err := next.Eval(r.ec, &types.Batch{Cols: []*types.Vector{types.Repeat(at, 1)}, Rows: 1})
		if err != nil {
			return false, cause(err)
		}
		at = v.Datum(0)
		return true, nil
	}, nil
}

func unnest(array types.Datum) (func(*types.Vector) (bool, error), error) {
	a, err := types.ArrayDatum(array)
	if err != nil {
		return nil, err
	}
	i := 0
	return func(out *types.Vector) (bool, error) {
		if i == len(a.Items) {
			return false, nil
		}
		out.AppendDatum(a.Items[i])
		i++
		return true, nil
	}, nil
}

func subscripts(array types.Datum, dim int64, reverse bool) (func(*types.Vector) (bool, error), error) {
	a, err := types.ArrayDatum(array)
	if err != nil {
		return nil, err
	}
	i, n, lower := 0, 0, 0
	if dim >= 1 && dim <= int64(len(a.Dims)) {
		n, lower = a.Dims[dim-1], a.Lower[dim-1]
	}
	return func(out *types.Vector) (bool, error) {
		if i == n {
			return false, nil
		}
		if reverse {
			out.AppendInt(int64(lower + n - 1 - i))
		} else {
			out.AppendInt(int64(lower + i))
		}
		i++
		return true, nil
	}, nil
}
