package agg

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// The states of this file fold rows with weights: a row of weight 3 counts as three,
// one of weight -1 takes one away. Weights of a group may add up to less than nothing.

// subtracts says of an aggregate which rows with weights it takes.
func subtracts(d Descriptor, m StreamModel) Descriptor {
	d.StreamModel = m
	return d
}

func weightsOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "the weights of a group are out of range")
}

// addInt adds what does not overflow.
func addInt(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

// nothingWeighs reports a value that cannot be taken away again.
func nothingWeighs(name string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s of a stream with deletes cannot hold NaN or infinity, which would stay when they are deleted", name)
}

// strictOnly refuses what has to know that nothing is left where weights add up to 0.
func strictOnly(name string, t types.Type) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s(%s) does not take weights that may take away more than there is", name, t).
		WithHint("Cast the argument to numeric, or create the stream with kind = 'strict_turnstile' if deletes only take away what was inserted.")
}

func bindWeightedCount(args []types.Type, _ []*types.Datum, _ bool) (Bound, error) {
	b := Bound{Final: weightedCountFinal, State: spec{identity: "weighted count v1", bytes: 8, make: func(Config) States { return &weightedCounts{} }}}
	switch len(args) {
	case 1:
		b.Inputs, b.ArgTypes = []int{0}, []types.Type{args[0]}
	case 2:
		b.Inputs, b.ArgTypes = []int{0, 1}, []types.Type{known(args[0]), args[1]}
	default:
		return Bound{}, noFunction("count", args[:len(args)-1])
	}
	return b, nil
}

var weightedCountFinal = exactly("count", types.Of(types.Int8), func(s States, n int, out *types.Vector) error {
	out.Ints = append(out.Ints, s.(*weightedCounts).n[:n]...)
	return nil
})

// weightedCounts: the weight of all rows, or of those whose value is not NULL; the
// weight is the last input. Portable form: version, weight as a varint.
type weightedCounts struct{ n []int64 }

// Grow implements States.
func (s *weightedCounts) Grow(n int) { s.n = growTo(s.n, n) }

// Update implements States.
func (s *weightedCounts) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	weights := inputs[len(inputs)-1]
	for i, g := range groups {
		r := int(rows[i])
		if weights.Nulls.Has(r) || inputs[0].Nulls.Has(r) {
			continue
		}
		if err := s.add(g, weights.Ints[r]); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *weightedCounts) add(g uint32, w int64) error {
	n, ok := addInt(s.n[g], w)
	if !ok {
		return weightsOverflow()
	}
	s.n[g] = n
	return nil
}

// MergeFrom implements States.
func (s *weightedCounts) MergeFrom(dst uint32, other States, src uint32) error {
	return s.add(dst, other.(*weightedCounts).n[src])
}

// Append implements States.
func (s *weightedCounts) Append(dst []byte, g uint32) []byte {
	return binary.AppendVarint(append(dst, codecV1), s.n[g])
}

// Merge implements States.
func (s *weightedCounts) Merge(g uint32, state []byte) error {
	r := newReader("count", state)
	n := r.varint()
	if err := r.done(); err != nil {
		return err
	}
	return s.add(g, n)
}

// MemoryBytes implements States.
func (s *weightedCounts) MemoryBytes() int64 { return int64(cap(s.n)) * 8 }

func bindWeightedSum(name string) func([]types.Type, []*types.Datum, bool) (Bound, error) {
	return func(args []types.Type, _ []*types.Datum, strict bool) (Bound, error) {
		values := args[:len(args)-1]
		b, err := bindSum(name, values)
		if err != nil {
			return Bound{}, err
		}
		switch b.ArgTypes[0].OID {
		case types.Int2, types.Int4, types.Int8:
			b.State = spec{identity: "weighted sum(int) v1", bytes: 24, make: func(Config) States { return &weightedSumInt{} }}
		case types.Numeric:
			b.State = spec{identity: "weighted sum(numeric) v1", bytes: 48, make: func(Config) States { return &weightedSumNumeric{} }}
		case types.Float4, types.Float8:
			if !strict {
				return Bound{}, strictOnly(name, values[0])
			}
			b.State = spec{identity: "weighted sum(float) v1", bytes: 24, make: func(Config) States { return &weightedSumFloat{} }}
		default:
			return Bound{}, sqlerr.New(sqlerr.FeatureNotSupported, "%s(%s) does not take deletes", name, values[0]).
				WithHint("Sum a number, such as extract(epoch from x).")
		}
		b.Inputs, b.ArgTypes = []int{0, 1}, []types.Type{b.ArgTypes[0], args[1]}
		return b, nil
	}
}

