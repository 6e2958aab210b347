package gk

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/quantile"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxTotal limits the values of a group.
const maxTotal = 1 << 56

// maxTuples limits what is read; a summary that is pruned has far less.
const maxTuples = 1 << 20

// cell is the state of a group: a summary, and values that are not in it yet.
type cell struct {
	summary
	fresh []float64
}

// algebra is quantile.Algebra for one epsilon.
type algebra struct {
	epsilon float64
	buffer  int // values gathered before they are merged
	fresh   summary
	merged  summary
}

var _ quantile.Algebra[cell] = &algebra{}

func newAlgebra(epsilon float64) *algebra {
	return &algebra{epsilon: epsilon, buffer: max(64, int(1/epsilon))}
}

// Add implements cells.Algebra.
func (a *algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	if c.n >= maxTotal {
		return tooMany()
	}
	c.fresh = append(c.fresh, math.Float64frombits(valuehash.FloatBits(in[0].Floats[row]))) // one zero, one NaN
	if len(c.fresh) == a.buffer {
		a.settle(c)
	}
	return nil
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a quantile sketch of more than 2^56 values")
}

// settle merges the fresh values.
func (a *algebra) settle(c *cell) {
	if len(c.fresh) == 0 {
		return
	}
	slices.SortFunc(c.fresh, types.CompareFloat)
	a.fresh.exactly(c.fresh)
	a.join(c, a.fresh)
	c.fresh = c.fresh[:0]
}

// join merges a summary into that of a cell, and prunes it.
func (a *algebra) join(c *cell, other summary) {
	a.merged.merge(c.summary, other)
	a.merged.prune(a.epsilon)
	c.n = a.merged.n
	c.tuples = append(c.tuples[:0], a.merged.tuples...)
}

// whole returns the summary of all values of a cell, pruned.
func (a *algebra) whole(c *cell) summary {
	if len(c.fresh) == 0 {
		return c.summary
	}
	out := cell{summary: summary{slices.Clone(c.tuples), c.n}, fresh: slices.Clone(c.fresh)}
	a.settle(&out)
	return out.summary
}

// Merge implements cells.Algebra. Few values stay fresh.
func (a *algebra) Merge(dst, src *cell) error {
	if dst.n+src.n >= maxTotal {
		return tooMany()
	}
	if dst.n == 0 && src.n == 0 && len(dst.fresh)+len(src.fresh) < a.buffer {
		dst.fresh = append(dst.fresh, src.fresh...)
		return nil
	}
	if len(src.fresh)+len(src.tuples) == 0 {
		return nil
	}
	if len(dst.fresh)+len(dst.tuples) == 0 {
		dst.summary = summary{slices.Clone(src.tuples), src.n}
		dst.fresh = slices.Clone(src.fresh)
		return nil
	}
	other := a.whole(src)
	a.settle(dst)
	a.join(dst, other)
	return nil
}

// The portable form, version 1, behind the version byte:
//
//	fresh   uvarint number; the sorted values, as 8 bytes little-endian each
//	tuples  uvarint number; for each 8 bytes little-endian value, uvarint by how
//	        much its low is above that of the one before, uvarint high - low
//	n       uvarint number of values that the tuples stand for; absent without any
const codecV1 byte = 1

// Append implements cells.Algebra.
func (*algebra) Append(dst []byte, c *cell) []byte {
	fresh := slices.Clone(c.fresh)
	slices.SortFunc(fresh, types.CompareFloat)
	dst = binary.AppendUvarint(dst, uint64(len(fresh)))
	for _, x := range fresh {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.tuples)))
	last := uint64(0)
	for _, t := range c.tuples {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(t.value))
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, t.low-last), t.high-t.low)
		last = t.low
	}
	if len(c.tuples) > 0 {
		dst = binary.AppendUvarint(dst, c.n)
	}
	return dst
}

