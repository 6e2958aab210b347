package agg

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sql/types"
)

// moment says which statistic is made of the moments of a group.
type moment struct {
	name     string
	sample   bool // divide by n-1
	variance bool // no square root
}

var moments = []struct {
	moment
	aliases []string
}{
	{moment{"stddev_samp", true, false}, []string{"stddev"}},
	{moment{"stddev_pop", false, false}, nil},
	{moment{"var_samp", true, true}, []string{"variance"}},
	{moment{"var_pop", false, true}, nil},
}

// registerVariance registers the standard deviations and variances.
func registerVariance(r *Registry) {
	for _, m := range moments {
		d := exactDescriptor(m.name, m.name+"(x numeric type) → numeric; float8 for floats", "48 bytes a group", Aggregated)
		d.Aliases = m.aliases
		d = subtracts(d, StrictTurnstile)
		d.Citation = "Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979"
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			if len(args) != 1 {
				return Bound{}, noFunction(m.name, args)
			}
			b := Bound{Inputs: []int{0}}
			switch args[0].OID {
			case types.Int2, types.Int4, types.Int8:
				b.ArgTypes = []types.Type{types.Of(types.Int8)}
				b.State, b.Final = momentsIntSpec(), momentsIntFinal(m.moment)
			case types.Float4, types.Float8, types.Unknown:
				b.ArgTypes = []types.Type{types.Of(types.Float8)}
				b.State, b.Final = momentsFloatSpec(), momentsFloatFinal(m.moment)
			case types.Numeric:
				b.ArgTypes = []types.Type{types.Of(types.Numeric)}
				b.State, b.Final = momentsNumericSpec(), momentsNumericFinal(m.moment)
			default:
				return Bound{}, noFunction(m.name, args)
			}
			return b, nil
		}, Weighted: bindWeightedMoment(m.moment)})
	}
}

func momentsFloatSpec() StateSpec {
	return spec{identity: "moments(float) v1", bytes: 24, make: func(Config) States { return &momentsFloat{} }}
}

func momentsFloatFinal(m moment) Finaliser {
	return exactly(m.name, types.Of(types.Float8), func(states States, n int, out *types.Vector) error {
		s := states.(*momentsFloat)
		for g := range n {
			k := float64(s.n[g])
			if m.sample {
				k--
			}
			if s.n[g] == 0 || k <= 0 {
				out.AppendNull()
				continue
			}
			v := s.sxx[g] / k
			if !m.variance {
				v = math.Sqrt(v)
			}
			out.AppendFloat(v)
		}
		return nil
	})
}

// momentsFloat: count, sum and sum of squared deviations, as PostgreSQL keeps
// them (Youngs, Cramer, 1971; merged as by Chan et al.). Portable form: version,
// count, sum, squares.
type momentsFloat struct {
	n       []int64
	sx, sxx []float64
}

// Grow implements States.
func (s *momentsFloat) Grow(n int) {
	s.n, s.sx, s.sxx = growTo(s.n, n), growTo(s.sx, n), growTo(s.sxx, n)
}

// Update implements States.
func (s *momentsFloat) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) {
			continue
		}
		x := in.Floats[r]
		s.n[g]++
		n := float64(s.n[g])
		s.sx[g] += x
		if s.n[g] > 1 {
			t := x*n - s.sx[g]
			s.sxx[g] += t * t / (n * (n - 1))
		} else if math.IsNaN(x) || math.IsInf(x, 0) {
			s.sxx[g] = math.NaN()
		}
	}
	return nil
}

func (s *momentsFloat) add(g uint32, n int64, sx, sxx float64) {
	if n == 0 {
		return
	}
	if s.n[g] == 0 {
		s.n[g], s.sx[g], s.sxx[g] = n, sx, sxx
		return
	}
	n1, n2 := float64(s.n[g]), float64(n)
	d := s.sx[g]/n1 - sx/n2
	s.sxx[g] += sxx + n1*n2*d*d/(n1+n2)
	s.n[g] += n
	s.sx[g] += sx
}

// MergeFrom implements States.
func (s *momentsFloat) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*momentsFloat)
	s.add(dst, o.n[src], o.sx[src], o.sxx[src])
	return nil
}