// weightedSumInt: as sumIntStates, of values times weights. Portable form: version,
// weight as a varint, low and high word of the sum as varints.
type weightedSumInt struct{ sumIntStates }

// Update implements States.
func (s *weightedSumInt) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in, weights := inputs[0], inputs[1]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) || weights.Nulls.Has(r) {
			continue
		}
		x, w := in.Ints[r], weights.Ints[r]
		hi, lo := bits.Mul64(uint64(x), uint64(w))
		hi -= uint64(x>>63&w) + uint64(w>>63&x) // of unsigned to of signed numbers
		if err := s.fold(g, w, lo, int64(hi)); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *weightedSumInt) fold(g uint32, n int64, lo uint64, hi int64) error {
	weight, ok := addInt(s.n[g], n)
	l, c := bits.Add64(s.lo[g], lo, 0)
	h := s.hi[g] + hi + int64(c)
	if !ok {
		return weightsOverflow()
	}
	if (s.hi[g] < 0) == (hi < 0) && (h < 0) != (hi < 0) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "the sum of values times weights is out of range")
	}
	s.n[g], s.lo[g], s.hi[g] = weight, l, h
	return nil
}

// MergeFrom implements States.
func (s *weightedSumInt) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*weightedSumInt)
	return s.fold(dst, o.n[src], o.lo[src], o.hi[src])
}

// Append implements States.
func (s *weightedSumInt) Append(dst []byte, g uint32) []byte {
	dst = binary.AppendVarint(append(dst, codecV1), s.n[g])
	dst = binary.AppendVarint(dst, int64(s.lo[g]))
	return binary.AppendVarint(dst, s.hi[g])
}

// Merge implements States.
func (s *weightedSumInt) Merge(g uint32, state []byte) error {
	r := newReader("sum", state)
	n, lo, hi := r.varint(), r.varint(), r.varint()
	if err := r.done(); err != nil {
		return err
	}
	return s.fold(g, n, uint64(lo), hi)
}

// weightedSumNumeric: as sumNumericStates, of values times weights. Portable form:
// version, weight as a varint, sum in its stored form.
type weightedSumNumeric struct{ sumNumericStates }

// Update implements States.
func (s *weightedSumNumeric) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in, weights := inputs[0], inputs[1]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) || weights.Nulls.Has(r) {
			continue
		}
		x, err := weighed("sum", in, weights, r)
		if err == nil {
			err = s.fold(g, weights.Ints[r], x)
		}
		if err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

// weighed is a value times its weight.
func weighed(name string, in, weights *types.Vector, r int) (types.Decimal, error) {
	x := types.DecodeDecimal(in.Bytes(r))
	if !x.Finite() {
		return x, nothingWeighs(name)
	}
	return types.NumericMul(x, types.DecimalFromInt(weights.Ints[r]))
}

func (s *sumNumericStates) fold(g uint32, n int64, x types.Decimal) error {
	if _, ok := addInt(s.n[g], n); !ok {
		return weightsOverflow()
	}
	return s.add(g, n, x)
}

// MergeFrom implements States.
func (s *weightedSumNumeric) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*weightedSumNumeric)
	return s.fold(dst, o.n[src], o.sum[src])
}

// Append implements States.
func (s *weightedSumNumeric) Append(dst []byte, g uint32) []byte {
	return appendDecimal(binary.AppendVarint(append(dst, codecV1), s.n[g]), s.sum[g])
}

// Merge implements States.
func (s *weightedSumNumeric) Merge(g uint32, state []byte) error {
	r := newReader("sum", state)
	n, sum := r.varint(), r.decimal()
	if err := r.done(); err != nil {
		return err
	}
	return s.fold(g, n, sum)
}

// weightedSumFloat: as sumFloatStates, of values times weights; nothing is left where
// the weights add up to 0, whatever rounding left in the sum. Portable form: version,
// weight as a varint, sum, compensation.
type weightedSumFloat struct{ sumFloatStates }

