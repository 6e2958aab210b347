package tdigest

import (
	"cmp"
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

// maxTotal limits the values of a group: weights are exact in a float64.
const maxTotal = 1 << 50

type centroid struct {
	mean   float64
	weight uint64
}

// cell is the state of a group. Values that are not finite are refused.
type cell struct {
	centroids []centroid // in order
	fresh     []float64
	n         uint64 // of the centroids
	min, max  float64
}

// algebra is quantile.Algebra for one compression.
type algebra struct {
	compression float64
	buffer      int
	all         []centroid // on their way to be merged
	words       []uint64   // on their way to bytes and back
}

var _ quantile.Algebra[cell] = &algebra{}

// leastBuffer is the least number of fresh values that are merged at a time.
const leastBuffer = 32

func newAlgebra(compression float64) *algebra {
	return &algebra{compression: compression, buffer: max(int(compression), leastBuffer)}
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a t-digest of more than 2^50 values")
}

// Add implements cells.Algebra.
func (a *algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	x := math.Float64frombits(valuehash.FloatBits(in[0].Floats[row]))
	switch {
	case math.IsInf(x, 0) || x != x:
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "a t-digest takes finite numbers, not %v", x).
			WithHint("approx_quantile takes them.")
	case c.n >= maxTotal:
		return tooMany()
	}
	c.fresh = append(c.fresh, x)
	if len(c.fresh) >= a.buffer { // more where version 1 of the codec wrote them
		a.settle(c)
	}
	return nil
}

// settle merges the fresh values into the centroids.
func (a *algebra) settle(c *cell) {
	if len(c.fresh) == 0 {
		return
	}
	slices.Sort(c.fresh)
	least, most := c.fresh[0], c.fresh[len(c.fresh)-1]
	if c.n == 0 {
		c.min, c.max = least, most
	}
	c.min, c.max = min(c.min, least), max(c.max, most)
	// Both are sorted; of equal ones the lighter goes first.
	a.all = a.all[:0]
	rest := c.centroids
	for _, x := range c.fresh {
		for len(rest) > 0 && (rest[0].mean < x || rest[0].mean == x && rest[0].weight == 1) {
			a.all, rest = append(a.all, rest[0]), rest[1:]
		}
		a.all = append(a.all, centroid{x, 1})
	}
	a.all = append(a.all, rest...)
	c.n += uint64(len(c.fresh))
	c.fresh = c.fresh[:0]
	a.squeeze(c)
}

// squeeze makes the centroids gathered in a.all, which are sorted, those of the
// cell: neighbours merged that together are no wider than one step of
// k1(q) = compression/(2 pi)*asin(2 q - 1).
func (a *algebra) squeeze(to *cell) {
	n := float64(to.n)
	out := append(to.centroids[:0], a.all[0])
	before := uint64(0) // weight of what stands before the last of out
	end := a.reach(0)   // share that what stands up to the last may have
	for _, c := range a.all[1:] {
		last := &out[len(out)-1]
		sum := last.weight + c.weight
		if float64(before+sum)/n <= end {
			last.mean += (c.mean - last.mean) * float64(c.weight) / float64(sum)
			last.weight = sum
			continue
		}
		before += last.weight
		end = a.reach(float64(before) / n)
		out = append(out, c)
	}
	to.centroids = out
}

// reach returns the q that is one step of k1 after one: so there is one sine for a
// centroid, and not one for each value.
func (a *algebra) reach(q float64) float64 {
	angle := math.Asin(2*q-1) + 2*math.Pi/a.compression
	if angle >= math.Pi/2 {
		return 1
	}
	return (math.Sin(angle) + 1) / 2
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
	from := cell{centroids: slices.Clone(src.centroids), fresh: slices.Clone(src.fresh), n: src.n, min: src.min, max: src.max}
	switch {
	case from.n == 0 && len(from.fresh) == 0:
		return nil
	case dst.n == 0 && len(dst.fresh) == 0:
		*dst = from
		return nil
	}
	a.settle(&from)
	a.settle(dst)
	dst.min, dst.max = min(dst.min, from.min), max(dst.max, from.max)
	dst.n += from.n
	a.all = append(append(a.all[:0], dst.centroids...), from.centroids...)
	slices.SortFunc(a.all, func(x, y centroid) int {
		return cmp.Or(cmp.Compare(x.mean, y.mean), cmp.Compare(x.weight, y.weight))
	})
	a.squeeze(dst)
	return nil
}

