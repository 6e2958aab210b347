package varopt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// item is a row of the sample. A light one stands for others, and weighs the
// threshold.
type item struct {
	weight float64
	light  bool
	value  []byte // types.AppendKey
}

// state is the state of a group.
type state struct {
	rows      uint64 // that were seen
	total     float64
	threshold float64 // 0 until rows were left out
	items     []item
	bytes     int64 // of the values
}

const (
	maxRows  = 1 << 53
	maxTotal = 1e300
)

// shape is cells.Algebra for samples of k rows of values of a type.
type shape struct {
	k      int
	typ    types.Type
	hasher *valuehash.Hasher
}

// Add implements cells.Algebra.
func (s shape) Add(c *state, in []*types.Vector, row int, _ uint64) error {
	w := in[1].Floats[row]
	if !(w > 0) || math.IsInf(w, 1) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "a weight of a sample must be a finite number above 0, not %v", w)
	}
	if err := c.admit(1, w); err != nil {
		return err
	}
	c.rows, c.total = c.rows+1, c.total+w
	c.append(item{w, false, types.AppendKey(nil, in[0], row)})
	s.compact(c)
	return nil
}

func (c *state) append(i item) {
	c.items = append(c.items, i)
	c.bytes += int64(cap(i.value))
}

func (c *state) admit(rows uint64, total float64) error {
	if c.rows+rows > maxRows {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a sample of more than 2^53 rows")
	}
	if !(c.total+total <= maxTotal) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "the weights of a sample are more than %g", maxTotal)
	}
	return nil
}

// Merge implements cells.Algebra. Where both left out rows, both have k or more,
// so that the sample is drawn again and there is one threshold.
func (s shape) Merge(dst, src *state) error {
	if src.rows == 0 {
		return nil
	}
	if err := dst.admit(src.rows, src.total); err != nil {
		return err
	}
	first := dst.rows == 0
	dst.rows, dst.total, dst.threshold = dst.rows+src.rows, dst.total+src.total, max(dst.threshold, src.threshold)
	for _, i := range src.items {
		dst.append(i)
	}
	if !first {
		slices.SortFunc(dst.items, compare)
		s.compact(dst)
	}
	return nil
}

// compare orders rows by weight, the largest first.
func compare(a, b item) int {
	if c := cmp.Compare(b.weight, a.weight); c != 0 {
		return c
	}
	if a.light != b.light {
		if a.light {
			return 1
		}
		return -1
	}
	return bytes.Compare(a.value, b.value)
}

// compact draws k of 2k or more rows. Heavy are those above the threshold t, at
// which the others' weights over t add up to the number of places that are left.
func (s shape) compact(c *state) {
	if len(c.items) < 2*s.k {
		return
	}
	slices.SortFunc(c.items, compare)
	rest := 0.0 // of the weights from heavy on, the small ones first
	for i := len(c.items) - 1; i >= s.k; i-- {
		rest += c.items[i].weight
	}
	heavy := s.k - 1
	rest += c.items[heavy].weight
	for heavy > 0 && c.items[heavy-1].weight*float64(s.k-heavy) <= rest {
		heavy--
		rest += c.items[heavy].weight
	}
	c.threshold = max(c.threshold, rest/float64(s.k-heavy))
	kept := s.draw(c.items[heavy:], s.k-heavy, c.threshold, s.hasher.Word(c.rows^math.Float64bits(c.threshold)))
	items := append(make([]item, 0, 2*s.k), c.items[:heavy]...)
	for _, i := range kept {
		items = append(items, item{c.threshold, true, i.value})
	}
	c.items, c.bytes = items, 0
	for _, i := range items {
		c.bytes += int64(cap(i.value))
	}
}

// draw keeps n of the items, each with the probability weight/threshold, which add
// up to n: two at a time, one of which gets a probability of 0 or 1.
func (s shape) draw(items []item, n int, threshold float64, coins uint64) []item {
	var kept []item
	open, p := items[0], items[0].weight/threshold
	for i, next := range items[1:] {
		q := next.weight / threshold
		coin := (float64(valuehash.Row(coins, i)>>11) + 0.5) / (1 << 53)
		if sum := p + q; sum < 1 { // one is out
			if coin*sum < q {
				open = next
			}
			p = sum
		} else { // one is in
			if coin*(2-sum) < 1-q {
				open, next = next, open // with p: open's chance is passed on
			}
			kept = append(kept, next)
			p = sum - 1
		}
	}
	if len(kept) < n { // what is left has the probability 1, but for rounding
		kept = append(kept, open)
	}
	return kept[:n]
}

// The portable form, version 1, behind the version byte: uvarint rows seen, 0 for
// the empty state; else the total and the threshold, 8 bytes little-endian each;
// uvarint number of items; for each a byte, 1 if it stands for others; its weight, 8
// bytes, if it does not; uvarint length of the value, and the value as a key.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (shape) Append(dst []byte, c *state) []byte {
	if dst = binary.AppendUvarint(dst, c.rows); c.rows == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.total))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.threshold))
	dst = binary.AppendUvarint(dst, uint64(len(c.items)))
	for _, i := range c.items {
		if i.light {
			dst = append(dst, 1)
		} else {
			dst = binary.LittleEndian.AppendUint64(append(dst, 0), math.Float64bits(i.weight))
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(i.value))), i.value...)
	}
	return dst
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) state {
	c := state{rows: r.Uvarint(maxRows)}
	if c.rows == 0 {
		return c
	}
	c.total, c.threshold = math.Float64frombits(r.Word()), math.Float64frombits(r.Word())
	if !(c.total > 0 && c.total <= maxTotal && c.threshold >= 0 && c.threshold <= maxTotal) {
		r.Fail()
	}
	sum := 0.0
	n := int(r.Uvarint(uint64(2*s.k - 1)))
	for range n {
		i := s.readItem(r, c.threshold)
		if r.Bad() {
			return state{}
		}
		sum += i.weight
		c.append(i)
	}
	sampled := c.threshold > 0
	if sampled != (c.rows > uint64(n)) || sampled && n < s.k || !sampled && c.rows < uint64(n) || math.Abs(sum-c.total) > c.total*1e-6 {
		r.Fail()
		return state{}
	}
	return c
}

func (s shape) readItem(r *statecodec.Reader, threshold float64) item {
	i := item{weight: threshold}
	switch r.Byte() {
	case 0:
		if i.weight = math.Float64frombits(r.Word()); !(i.weight > 0 && i.weight <= maxTotal) {
			r.Fail()
		}
	case 1:
		if i.light = true; threshold == 0 {
			r.Fail()
		}
	default:
		r.Fail()
	}
	i.value = bytes.Clone(r.Bytes(int(r.Uvarint(uint64(len(r.Rest()))))))
	if _, ok := ranked.Decode(s.typ, i.value); !ok {
		r.Fail()
	}
	return i
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *state) int64 { return c.bytes + int64(cap(c.items))*int64(unsafe.Sizeof(item{})) }
