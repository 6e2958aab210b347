package decay

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// cell is the state of a group: the decayed sum as of the landmark.
type cell struct {
	landmark int64 // microseconds, the latest time seen
	sum      float64
	rows     uint64
}

// algebra is cells.Algebra for one half-life. The first input is the time; the
// second, if there is one, what is summed.
type algebra struct{ halfLife float64 } // microseconds

const maxRows = 1 << 60

// aged returns a sum as of a later time.
func (a algebra) aged(sum float64, from, to int64) float64 {
	if from == to {
		return sum
	}
	return sum * math.Exp2((float64(from)-float64(to))/a.halfLife)
}

// add folds a sum as of a time into the cell.
func (a algebra) add(c *cell, at int64, sum float64, rows uint64) {
	landmark := at
	if c.rows > 0 {
		landmark = max(at, c.landmark)
	}
	c.sum = a.aged(c.sum, c.landmark, landmark) + a.aged(sum, at, landmark)
	c.landmark = landmark
	c.rows += rows
}

// Add implements cells.Algebra.
func (a algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	if c.rows >= maxRows {
		return tooMany()
	}
	x := 1.0
	if len(in) > 1 {
		x = in[1].Floats[row]
	}
	a.add(c, in[0].Ints[row], x, 1)
	return nil
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a decayed sum of more than 2^60 rows")
}

// Merge implements cells.Algebra.
func (a algebra) Merge(dst, src *cell) error {
	switch {
	case src.rows == 0:
		return nil
	case dst.rows+src.rows >= maxRows:
		return tooMany()
	case dst.rows == 0:
		*dst = *src
		return nil
	}
	from := *src // dst may be src
	a.add(dst, from.landmark, from.sum, from.rows)
	return nil
}

// The portable form, version 1, behind the version byte: uvarint rows; if there are
// any, 8 bytes little-endian landmark in microseconds, 8 bytes little-endian sum.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (algebra) Append(dst []byte, c *cell) []byte {
	if dst = binary.AppendUvarint(dst, c.rows); c.rows == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.landmark))
	return binary.LittleEndian.AppendUint64(dst, valuehash.FloatBits(c.sum))
}

// Read implements cells.Algebra.
func (algebra) Read(r *statecodec.Reader) cell {
	c := cell{rows: r.Uvarint(maxRows - 1)}
	if c.rows == 0 {
		return c
	}
	c.landmark = int64(r.Word())
	w := r.Word()
	if c.sum = math.Float64frombits(w); valuehash.FloatBits(c.sum) != w {
		r.Fail()
	}
	return c
}

// Bytes implements cells.Algebra.
func (algebra) Bytes(*cell) int64 { return 0 }

// Register registers decayed_count and decayed_sum.
func Register(r *agg.Registry) {
	for _, f := range []struct {
		name, signature string
		inputs          []int // the time first
	}{
		{"decayed_count", "decayed_count(at timestamptz, half_life interval) → float8", []int{0}},
		{"decayed_sum", "decayed_sum(x number, at timestamptz, half_life interval) → float8", []int{1, 0}},
	} {
		d := agg.Descriptor{
			Name: f.name, Family: "decay", Signature: f.signature,
			StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary,
			Guarantee: "exact as of the latest time in the group, to the rounding of floats", Confidence: "1",
			Citation: "Cormode, Shkapenyuk, Srivastava, Xu: Forward decay: a practical time decay model for streaming systems, 2009",
			Memory:   "24 bytes a group", PrivacyClass: agg.Aggregated, CodecVersion: int(codecV1),
		}
		r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
			n := len(f.inputs)
			if len(args) != n+1 || !isTime(args[n-1]) || n == 2 && args[0].OID.Category() != 'N' && args[0].OID != types.Unknown {
				return agg.Bound{}, param.NoFunction(f.name, args)
			}
			a, err := halfLife(f.name, consts, n)
			if err != nil {
				return agg.Bound{}, err
			}
			in := []types.Type{types.Of(types.Timestamptz), types.Of(types.Float8)}
			if args[n-1].OID == types.Timestamp {
				in[0] = types.Of(types.Timestamp)
			}
			return agg.Bound{Inputs: f.inputs, ArgTypes: in[:n], State: specOf(f.name, a), Final: final{f.name}}, nil
		}})
	}
}

func isTime(t types.Type) bool {
	return t.OID == types.Timestamptz || t.OID == types.Timestamp || t.OID == types.Unknown
}

// halfLife reads the interval that argument at is. Months have no fixed length.
func halfLife(name string, consts []*types.Datum, at int) (algebra, error) {
	d, err := param.Constant(name, "half-life", consts, at)
	if err == nil && d.Type.OID == types.Unknown {
		d, err = types.Parse(types.Of(types.Interval), d.Bytes, nil)
	}
	if err != nil {
		return algebra{}, err
	}
	if d.Type.OID != types.Interval {
		return algebra{}, sqlerr.New(sqlerr.DatatypeMismatch, "the half-life of %s must be an interval", name)
	}
	span := types.DecodeSpan(d.Bytes)
	const day = 24 * 60 * 60 * 1e6
	a := algebra{float64(span.Micros) + float64(span.Days)*day}
	if span.Months != 0 || !(a.halfLife > 0) {
		return algebra{}, sqlerr.New(sqlerr.InvalidParameterValue, "the half-life of %s must be above 0, in days or less", name)
	}
	return a, nil
}

func specOf(name string, a algebra) agg.StateSpec {
	return cells.Spec[cell]{
		Family: "decay", ID: fmt.Sprintf("%s half_life=%vus v%d", name, a.halfLife, codecV1), Version: codecV1,
		Algebra: func(agg.Config) cells.Algebra[cell] { return a },
		Group:   func(int64) int64 { return 0 },
	}
}

// final makes a state its sum, 0 for a count without rows, NULL for a sum.
type final struct{ name string }

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.Float8) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return false }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.Exact }

// String implements agg.Finaliser.
func (f final) String() string { return f.name }

// Finalise implements agg.Finaliser.
func (f final) Finalise(states agg.States, n int, _ float64, out *types.Vector, _ *agg.Bounds) error {
	s := states.(*cells.States[cell])
	for g := range uint32(n) {
		if c := s.Cell(g); c.rows > 0 || f.name == "decayed_count" {
			out.AppendFloat(c.sum)
		} else {
			out.AppendNull()
		}
	}
	return nil
}