// Update implements States.
func (s *weightedSumFloat) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in, weights := inputs[0], inputs[1]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) || weights.Nulls.Has(r) {
			continue
		}
		x, w := in.Floats[r], weights.Ints[r]
		if x-x != 0 {
			return rejected(i, nothingWeighs("sum"))
		}
		x *= float64(w)
		if sum := s.sum[g] + x; math.IsInf(sum, 0) {
			return rejected(i, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow"))
		}
		if _, ok := addInt(s.n[g], w); !ok {
			return rejected(i, weightsOverflow())
		}
		s.add(g, w, x, 0)
	}
	return nil
}

// MergeFrom implements States.
func (s *weightedSumFloat) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*weightedSumFloat)
	return s.fold(dst, o.n[src], o.sum[src], o.comp[src])
}

func (s *weightedSumFloat) fold(g uint32, n int64, sum, comp float64) error {
	if _, ok := addInt(s.n[g], n); !ok {
		return weightsOverflow()
	}
	s.add(g, n, sum, comp)
	return nil
}

// Append implements States.
func (s *weightedSumFloat) Append(dst []byte, g uint32) []byte {
	dst = binary.AppendVarint(append(dst, codecV1), s.n[g])
	return appendFloat(appendFloat(dst, s.sum[g]), s.comp[g])
}

// Merge implements States.
func (s *weightedSumFloat) Merge(g uint32, state []byte) error {
	r := newReader("sum", state)
	n, sum, comp := r.varint(), r.float(), r.float()
	if err := r.done(); err != nil {
		return err
	}
	return s.fold(g, n, sum, comp)
}

// bindWeightedMoment binds a variance as one of numerics, whose sums of squares are
// exact: what is taken away leaves nothing.
func bindWeightedMoment(m moment) func([]types.Type, []*types.Datum, bool) (Bound, error) {
	return func(args []types.Type, _ []*types.Datum, strict bool) (Bound, error) {
		values := args[:len(args)-1]
		if len(values) != 1 {
			return Bound{}, noFunction(m.name, values)
		}
		switch values[0].OID {
		case types.Int2, types.Int4, types.Int8, types.Numeric:
		case types.Float4, types.Float8:
			return Bound{}, sqlerr.New(sqlerr.FeatureNotSupported, "%s(%s) does not take deletes, whose rounding errors would stay", m.name, values[0]).
				WithHint("Cast the argument to numeric.")
		default:
			return Bound{}, noFunction(m.name, values)
		}
		if !strict {
			return Bound{}, strictOnly(m.name, values[0])
		}
		return Bound{
			Inputs: []int{0, 1}, ArgTypes: []types.Type{types.Of(types.Numeric), args[1]}, Final: momentsNumericFinal(m),
			State: spec{identity: "weighted moments v1", bytes: 96, make: func(Config) States { return &weightedMoments{} }},
		}, nil
	}
}

// weightedMoments: as momentsNumeric, of values and squares times weights. Portable
// form: version, weight as a varint, sum, squares.
type weightedMoments struct{ momentsNumeric }

// Update implements States.
func (s *weightedMoments) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in, weights := inputs[0], inputs[1]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) || weights.Nulls.Has(r) {
			continue
		}
		x, err := weighed("variance", in, weights, r)
		if err != nil {
			return rejected(i, err)
		}
		square, err := types.NumericMul(x, types.DecodeDecimal(in.Bytes(r)))
		if err == nil {
			err = s.foldWeighted(g, weights.Ints[r], x, square)
		}
		if err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *weightedMoments) foldWeighted(g uint32, n int64, x, square types.Decimal) error {
	if _, ok := addInt(s.n[g], n); !ok {
		return weightsOverflow()
	}
	return s.fold(g, n, x, square)
}

// MergeFrom implements States.
func (s *weightedMoments) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*weightedMoments)
	return s.foldWeighted(dst, o.n[src], o.sum[src], o.sq[src])
}

// Append implements States.
func (s *weightedMoments) Append(dst []byte, g uint32) []byte {
	dst = appendDecimal(binary.AppendVarint(append(dst, codecV1), s.n[g]), s.sum[g])
	return appendDecimal(dst, s.sq[g])
}

// Merge implements States.
func (s *weightedMoments) Merge(g uint32, state []byte) error {
	r := newReader("variance", state)
	n, sum, sq := r.varint(), r.decimal(), r.decimal()
	if err := r.done(); err != nil {
		return err
	}
	return s.foldWeighted(g, n, sum, sq)
}
