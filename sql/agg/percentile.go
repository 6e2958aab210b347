package agg

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerPercentile registers percentile_cont and percentile_disc. Their calls
// are percentile_cont(q) WITHIN GROUP (ORDER BY x): the binder passes q, then x.
func registerPercentile(r *Registry) {
	for _, name := range []string{"percentile_cont", "percentile_disc"} {
		d := exactDescriptor(name, name+"(q float8) WITHIN GROUP (ORDER BY x) → float8 for cont, x's type for disc", "the values", HoldsValues)
		d.MergeAlgebra = OrderedMonoid
		d.Parameters = []Parameter{{Name: "q", Min: 0, Max: 1, Meaning: "the fraction of values at or below the result"}}
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (Bound, error) {
			return bindPercentile(name, args, consts)
		}})
	}
}

func bindPercentile(name string, args []types.Type, consts []*types.Datum) (Bound, error) {
	if len(args) != 2 {
		return Bound{}, noFunction(name, args)
	}
	q, ok := fraction(consts[0])
	if !ok {
		return Bound{}, sqlerr.New(sqlerr.FeatureNotSupported, "the fraction of %s must be a constant number", name)
	}
	if !(q >= 0 && q <= 1) {
		return Bound{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", q)
	}
	t := types.Of(known(args[1]).OID)
	if name == "percentile_cont" {
		if args[1].OID.Category() != 'N' {
			return Bound{}, noFunction(name, args)
		}
		t = types.Of(types.Float8)
	} else if !ordered(t.OID) {
		return Bound{}, noFunction(name, args)
	}
	in := []types.Type{t}
	return Bound{Inputs: []int{1}, ArgTypes: in, State: collectSpec(in), Final: percentileFinal(name, t, q)}, nil
}

// fraction reads a constant number.
func fraction(d *types.Datum) (float64, bool) {
	switch {
	case d == nil || d.Null:
		return 0, false
	case d.Type.OID == types.Numeric:
		return types.DecodeDecimal(d.Bytes).Float64(), true
	case d.Type.Kind() == types.KindFloat:
		return d.Float, true
	case d.Type.Kind() == types.KindInt:
		return float64(d.Int), true
	}
	return 0, false
}

func percentileFinal(name string, t types.Type, q float64) Finaliser {
	return exactly(name, t, func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		for g := range n {
			values := sortedValues(s.groups[g])
			switch {
			case len(values) == 0:
				out.AppendNull()
			case name == "percentile_disc":
				out.AppendDatum(values[max(int(math.Ceil(q*float64(len(values))))-1, 0)])
			default:
				at := q * float64(len(values)-1)
				lo := math.Floor(at)
				a, b := values[int(lo)].Float, values[int(math.Ceil(at))].Float
				out.AppendFloat(a + (b-a)*(at-lo))
			}
		}
		return nil
	})
}

func sortedValues(cols []*types.Vector) []types.Datum {
	var out []types.Datum
	for i := range lenOf(cols) {
		if !cols[0].Nulls.Has(i) {
			out = append(out, cols[0].Datum(i))
		}
	}
	slices.SortFunc(out, types.Compare)
	return out
}
