package histogram

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group: the counts of buckets 0 (below lo) to n+1 (from hi
// on), nil before the first value.
type cell struct{ counts []int64 }

// algebra is cells.Algebra for n buckets from lo to hi.
type algebra struct {
	lo, hi float64
	n      int
}

const maxCount = 1 << 60

// bucket returns the number of the bucket of x. NaN is above all numbers.
func (a algebra) bucket(x float64) int {
	switch {
	case x < a.lo:
		return 0
	case x >= a.hi || x != x:
		return a.n + 1
	}
	return min(int((x-a.lo)/(a.hi-a.lo)*float64(a.n)), a.n-1) + 1
}

// Add implements cells.Algebra.
func (a algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	if c.counts == nil {
		c.counts = cells.Make[int64](a.n + 2)
	}
	i := a.bucket(in[0].Floats[row])
	if c.counts[i] >= maxCount {
		return tooMany()
	}
	c.counts[i]++
	return nil
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a histogram of more than 2^60 values")
}

// Merge implements cells.Algebra.
func (a algebra) Merge(dst, src *cell) error {
	if src.counts == nil {
		return nil
	}
	if dst.counts == nil {
		dst.counts = cells.Make[int64](a.n + 2)
	}
	for i, x := range src.counts {
		if dst.counts[i]+x > maxCount {
			return tooMany()
		}
	}
	for i, x := range src.counts {
		dst.counts[i] += x
	}
	return nil
}

// The portable form, version 1, behind the version byte: a byte, 1 if there was a
// value; then uvarint count of each bucket.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (algebra) Append(dst []byte, c *cell) []byte {
	if c.counts == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, x := range c.counts {
		dst = binary.AppendUvarint(dst, uint64(x))
	}
	return dst
}

// Read implements cells.Algebra.
func (a algebra) Read(r *statecodec.Reader) cell {
	var c cell
	switch r.Byte() {
	case 0:
		return c
	case 1:
	default:
		r.Fail()
	}
	if len(r.Rest()) < a.n+2 {
		r.Fail()
		return c
	}
	c.counts = cells.Make[int64](a.n + 2)
	sum := int64(0)
	for i := range c.counts {
		c.counts[i] = int64(r.Uvarint(maxCount))
		sum |= c.counts[i]
	}
	if sum == 0 {
		r.Fail()
	}
	return c
}

// Bytes implements cells.Algebra.
func (algebra) Bytes(c *cell) int64 { return 8 * int64(cap(c.counts)) }

var nParameter = agg.Parameter{Name: "n", Default: 10, Min: 1, Max: 10000, Meaning: "the number of buckets from lo to hi"}

// Register registers histogram.
func Register(r *agg.Registry) {
	const name = "histogram"
	d := agg.Descriptor{
		Name: name, Family: "histogram", Signature: "histogram(x number, lo float8, hi float8, n int4) → int8[] of n+2 counts, bucket 0 (below lo) first",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.CommutativeMonoid, Parameters: []agg.Parameter{nParameter},
		Guarantee: "exact", Confidence: "1", Citation: "none: counts by width_bucket", Memory: "24 bytes a group, then 8*(n+2) bytes",
		PrivacyClass: agg.Aggregated, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) != 4 || args[0].OID.Category() != 'N' && args[0].OID != types.Unknown {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		a := algebra{}
		var err error
		if a.lo, err = param.Number(name, "lower bound", args, consts, 1); err != nil {
			return agg.Bound{}, err
		}
		if a.hi, err = param.Number(name, "upper bound", args, consts, 2); err != nil {
			return agg.Bound{}, err
		}
		if a.n, err = param.Integer(name, nParameter, args, consts, 3); err != nil {
			return agg.Bound{}, err
		}
		if !(a.lo < a.hi) || math.IsInf(a.hi-a.lo, 0) {
			return agg.Bound{}, sqlerr.New(sqlerr.InvalidParameterValue, "the bounds of histogram must be finite, and the lower one below the upper one")
		}
		return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{types.Of(types.Float8)}, State: specOf(a), Final: final{}}, nil
	}})
}

func specOf(a algebra) agg.StateSpec {
	return cells.Spec[cell]{
		Family: "histogram", ID: fmt.Sprintf("histogram lo=%v hi=%v n=%d v%d", a.lo, a.hi, a.n, codecV1), Version: codecV1,
		Algebra: func(agg.Config) cells.Algebra[cell] { return a },
		Group:   func(int64) int64 { return 8 * int64(a.n+2) },
	}
}

// final makes a state the array of its counts, NULL for none.
type final struct{}

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.Int8Array) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return false }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.Exact }

// String implements agg.Finaliser.
func (final) String() string { return "histogram" }

// Finalise implements agg.Finaliser.
func (final) Finalise(states agg.States, n int, _ float64, out *types.Vector, _ *agg.Bounds) error {
	s := states.(*cells.States[cell])
	for g := range uint32(n) {
		counts := s.Cell(g).counts
		if counts == nil {
			out.AppendNull()
			continue
		}
		items := make([]types.Datum, len(counts))
		for i, x := range counts {
			items[i] = types.IntDatum(types.Int8, x)
		}
		out.AppendDatum(types.NewArray(types.Of(types.Int8), items).Datum())
	}
	return nil
}