// Read implements cells.Algebra.
func (a *algebra) Read(r *statecodec.Reader) cell {
	var c cell
	for range int(r.Uvarint(uint64(a.buffer - 1))) {
		x := readFloat(r)
		if r.Bad() || len(c.fresh) > 0 && types.CompareFloat(c.fresh[len(c.fresh)-1], x) > 0 {
			r.Fail()
			return cell{}
		}
		c.fresh = append(c.fresh, x)
	}
	n := int(r.Uvarint(maxTuples))
	if n == 0 {
		return c
	}
	last := tuple{}
	for i := range n {
		t := tuple{value: readFloat(r)}
		t.low = last.low + r.Uvarint(maxTotal)
		t.high = t.low + r.Uvarint(maxTotal)
		if r.Bad() || t.low <= last.low || t.high > maxTotal || i > 0 && (types.CompareFloat(last.value, t.value) > 0 || t.high < last.high) {
			r.Fail()
			return cell{}
		}
		c.tuples = append(c.tuples, t)
		last = t
	}
	c.n = r.Uvarint(maxTotal - 1)
	if first := c.tuples[0]; first.low != 1 || first.high != 1 || last.low != c.n || last.high != c.n {
		r.Fail()
	}
	return c
}

// readFloat reads a float of which there is one zero and one NaN.
func readFloat(r *statecodec.Reader) float64 {
	w := r.Word()
	x := math.Float64frombits(w)
	if valuehash.FloatBits(x) != w {
		r.Fail()
	}
	return x
}

// Bytes implements cells.Algebra.
func (*algebra) Bytes(c *cell) int64 { return 24*int64(cap(c.tuples)) + 8*int64(cap(c.fresh)) }

// Count implements quantile.Algebra.
func (*algebra) Count(c *cell) uint64 { return c.n + uint64(len(c.fresh)) }

// Quantile implements quantile.Algebra.
func (a *algebra) Quantile(c *cell, q, _ float64) value.Estimate {
	s := a.whole(c)
	if s.n == 0 {
		return value.Estimate{None: true}
	}
	lo, x, hi := s.limits(quantile.RankOf(q, s.n))
	return value.Estimate{Value: x, Lo: lo, Hi: hi, Error: a.declared(s)}
}

// declared is epsilon, 0 while all values are kept.
func (a *algebra) declared(s summary) float64 {
	if uint64(len(s.tuples)) == s.n {
		return 0
	}
	return a.epsilon
}

// Rank implements quantile.Algebra.
func (a *algebra) Rank(c *cell, x, _ float64) value.Estimate {
	s := a.whole(c)
	if s.n == 0 {
		return value.Estimate{None: true}
	}
	lo, hi := s.atMost(x)
	e := value.Estimate{Lo: float64(lo) / float64(s.n), Hi: float64(hi) / float64(s.n), Error: a.declared(s)}
	e.Value = (e.Lo + e.Hi) / 2
	return e
}

// Register registers gk_quantile, gk_agg and gk_union.
func Register(r *agg.Registry, fs *value.Families) {
	quantile.Family[cell]{
		Prefix: "gk", ErrorKind: agg.WorstCase, Version: codecV1,
		Parameter: agg.Parameter{
			Name: "epsilon", Default: 0.01, Min: 0.0005, Max: 0.25,
			Meaning: "the error of ranks as a share of all values",
		},
		Descriptor: agg.Descriptor{
			Family: "gk", StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary,
			Guarantee:    "the rank of a quantile is within epsilon*n of the one asked for, after any merges",
			Confidence:   "1: the bound is worst case; Lo and Hi are kept values that are certain to be before and behind",
			Citation:     "Greenwald, Khanna: Space-efficient online computation of quantile summaries, 2001; Luo, Wang, Yi, Cormode: Quantiles over data streams, 2016",
			Memory:       "56 bytes a group; 24 bytes a kept value, about 1/epsilon of them, up to some 7/epsilon after many merges, and 8/epsilon bytes of fresh values",
			PrivacyClass: agg.HoldsValues,
		},
		New: func(epsilon float64, _ agg.Config, _ string) quantile.Algebra[cell] { return newAlgebra(epsilon) },
		Group: func(epsilon float64, n int64) int64 {
			return min(8*int64(newAlgebra(epsilon).buffer), 8*n) + min(24*int64(1/epsilon), 24*n)
		},
	}.Register(r, fs)
}
