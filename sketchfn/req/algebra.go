package req

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/quantile"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxTotal limits the values of a group, so that maxLevels are enough.
const maxTotal = 1 << 44

var _ quantile.Algebra[cell] = &algebra{}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a relative-error quantile sketch of more than 2^44 values")
}

// Add implements cells.Algebra.
func (a *algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	if c.n >= maxTotal {
		return tooMany()
	}
	x := math.Float64frombits(valuehash.FloatBits(in[0].Floats[row]))
	if c.n == 0 {
		c.levels, c.min, c.max = make([]compactor, 1), x, x
		c.room = a.totalCapacity(c)
	}
	c.n++
	c.extend(x, x)
	c.levels[0].values = append(c.levels[0].values, x)
	if c.room--; c.room == 0 {
		a.compress(c)
	}
	return nil
}

// extend makes the extremes reach from lo to hi.
func (c *cell) extend(lo, hi float64) {
	if types.CompareFloat(lo, c.min) < 0 {
		c.min = lo
	}
	if types.CompareFloat(hi, c.max) > 0 {
		c.max = hi
	}
}

// Merge implements cells.Algebra.
func (a *algebra) Merge(dst, src *cell) error {
	if src.n == 0 {
		return nil
	}
	if dst.n+src.n >= maxTotal {
		return tooMany()
	}
	if dst.n == 0 {
		dst.min, dst.max = src.min, src.max
	}
	from := *src // dst may be src
	levels := make([]compactor, max(len(dst.levels), len(from.levels)))
	for h := range levels {
		var x, y compactor
		if h < len(dst.levels) {
			x = dst.levels[h]
		}
		if h < len(from.levels) {
			y = from.levels[h]
		}
		levels[h] = compactor{state: x.state | y.state, coin: x.coin != y.coin}
		if h == 0 {
			levels[h].values = append(slices.Clone(x.values), y.values...)
		} else {
			levels[h].values = mergeSorted(slices.Clone(x.values), y.values)
			levels[h].sorted = len(levels[h].values)
		}
	}
	dst.extend(from.min, from.max)
	dst.n += from.n
	dst.coins += from.coins
	dst.levels = levels
	a.compress(dst)
	return nil
}

// The portable form, version 1, behind the version byte:
//
//	n       uvarint; what follows is absent at 0
//	coins   uvarint
//	min, max  8 bytes little-endian each
//	levels  uvarint number; for each: uvarint state*2+coin, uvarint number of values,
//	        the sorted values, 8 bytes little-endian each
const codecV1 byte = 1

// Append implements cells.Algebra.
func (*algebra) Append(dst []byte, c *cell) []byte {
	dst = binary.AppendUvarint(dst, c.n)
	if c.n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, c.coins)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.min))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.max))
	dst = binary.AppendUvarint(dst, uint64(len(c.levels)))
	for h := range c.levels {
		level := &c.levels[h]
		dst = binary.AppendUvarint(dst, level.state<<1|uint64(start(level.coin)))
		dst = binary.AppendUvarint(dst, uint64(len(level.values)))
		values := level.values
		if h == 0 {
			values = slices.Clone(values)
			slices.SortFunc(values, types.CompareFloat)
		}
		for _, x := range values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	}
	return dst
}

// Read implements cells.Algebra.
func (a *algebra) Read(r *statecodec.Reader) cell {
	c := cell{n: r.Uvarint(maxTotal)}
	if c.n == 0 {
		return c
	}
	c.coins = r.Uvarint(1<<62 - 1)
	c.min, c.max = readFloat(r), readFloat(r)
	weight := uint64(0)
	for h := range int(r.Uvarint(maxLevels)) {
		level, ok := a.readLevel(r, &c)
		if weight += uint64(len(level.values)) << h; !ok || weight > c.n {
			r.Fail()
			return cell{}
		}
		c.levels = append(c.levels, level)
	}
	if weight != c.n {
		r.Fail()
		return cell{}
	}
	return c
}

