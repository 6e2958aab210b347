package agg

import (
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerOrderedSet registers the aggregates of WITHIN GROUP (ORDER BY x). Their
// calls f(q) WITHIN GROUP (ORDER BY x) are bound as f(q, x), and the rows are folded
// in the order that the query asks for.
func registerOrderedSet(r *Registry) {
	for _, name := range []string{"percentile_cont", "percentile_disc"} {
		d := exactDescriptor(name, name+"(q float8 or float8[]) WITHIN GROUP (ORDER BY x) → float8 or interval for cont, x's type for disc; an array for an array", "the values", HoldsValues)
		d.MergeAlgebra, d.OrderedSet = OrderedMonoid, true
		d.Parameters = []Parameter{{Name: "q", Min: 0, Max: 1, Meaning: "the fraction of values at or below the result"}}
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			return bindPercentile(name, args)
		}})
	}
	d := exactDescriptor("mode", "mode() WITHIN GROUP (ORDER BY x) → x's type", "the values", HoldsValues)
	d.MergeAlgebra, d.OrderedSet = OrderedMonoid, true
	r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
		if len(args) != 1 || !ordered(known(args[0]).OID) {
			return Bound{}, noFunction("mode", args)
		}
		in := []types.Type{known(args[0])}
		return Bound{Inputs: []int{0}, ArgTypes: in, State: collectSpec(in), Final: modeFinal(in[0])}, nil
	}})
}

// bindPercentile binds the fraction as an input too, whose value in the first row
// counts: it need not be a constant.
func bindPercentile(name string, args []types.Type) (Bound, error) {
	if len(args) != 2 {
		return Bound{}, noFunction(name, args)
	}
	q, t := types.Of(types.Float8), types.Of(known(args[1]).OID)
	if args[0].OID.IsArray() {
		q = types.Of(types.Float8.ArrayOf())
	}
	switch {
	case name == "percentile_disc":
		if !ordered(t.OID) {
			return Bound{}, noFunction(name, args)
		}
	case args[1].OID == types.Interval:
	case args[1].OID.Category() == 'N' || args[1].OID == types.Unknown:
		t = types.Of(types.Float8)
	default:
		return Bound{}, noFunction(name, args)
	}
	in := []types.Type{q, t}
	return Bound{Inputs: []int{0, 1}, ArgTypes: in, State: collectSpec(in), Final: percentileFinal(name, q, t)}, nil
}

func percentileFinal(name string, q, t types.Type) Finaliser {
	result := t
	if q.OID.IsArray() {
		result = types.Of(t.OID.ArrayOf())
	}
	return exactly(name, result, func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		for g := range n {
			values := knownValues(s.groups[g], 1)
			if len(values) == 0 || s.groups[g][0].Nulls.Has(0) {
				out.AppendNull()
				continue
			}
			d, err := percentiles(name, s.groups[g][0].Datum(0), t, values)
			if err != nil {
				return err
			}
			out.AppendDatum(d)
		}
		return nil
	})
}

// percentiles returns the value at a fraction, or at each of an array of them.
func percentiles(name string, q types.Datum, t types.Type, values []types.Datum) (types.Datum, error) {
	if !q.Type.OID.IsArray() {
		return percentile(name, q.Float, values)
	}
	a, err := types.ArrayDatum(q)
	if err != nil {
		return types.Datum{}, err
	}
	for i, x := range a.Items {
		if x.Null {
			a.Items[i] = types.NullOf(t)
			continue
		}
		if a.Items[i], err = percentile(name, x.Float, values); err != nil {
			return types.Datum{}, err
		}
	}
	a.Elem = t
	return a.Datum(), nil
}

// percentile returns the value at a fraction of sorted values, of which there is
// one at least.
func percentile(name string, q float64, values []types.Datum) (types.Datum, error) {
	if !(q >= 0 && q <= 1) {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", q)
	}
	if name == "percentile_disc" {
		return values[max(int(math.Ceil(q*float64(len(values))))-1, 0)], nil
	}
	at := q * float64(len(values)-1)
	lo := math.Floor(at)
	a, b := values[int(lo)], values[int(math.Ceil(at))]
	if a.Type.OID != types.Interval {
		return types.FloatDatum(a.Float + (b.Float-a.Float)*(at-lo)), nil
	}
	from, to := types.DecodeSpan(a.Bytes), types.DecodeSpan(b.Bytes)
	back, ok := from.Neg()
	if ok {
		to, ok = to.Add(back)
	}
	if ok {
		to, ok = to.Times(at - lo)
	}
	if ok {
		to, ok = from.Add(to)
	}
	if !ok {
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	return to.Datum(), nil
}

// modeFinal takes the most frequent value, of equally frequent ones the first.
func modeFinal(t types.Type) Finaliser {
	return exactly("mode", t, func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		for g := range n {
			values := knownValues(s.groups[g], 0)
			if len(values) == 0 {
				out.AppendNull()
				continue
			}
			best, most, from := 0, 0, 0
			for i := range values {
				if types.Compare(values[from], values[i]) != 0 {
					from = i
				}
				if i-from+1 > most {
					best, most = from, i-from+1
				}
			}
			out.AppendDatum(values[best])
		}
		return nil
	})
}

// knownValues returns the values of column c that are not NULL, in order.
func knownValues(cols []*types.Vector, c int) []types.Datum {
	var out []types.Datum
	for i := range lenOf(cols) {
		if !cols[c].Nulls.Has(i) {
			out = append(out, cols[c].Datum(i))
		}
	}
	return out
}