// The portable form, version 2, behind the version byte:
//
//	fresh      uvarint number; the values, sorted, by words that order as they do, as
//	           statecodec.AppendSorted has them
//	centroids  uvarint number; if there are any: 8 bytes little-endian min, max; the
//	           means as the values are; uvarint weight of each
//
// In version 1 a value and a mean are 8 bytes little-endian, a weight stands behind its
// mean, and there are up to four times as many fresh values.
const (
	codecV1 byte = 1
	codecV2 byte = 2
)

// order returns a word that orders as x does, which is finite.
func order(x float64) uint64 {
	const sign = 1 << 63
	w := valuehash.FloatBits(x)
	if w >= sign {
		return ^w
	}
	return w | sign
}

// unorder is the inverse of order; what is no word of it is r.Fail().
func unorder(r *statecodec.Reader, key uint64) float64 {
	const sign = 1 << 63
	x := math.Float64frombits(^key)
	if key >= sign {
		x = math.Float64frombits(key &^ sign)
	}
	if math.IsInf(x, 0) || x != x || order(x) != key {
		r.Fail()
	}
	return x
}

// Append implements cells.Algebra.
func (a *algebra) Append(dst []byte, c *cell) []byte {
	a.words = a.words[:0]
	for _, x := range c.fresh {
		a.words = append(a.words, order(x))
	}
	slices.Sort(a.words)
	dst = statecodec.AppendSorted(binary.AppendUvarint(dst, uint64(len(a.words))), a.words)
	dst = binary.AppendUvarint(dst, uint64(len(c.centroids)))
	if len(c.centroids) == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.min))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.max))
	a.words = a.words[:0]
	for _, x := range c.centroids {
		a.words = append(a.words, order(x.mean))
	}
	dst = statecodec.AppendSorted(dst, a.words)
	for _, x := range c.centroids {
		dst = binary.AppendUvarint(dst, x.weight)
	}
	return dst
}

// Read implements cells.Algebra.
func (a *algebra) Read(r *statecodec.Reader) cell {
	var c cell
	c.fresh = a.readSorted(r, int(r.Uvarint(4*uint64(a.buffer)-1)))
	n := int(r.Uvarint(uint64(2*a.compression) + 8))
	if n == 0 {
		return c
	}
	c.min, c.max = readFinite(r), readFinite(r)
	var means []float64
	if r.Version() > codecV1 {
		means = a.readSorted(r, n)
	}
	last := c.min
	for i := range n {
		var x centroid
		if r.Version() > codecV1 && i < len(means) {
			x.mean = means[i]
		} else {
			x.mean = readFinite(r)
		}
		x.weight = r.Uvarint(maxTotal)
		if c.n += x.weight; r.Bad() || x.weight == 0 || x.mean < last || x.mean > c.max || c.n > maxTotal {
			r.Fail()
			return cell{}
		}
		c.centroids = append(c.centroids, x)
		last = x.mean
	}
	return c
}

// readSorted reads n finite numbers in order.
func (a *algebra) readSorted(r *statecodec.Reader, n int) []float64 {
	var out []float64
	if r.Version() == codecV1 {
		for i := range n {
			x := readFinite(r)
			if r.Bad() || i > 0 && out[i-1] > x {
				r.Fail()
				return nil
			}
			out = append(out, x)
		}
		return out
	}
	a.words = r.Sorted(a.words[:0], n)
	if r.Bad() {
		return nil
	}
	for _, key := range a.words {
		out = append(out, unorder(r, key))
	}
	return out
}

