package ddsketch

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sketchfn/quantile"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxTotal limits the values of a group, so that sums do not overflow.
const maxTotal = 1 << 60

// Values that have no bin, in their order among the others.
const (
	minusInf = iota
	zero
	plusInf
	nan
	specials
)

// cell is the state of a group.
type cell struct {
	negative, positive store // by absolute value
	special            [specials]uint64
}

func (c *cell) total() uint64 {
	n := c.negative.total + c.positive.total
	for _, x := range c.special {
		n += x
	}
	return n
}

// algebra is quantile.Algebra for one alpha.
type algebra struct {
	alpha, logGamma float64
	perLog          float64 // 1/logGamma
}

var _ quantile.Algebra[cell] = algebra{}

func newAlgebra(alpha float64) algebra {
	logGamma := math.Log1p(2 * alpha / (1 - alpha))
	return algebra{alpha, logGamma, 1 / logGamma}
}

// bin returns the bin of a positive number: the values in (gamma^(bin-1), gamma^bin].
func (a algebra) bin(x float64) int32 { return int32(math.Ceil(math.Log(x) / a.logGamma)) }

// fastBin is bin for numbers that are not subnormal: by a logarithm that is off by
// 1e-10, so that only numbers near the border of two bins need the exact one.
func (a algebra) fastBin(x float64) int32 {
	const (
		shift  = 1 << 24 // makes all bins positive
		border = 1e-5    // 100 times the error, at the smallest alpha
	)
	y := roughLog(x)*a.perLog + shift
	k := int64(y)
	if rest := y - float64(k); rest < border || rest > 1-border {
		return a.bin(x)
	}
	return int32(k+1) - shift
}

// value returns the number that is within alpha of all values of a bin.
func (a algebra) value(bin int32) float64 {
	return min(math.Exp(float64(bin)*a.logGamma)*(1-a.alpha), math.MaxFloat64)
}

// Add implements cells.Algebra.
func (a algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	if c.total() >= maxTotal-1 {
		return tooMany()
	}
	switch x := in[0].Floats[row]; {
	case x != x:
		c.special[nan]++
	case x == 0:
		c.special[zero]++
	case math.IsInf(x, 1):
		c.special[plusInf]++
	case math.IsInf(x, -1):
		c.special[minusInf]++
	case x > 0:
		c.positive.add(a.bin(x), 1)
	default:
		c.negative.add(a.bin(-x), 1)
	}
	return nil
}

// Fold implements cells.Bulk.
func (a algebra) Fold(c []cell, groups []uint32, rows []int32, in *types.Vector, _ []uint64) (bytes int64, failed int, err error) {
	columns := [1]*types.Vector{in}
	for i, g := range groups {
		to, x := &c[g], in.Floats[rows[i]]
		if x >= leastNormal && x <= math.MaxFloat64 && to.total() < maxTotal-1 {
			// Most values are of a bin that there is.
			if at := int(a.fastBin(x)) - int(to.positive.base); uint(at) < uint(len(to.positive.counts)) {
				to.positive.counts[at]++
				to.positive.total++
				continue
			}
		}
		before := a.Bytes(to)
		if err := a.Add(to, columns[:], int(rows[i]), 0); err != nil {
			return bytes, i, err
		}
		bytes += a.Bytes(to) - before
	}
	return bytes, 0, nil
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a quantile sketch of more than 2^60 values")
}

// Merge implements cells.Algebra.
func (algebra) Merge(dst, src *cell) error {
	if dst.total()+src.total() >= maxTotal {
		return tooMany()
	}
	from := *src // dst may be src
	dst.negative.merge(&from.negative)
	dst.positive.merge(&from.positive)
	for i, n := range from.special {
		dst.special[i] += n
	}
	return nil
}

// The portable form, version 1, behind the version byte: uvarint numbers of
// -infinity, 0, infinity and NaN; the bins of negative values; those of positive
// ones.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (algebra) Append(dst []byte, c *cell) []byte {
	for _, n := range c.special {
		dst = binary.AppendUvarint(dst, n)
	}
	return c.positive.append(c.negative.append(dst))
}

// Read implements cells.Algebra.
func (algebra) Read(r *statecodec.Reader) cell {
	var c cell
	for i := range c.special {
		c.special[i] = r.Uvarint(maxTotal)
	}
	c.negative = readStore(r)
	c.positive = readStore(r)
	if c.total() >= maxTotal {
		r.Fail()
	}
	return c
}

// Bytes implements cells.Algebra.
func (algebra) Bytes(c *cell) int64 {
	return 8 * int64(cap(c.negative.counts)+cap(c.positive.counts))
}

// Count implements quantile.Algebra.
func (algebra) Count(c *cell) uint64 { return c.total() }