// readLevel reads a level. Merges may leave more than its capacity in it, but
// never more than that of all levels.
func (a *algebra) readLevel(r *statecodec.Reader, c *cell) (compactor, bool) {
	word := r.Uvarint(1<<maxLevels - 1)
	level := compactor{state: word >> 1, coin: word&1 == 1}
	n := int(r.Uvarint(uint64(len(r.Rest()) / 8)))
	for i := range n {
		x := readFloat(r)
		if r.Bad() || i > 0 && types.CompareFloat(level.values[i-1], x) > 0 || types.CompareFloat(x, c.min) < 0 || types.CompareFloat(x, c.max) > 0 {
			return level, false
		}
		level.values = append(level.values, x)
	}
	level.sorted = len(level.values)
	return level, !r.Bad()
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
func (*algebra) Bytes(c *cell) int64 {
	n := int64(cap(c.levels)) * 48
	for h := range c.levels {
		n += 8 * int64(cap(c.levels[h].values))
	}
	return n
}

// Count implements quantile.Algebra.
func (*algebra) Count(c *cell) uint64 { return c.n }

// rankLimits returns limits of a true rank, a share of the values, that is
// estimated as r: the smaller of an error relative to the share above and of a
// fixed one, with the constants that Apache DataSketches measured.
func (a *algebra) rankLimits(r, confidence float64) (lo, hi float64) {
	z := limits.Deviations(confidence)
	relative := math.Sqrt(0.0512/firstSections) / float64(a.k) * (1 - r)
	const fixed = 0.084
	e := z * min(relative, fixed/float64(a.k))
	return max(0, r-e), min(1, r+e)
}

// declared is the error in ranks in the middle; in relation to the share of values
// above, it is nowhere larger than twice that.
func (a *algebra) declared(c *cell, confidence float64) float64 {
	if len(c.levels) == 1 {
		return 0
	}
	_, hi := a.rankLimits(0.5, confidence)
	return hi - 0.5
}

// Quantile implements quantile.Algebra.
func (a *algebra) Quantile(c *cell, q, confidence float64) value.Estimate {
	if c.n == 0 {
		return value.Estimate{None: true}
	}
	view := c.view()
	at := func(q float64) float64 {
		rank := quantile.RankOf(q, c.n)
		switch rank {
		case 1:
			return c.min
		case c.n:
			return c.max
		}
		i, _ := slices.BinarySearchFunc(view, rank, func(w weighted, rank uint64) int {
			if w.weight < rank {
				return -1
			}
			return 1
		})
		return view[i].value
	}
	e := value.Estimate{Value: at(q), Error: a.declared(c, confidence)}
	e.Lo, e.Hi = e.Value, e.Value
	if e.Error > 0 {
		lo, hi := a.rankLimits(q, confidence)
		e.Lo, e.Hi = at(lo), at(hi)
	}
	return e
}

// Rank implements quantile.Algebra.
func (a *algebra) Rank(c *cell, x, confidence float64) value.Estimate {
	switch {
	case c.n == 0:
		return value.Estimate{None: true}
	case types.CompareFloat(x, c.min) < 0:
		return value.Estimate{}
	case types.CompareFloat(x, c.max) >= 0:
		return value.Estimate{Value: 1, Lo: 1, Hi: 1}
	}
	sum := uint64(0)
	for h := range c.levels {
		for _, y := range c.levels[h].values {
			if types.CompareFloat(y, x) <= 0 {
				sum += 1 << h
			}
		}
	}
	r := float64(sum) / float64(c.n)
	e := value.Estimate{Value: r, Lo: r, Hi: r}
	if len(c.levels) > 1 {
		e.Lo, e.Hi = a.rankLimits(r, confidence)
		e.Error = e.Hi - r
	}
	return e
}

// Register registers req_quantile, req_agg and req_union.
func Register(r *agg.Registry, fs *value.Families) {
	quantile.Family[cell]{
		Prefix: "req", ErrorKind: agg.Probabilistic, Whole: true, Version: codecV1,
		Parameter: agg.Parameter{
			Name: "k", Default: 12, Min: 4, Max: 1024,
			Meaning: "the size of a section; the relative error of ranks is 0.13/k standard deviations",
		},
		Descriptor: agg.Descriptor{
			Family: "req", StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary,
			Guarantee:    "the standard error of the rank r is the smaller of 0.13/k*(1-r) and 0.084/k; exact up to 6 k values",
			Confidence:   "the error is z(confidence) standard errors; Lo and Hi are the values at the ranks less and plus it",
			Citation:     "Cormode, Karnin, Liberty, Thaler, Veselý: Relative error streaming quantiles, 2021; the constants are those of Apache DataSketches",
			Memory:       "56 bytes a group; 8 to 16 bytes a value up to 6 k values, then about 50 k*log2(n/(6 k)) bytes",
			PrivacyClass: agg.HoldsValues,
		},
		New: func(k float64, cfg agg.Config, identity string) quantile.Algebra[cell] {
			return newAlgebra(int(k)&^1, cfg, identity)
		},
		Group: func(k float64, n int64) int64 {
			full := int64(6 * k)
			if n <= full {
				return 40 + 12*n
			}
			return int64(50 * k * (1 + math.Log2(float64(n)/float64(full))))
		},
	}.Register(r, fs)
}