// Append implements States.
func (s *momentsFloat) Append(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(s.n[g]))
	return appendFloat(appendFloat(dst, s.sx[g]), s.sxx[g])
}

// Merge implements States.
func (s *momentsFloat) Merge(group uint32, state []byte) error {
	r := newReader("variance", state)
	n, sx, sxx := r.count(), r.float(), r.float()
	if err := r.done(); err != nil {
		return err
	}
	s.add(group, n, sx, sxx)
	return nil
}

// MemoryBytes implements States.
func (s *momentsFloat) MemoryBytes() int64 { return 8 * int64(cap(s.n)+cap(s.sx)+cap(s.sxx)) }

func momentsIntSpec() StateSpec {
	return spec{identity: "moments(int) v1", bytes: 48, make: func(Config) States { return &momentsInt{} }}
}

func momentsIntFinal(m moment) Finaliser {
	return exactly(m.name, types.Of(types.Numeric), func(states States, n int, out *types.Vector) error {
		s := states.(*momentsInt)
		for g := range n {
			squares, err := s.squares(g)
			if err != nil {
				return err
			}
			if err := m.appendTo(out, s.n[g], types.NumericFromInt128(s.hi[g], s.lo[g]), squares); err != nil {
				return err
			}
		}
		return nil
	})
}

// momentsInt: the sum state, and the sum of squares in 192 bits, low word first.
// Portable form: that of the sum state, then the three words.
type momentsInt struct {
	sumIntStates
	q0, q1, q2 []uint64
}

// Grow implements States.
func (s *momentsInt) Grow(n int) {
	s.sumIntStates.Grow(n)
	s.q0, s.q1, s.q2 = growTo(s.q0, n), growTo(s.q1, n), growTo(s.q2, n)
}

// Update implements States.
func (s *momentsInt) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) {
			continue
		}
		x := in.Ints[r]
		u := uint64(x)
		if x < 0 {
			u = -u
		}
		hi, lo := bits.Mul64(u, u)
		s.addSquares(g, lo, hi, 0)
	}
	return s.sumIntStates.Update(groups, rows, inputs)
}

func (s *momentsInt) addSquares(g uint32, a0, a1, a2 uint64) {
	var c uint64
	s.q0[g], c = bits.Add64(s.q0[g], a0, 0)
	s.q1[g], c = bits.Add64(s.q1[g], a1, c)
	s.q2[g], _ = bits.Add64(s.q2[g], a2, c)
}

// MergeFrom implements States.
func (s *momentsInt) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*momentsInt)
	s.add(dst, o.n[src], o.lo[src], o.hi[src])
	s.addSquares(dst, o.q0[src], o.q1[src], o.q2[src])
	return nil
}

// Append implements States.
func (s *momentsInt) Append(dst []byte, g uint32) []byte {
	dst = s.sumIntStates.Append(dst, g)
	return appendWord(appendWord(appendWord(dst, s.q0[g]), s.q1[g]), s.q2[g])
}

// Merge implements States.
func (s *momentsInt) Merge(group uint32, state []byte) error {
	r := newReader("variance", state)
	n, lo, hi := r.count(), r.varint(), r.varint()
	q0, q1, q2 := r.word(), r.word(), r.word()
	if err := r.done(); err != nil {
		return err
	}
	s.add(group, n, uint64(lo), hi)
	s.addSquares(group, q0, q1, q2)
	return nil
}

// MemoryBytes implements States.
func (s *momentsInt) MemoryBytes() int64 {
	return s.sumIntStates.MemoryBytes() + 8*int64(cap(s.q0)+cap(s.q1)+cap(s.q2))
}

// squares returns the sum of squares.
func (s *momentsInt) squares(g int) (types.Decimal, error) {
	low := types.NumericFromInt128(0, s.q0[g])
	word := types.NumericFromInt128(1, 0)
	high, err := types.NumericMul(types.NumericFromInt128(0, s.q2[g]), word)
	if err != nil {
		return low, err
	}
	if high, err = types.NumericAdd(high, types.NumericFromInt128(0, s.q1[g])); err != nil {
		return low, err
	}
	if high, err = types.NumericMul(high, word); err != nil {
		return low, err
	}
	return types.NumericAdd(high, low)
}