// Quantile implements quantile.Algebra.
func (a algebra) Quantile(c *cell, q, _ float64) value.Estimate {
	n := c.total()
	if n == 0 {
		return value.Estimate{None: true}
	}
	rank := quantile.RankOf(q, n)
	if rank <= c.special[minusInf] {
		return exact(math.Inf(-1))
	}
	rank -= c.special[minusInf]
	if rank <= c.negative.total {
		e := a.inStore(&c.negative, c.negative.total-rank+1)
		return value.Estimate{Value: -e.Value, Lo: -e.Hi, Hi: -e.Lo, Error: e.Error}
	}
	rank -= c.negative.total
	if rank <= c.special[zero] {
		return exact(0)
	}
	rank -= c.special[zero]
	if rank <= c.positive.total {
		return a.inStore(&c.positive, rank)
	}
	if rank -= c.positive.total; rank <= c.special[plusInf] {
		return exact(math.Inf(1))
	}
	return exact(math.NaN())
}

func exact(x float64) value.Estimate { return value.Estimate{Value: x, Lo: x, Hi: x} }

// inStore returns the value of a rank, counted from the smallest bin.
func (a algebra) inStore(s *store, rank uint64) value.Estimate {
	for i, n := range s.counts {
		if rank > n {
			rank -= n
			continue
		}
		x := a.value(s.base + int32(i))
		if i == 0 && s.collapsed {
			return value.Estimate{Value: x, Error: math.NaN()}
		}
		const rounding = 1e-12 // of logarithms
		return value.Estimate{Value: x, Lo: x / (1 + a.alpha) * (1 - rounding), Hi: min(x/(1-a.alpha)*(1+rounding), math.MaxFloat64), Error: a.alpha}
	}
	panic("ddsketch: a rank beyond the total")
}

// Rank implements quantile.Algebra. The bin of x may be below or above it.
func (a algebra) Rank(c *cell, x, _ float64) value.Estimate {
	n := c.total()
	if n == 0 {
		return value.Estimate{None: true}
	}
	lo, hi := c.atMost(a, x)
	e := value.Estimate{Lo: float64(lo) / float64(n), Hi: float64(hi) / float64(n)}
	e.Value = (e.Lo + e.Hi) / 2
	e.Error = (e.Hi - e.Lo) / 2
	return e
}

// atMost returns limits of the number of values that are at most x.
func (c *cell) atMost(a algebra, x float64) (lo, hi uint64) {
	below := c.special[minusInf]
	switch {
	case x != x:
		return c.total(), c.total()
	case math.IsInf(x, -1):
		return below, below
	case math.IsInf(x, 1):
		n := c.total() - c.special[nan]
		return n, n
	case x < 0:
		inner, outer := c.negative.below(a.bin(-x))
		return below + c.negative.total - outer, below + c.negative.total - inner
	}
	below += c.negative.total + c.special[zero]
	if x == 0 {
		return below, below
	}
	inner, outer := c.positive.below(a.bin(x))
	return below + inner, below + outer
}

// below returns the numbers of values in the bins below one, and with it. Bins
// that were counted together are all in the first.
func (s *store) below(bin int32) (without, with uint64) {
	if s.collapsed && bin < s.base {
		return 0, s.counts[0]
	}
	for i, n := range s.counts {
		switch b := s.base + int32(i); {
		case b < bin:
			without += n
			with += n
		case b == bin:
			with += n
		}
	}
	return without, with
}

// Register registers dd_quantile, dd_agg and dd_union.
func Register(r *agg.Registry, fs *value.Families) {
	quantile.Family[cell]{
		Prefix: "dd", ErrorKind: agg.WorstCase, Version: codecV1,
		Parameter: agg.Parameter{
			Name: "alpha", Default: 0.01, Min: 0.0005, Max: 0.25,
			Meaning: "the relative error of quantiles",
		},
		Descriptor: agg.Descriptor{
			Family: "ddsketch", StreamModel: agg.CashRegister, MergeAlgebra: agg.CommutativeMonoid,
			Guarantee:    "|quantile - true quantile| ≤ alpha*|true quantile|, unless the values of one sign span a factor of more than ((1+alpha)/(1-alpha))^2048, e^41 at alpha 0.01; those nearest to 0 then have no limits",
			Confidence:   "1: the bound is worst case",
			Citation:     "Masson, Rim, Lee: DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees, 2019",
			Memory:       "128 bytes a group; 8 bytes a bin from the smallest to the largest value of a sign, 2048 bins at most",
			PrivacyClass: agg.Aggregated,
		},
		New: func(alpha float64, _ agg.Config, _ string) quantile.Algebra[cell] { return newAlgebra(alpha) },
		// A spread of three decades is usual.
		Group: func(alpha float64, n int64) int64 {
			return 8 * min(n*4, int64(math.Log(1000)/newAlgebra(alpha).logGamma), maxBins)
		},
	}.Register(r, fs)
}
