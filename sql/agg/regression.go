package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/types"
)

// regressions are the statistics of pairs (y, x), each a function of the sums of a
// group; false is NULL. The formulas are those of the SQL standard.
var regressions = []struct {
	name  string
	value func(s *pairSums) (float64, bool)
}{
	{"regr_avgx", func(s *pairSums) (float64, bool) { return s.sx / float64(s.n), s.n > 0 }},
	{"regr_avgy", func(s *pairSums) (float64, bool) { return s.sy / float64(s.n), s.n > 0 }},
	{"regr_sxx", func(s *pairSums) (float64, bool) { return s.sxx, s.n > 0 }},
	{"regr_syy", func(s *pairSums) (float64, bool) { return s.syy, s.n > 0 }},
	{"regr_sxy", func(s *pairSums) (float64, bool) { return s.sxy, s.n > 0 }},
	{"covar_pop", func(s *pairSums) (float64, bool) { return s.sxy / float64(s.n), s.n > 0 }},
	{"covar_samp", func(s *pairSums) (float64, bool) { return s.sxy / float64(s.n-1), s.n > 1 }},
	{"corr", func(s *pairSums) (float64, bool) {
		return s.sxy / math.Sqrt(s.sxx*s.syy), s.n > 0 && s.sxx != 0 && s.syy != 0
	}},
	{"regr_r2", func(s *pairSums) (float64, bool) {
		if s.syy == 0 {
			return 1, s.n > 0 && s.sxx != 0
		}
		return s.sxy * s.sxy / (s.sxx * s.syy), s.n > 0 && s.sxx != 0
	}},
	{"regr_slope", func(s *pairSums) (float64, bool) { return s.sxy / s.sxx, s.n > 0 && s.sxx != 0 }},
	{"regr_intercept", func(s *pairSums) (float64, bool) {
		return (s.sy - s.sx*s.sxy/s.sxx) / float64(s.n), s.n > 0 && s.sxx != 0
	}},
}

// registerRegression registers corr, covar_… and regr_….
func registerRegression(r *Registry) {
	bind := func(name string, final Finaliser) func([]types.Type, []*types.Datum) (Bound, error) {
		return func(args []types.Type, _ []*types.Datum) (Bound, error) {
			for _, a := range args {
				if len(args) != 2 || a.OID.Category() != 'N' && a.OID != types.Unknown {
					return Bound{}, noFunction(name, args)
				}
			}
			if len(args) != 2 {
				return Bound{}, noFunction(name, args)
			}
			in := []types.Type{types.Of(types.Float8), types.Of(types.Float8)}
			return Bound{Inputs: []int{0, 1}, ArgTypes: in, State: pairsSpec(), Final: final}, nil
		}
	}
	describe := func(name, ret string) Descriptor {
		d := exactDescriptor(name, name+"(y float8, x float8) → "+ret, "48 bytes a group", Aggregated)
		d.Citation = "Youngs, Cramer: Some results relevant to choice of sum and sum-of-product algorithms, 1971; merged as in Chan, Golub, LeVeque, 1979"
		return d
	}
	count := exactly("regr_count", types.Of(types.Int8), func(states States, n int, out *types.Vector) error {
		for _, s := range states.(*pairStates).sums[:n] {
			out.AppendInt(s.n)
		}
		return nil
	})
	r.Register(&Function{Descriptor: describe("regr_count", "int8"), Bind: bind("regr_count", count)})
	for _, f := range regressions {
		final := exactly(f.name, types.Of(types.Float8), func(states States, n int, out *types.Vector) error {
			sums := states.(*pairStates).sums
			for g := range n {
				if v, ok := f.value(&sums[g]); ok {
					out.AppendFloat(v)
				} else {
					out.AppendNull()
				}
			}
			return nil
		})
		r.Register(&Function{Descriptor: describe(f.name, "float8"), Bind: bind(f.name, final)})
	}
}

func pairsSpec() StateSpec {
	return spec{identity: "pairs(float) v1", bytes: 48, make: func(Config) States { return &pairStates{} }}
}

// pairSums: the number of pairs, the sums of x and y, and the sums of squares and
// products of their deviations.
type pairSums struct {
	n                     int64
	sx, sxx, sy, syy, sxy float64
}

func (s *pairSums) add(y, x float64) {
	s.n++
	n := float64(s.n)
	s.sx += x
	s.sy += y
	if s.n > 1 {
		dx, dy, scale := x*n-s.sx, y*n-s.sy, 1/(n*(n-1))
		s.sxx += dx * dx * scale
		s.syy += dy * dy * scale
		s.sxy += dx * dy * scale
		return
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.sxx, s.sxy = math.NaN(), math.NaN()
	}
	if math.IsNaN(y) || math.IsInf(y, 0) {
		s.syy, s.sxy = math.NaN(), math.NaN()
	}
}

func (s *pairSums) merge(o pairSums) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	n1, n2 := float64(s.n), float64(o.n)
	dx, dy := s.sx/n1-o.sx/n2, s.sy/n1-o.sy/n2
	w := n1 * n2 / (n1 + n2)
	s.sxx += o.sxx + w*dx*dx
	s.syy += o.syy + w*dy*dy
	s.sxy += o.sxy + w*dx*dy
	s.n, s.sx, s.sy = s.n+o.n, s.sx+o.sx, s.sy+o.sy
}

// pairStates: sums of pairs. Portable form: version, count, then the five sums in
// the order of pairSums.
type pairStates struct{ sums []pairSums }

// Grow implements States.
func (s *pairStates) Grow(n int) { s.sums = growTo(s.sums, n) }

// Update implements States. A pair with a NULL is left out.
func (s *pairStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	y, x := inputs[0], inputs[1]
	for i, g := range groups {
		if r := int(rows[i]); !y.Nulls.Has(r) && !x.Nulls.Has(r) {
			s.sums[g].add(y.Floats[r], x.Floats[r])
		}
	}
	return nil
}

// MergeFrom implements States.
func (s *pairStates) MergeFrom(dst uint32, other States, src uint32) error {
	s.sums[dst].merge(other.(*pairStates).sums[src])
	return nil
}

// Append implements States.
func (s *pairStates) Append(dst []byte, g uint32) []byte {
	x := &s.sums[g]
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(x.n))
	for _, f := range []float64{x.sx, x.sxx, x.sy, x.syy, x.sxy} {
		dst = appendFloat(dst, f)
	}
	return dst
}

// Merge implements States.
func (s *pairStates) Merge(group uint32, state []byte) error {
	r := newReader("regression", state)
	var x pairSums
	x.n = r.count()
	for _, f := range []*float64{&x.sx, &x.sxx, &x.sy, &x.syy, &x.sxy} {
		*f = r.float()
	}
	if err := r.done(); err != nil {
		return err
	}
	s.sums[group].merge(x)
	return nil
}

// MemoryBytes implements States.
func (s *pairStates) MemoryBytes() int64 { return 48 * int64(cap(s.sums)) }