// readFinite reads a finite number, of which there is one zero.
func readFinite(r *statecodec.Reader) float64 {
	w := r.Word()
	x := math.Float64frombits(w)
	if valuehash.FloatBits(x) != w || math.IsInf(x, 0) || x != x {
		r.Fail()
	}
	return x
}

// Bytes implements cells.Algebra.
func (*algebra) Bytes(c *cell) int64 { return 16*int64(cap(c.centroids)) + 8*int64(cap(c.fresh)) }

// Count implements quantile.Algebra.
func (*algebra) Count(c *cell) uint64 { return c.n + uint64(len(c.fresh)) }

// settled returns the cell with its fresh values merged.
func (a *algebra) settled(c *cell) cell {
	out := cell{centroids: slices.Clone(c.centroids), fresh: slices.Clone(c.fresh), n: c.n, min: c.min, max: c.max}
	a.settle(&out)
	return out
}

// Quantile implements quantile.Algebra: linear between the middles of centroids.
func (a *algebra) Quantile(c *cell, q, _ float64) value.Estimate {
	s := a.settled(c)
	if s.n == 0 {
		return value.Estimate{None: true}
	}
	want := q * float64(s.n)
	x, at := s.min, 0.0 // the point before, and its rank
	sum := 0.0
	for _, c := range s.centroids {
		middle := sum + float64(c.weight)/2
		if want <= middle {
			return heuristic(between(x, c.mean, at, middle, want))
		}
		x, at = c.mean, middle
		sum += float64(c.weight)
	}
	return heuristic(between(x, s.max, at, sum, want))
}

// between interpolates at want between the points (lo, x) and (hi, y).
func between(x, y, lo, hi, want float64) float64 {
	if hi <= lo {
		return y
	}
	return min(max(x+(y-x)*(want-lo)/(hi-lo), x), y)
}

func heuristic(x float64) value.Estimate { return value.Estimate{Value: x, Error: math.NaN()} }

// Rank implements quantile.Algebra.
func (a *algebra) Rank(c *cell, x, _ float64) value.Estimate {
	s := a.settled(c)
	switch {
	case s.n == 0:
		return value.Estimate{None: true}
	case x < s.min:
		return heuristic(0)
	case x >= s.max || x != x:
		return heuristic(1)
	}
	point, at, sum := s.min, 0.0, 0.0
	for _, c := range s.centroids {
		middle := sum + float64(c.weight)/2
		if x < c.mean {
			return heuristic(between(at, middle, point, c.mean, x) / float64(s.n))
		}
		point, at = c.mean, middle
		sum += float64(c.weight)
	}
	return heuristic(between(at, sum, point, s.max, x) / float64(s.n))
}

// Register registers tdigest_quantile, tdigest_agg and tdigest_union.
func Register(r *agg.Registry, fs *value.Families) {
	quantile.Family[cell]{
		Prefix: "tdigest", ErrorKind: agg.Heuristic, Version: codecV2,
		Parameter: agg.Parameter{
			Name: "compression", Default: 100, Min: 10, Max: 10000,
			Meaning: "the number of centroids, about",
		},
		Descriptor: agg.Descriptor{
			Family: "tdigest", StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary,
			Guarantee:    "none: a heuristic that is often good at both ends, and can be arbitrarily wrong",
			Confidence:   "none: values have no limits",
			Citation:     "Dunning, Ertl: Computing extremely accurate quantiles using t-digests, 2019",
			Memory:       "72 bytes a group; 16 bytes a centroid, about compression of them, and up to 8*compression bytes of fresh values",
			PrivacyClass: agg.HoldsValues,
		},
		New: func(compression float64, _ agg.Config, _ string) quantile.Algebra[cell] {
			return newAlgebra(compression)
		},
		Group: func(compression float64, n int64) int64 {
			return min(8*int64(max(compression, leastBuffer)), 12*n) + min(16*int64(compression), 16*n)
		},
	}.Register(r, fs)
}
