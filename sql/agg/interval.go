package agg

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

const intervalBytes = 16

func sumIntervalSpec() StateSpec {
	return spec{identity: "sum(interval) v1", bytes: 32, make: func(Config) States { return &sumIntervals{} }}
}

var sumIntervalFinal = exactly("sum", types.Of(types.Interval), func(states States, n int, out *types.Vector) error {
	s := states.(*sumIntervals)
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
		} else {
			out.AppendBytes(s.sum[g].Append(nil))
		}
	}
	return nil
})

var avgIntervalFinal = exactly("avg", types.Of(types.Interval), func(states States, n int, out *types.Vector) error {
	s := states.(*sumIntervals)
	for g := range n {
		if s.n[g] == 0 {
			out.AppendNull()
		} else {
			out.AppendBytes(divideSpan(s.sum[g], s.n[g]).Append(nil))
		}
	}
	return nil
})

// divideSpan divides as PostgreSQL does: what is left of months becomes days of
// 30 to a month, what is left of days becomes time.
func divideSpan(s types.Span, n int64) types.Span {
	months := int64(s.Months) / n
	daysLeft := float64(int64(s.Months)%n) / float64(n) * 30
	wholeDays := math.Trunc(daysLeft)
	days := int64(s.Days)/n + int64(wholeDays)
	microsLeft := (daysLeft - wholeDays + float64(int64(s.Days)%n)/float64(n)) * 86_400_000_000
	micros := math.RoundToEven(float64(s.Micros)/float64(n) + microsLeft)
	return types.Span{Months: int32(months), Days: int32(days), Micros: int64(micros)}
}

// sumIntervals: a count of values and their sum. Portable form: version, count,
// months, days, microseconds.
type sumIntervals struct {
	n   []int64
	sum []types.Span
}

// Grow implements States.
func (s *sumIntervals) Grow(n int) { s.n, s.sum = growTo(s.n, n), growTo(s.sum, n) }

// Update implements States.
func (s *sumIntervals) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	for i, g := range groups {
		r := int(rows[i])
		if in.Nulls.Has(r) {
			continue
		}
		if err := s.add(g, 1, types.DecodeSpan(in.Bytes(r))); err != nil {
			return rejected(i, err)
		}
	}
	return nil
}

func (s *sumIntervals) add(g uint32, n int64, x types.Span) error {
	sum, ok := s.sum[g].Add(x)
	if !ok {
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	s.sum[g] = sum
	s.n[g] += n
	return nil
}

// MergeFrom implements States.
func (s *sumIntervals) MergeFrom(dst uint32, other States, src uint32) error {
	o := other.(*sumIntervals)
	return s.add(dst, o.n[src], o.sum[src])
}

// Append implements States.
func (s *sumIntervals) Append(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(append(dst, codecV1), uint64(s.n[g]))
	x := s.sum[g]
	dst = binary.AppendVarint(dst, int64(x.Months))
	dst = binary.AppendVarint(dst, int64(x.Days))
	return binary.AppendVarint(dst, x.Micros)
}

// Merge implements States.
func (s *sumIntervals) Merge(group uint32, state []byte) error {
	r := newReader("sum", state)
	n, months, days, micros := r.count(), r.varint(), r.varint(), r.varint()
	if err := r.done(); err != nil {
		return err
	}
	if int64(int32(months)) != months || int64(int32(days)) != days {
		return corrupt("sum")
	}
	return s.add(group, n, types.Span{Months: int32(months), Days: int32(days), Micros: micros})
}

// MemoryBytes implements States.
func (s *sumIntervals) MemoryBytes() int64 { return int64(cap(s.n)*8 + cap(s.sum)*16) }
