package exec

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/sql/types"
)

// A grid has up to minGridSlots slots, or so many for each row that was put in, but at
// most maxGridSlots; one of dictionaries alone may have maxDictSlots at once.
const (
	minGridSlots = 1 << 16
	slotsPerRow  = 20
	maxGridSlots = 1 << 23
	maxDictSlots = 1 << 20
)

// miss marks what is in no slot.
const miss = 1 << 31

// grid numbers distinct rows of keys by their place in an array that has one dimension
// for each key: the codes of a dictionary, or integers of a narrow range, which may be
// multiples of something, as days are of timestamps (array aggregation; Graefe: Query
// evaluation techniques for large databases, 1993).
type grid struct {
	axes  []axis
	slots []uint32 // number + 1
	n     int
	rows  int // put in
}

// axis is the places of one key: 0 is NULL, then come the values.
type axis struct {
	dict   *types.Dict // nil: integers
	base   int64       // of the first place, of integers
	step   uint64      // between two places; 0 as long as there is one value at most
	size   int         // places
	stride uint32
}

// newGrid returns a grid for keys of this kind, or nil if there can be none.
func newGrid(cols []*types.Vector) *grid {
	g := &grid{}
	for _, c := range cols {
		if c.Dict == nil && c.Type.Kind() != types.KindInt {
			return nil
		}
		a := axis{dict: c.Dict, size: 1}
		if c.Dict != nil {
			a.size = c.Dict.Len() + 1
		}
		g.axes = append(g.axes, a)
	}
	if len(cols) == 0 || !g.layOut() {
		return nil
	}
	return g
}

func (g *grid) memory() int64 { return int64(4 * cap(g.slots)) }

// layOut makes the slots for the sizes of the axes, and moves what is there; false if
// they would be too many.
func (g *grid) layOut() bool { return g.moveTo(g.axes) }

func (g *grid) moveTo(axes []axis) bool {
	total, limit, dicts := 1, max(minGridSlots, min(slotsPerRow*g.rows, maxGridSlots)), true
	for i := range axes {
		dicts = dicts && axes[i].dict != nil
		if total > maxGridSlots/axes[i].size {
			return false
		}
		axes[i].stride = uint32(total)
		total *= axes[i].size
	}
	if dicts {
		limit = max(limit, maxDictSlots)
	}
	if total > limit {
		return false
	}
	old, slots := g.slots, make([]uint32, total)
	for s, number := range old {
		if number == 0 {
			continue
		}
		to := uint32(0)
		for i := range axes {
			to += axes[i].stride * uint32(axes[i].moved(&g.axes[i], s))
		}
		slots[to] = number
	}
	g.axes, g.slots = axes, slots
	return true
}

// placeOf is the place on an axis of a slot.
func (a *axis) placeOf(slot int) int { return slot / int(a.stride) % a.size }

// moved is the place of what has a slot of the axis as it was.
func (a *axis) moved(was *axis, slot int) int {
	p := was.placeOf(slot)
	if p == 0 || a.dict != nil {
		return p
	}
	return a.place(was.value(p))
}

// value is the integer at a place.
func (a *axis) value(place int) int64 { return a.base + int64(uint64(place-1)*a.step) }

// place is that of an integer which the axis has.
func (a *axis) place(v int64) int {
	if a.step == 0 {
		return 1
	}
	return int((uint64(v)-uint64(a.base))/a.step) + 1
}

// put appends the numbers of the rows. Rows that bring new keys are appended to fresh.
// It reports false, and does nothing, where the keys do not fit.
func (g *grid) put(cols []*types.Vector, rows int, numbers []uint32, fresh []int32) ([]uint32, []int32, bool) {
	at := len(numbers)
	g.rows += rows
	for {
		var missed bool
		numbers, missed = g.place(cols, rows, numbers[:at])
		if !missed {
			break
		}
		if !g.extend(cols, rows) {
			return numbers[:at], fresh, false
		}
	}
	for i, s := range numbers[at:] {
		n := g.slots[s]
		if n == 0 {
			g.n++
			n = uint32(g.n)
			g.slots[s] = n
			fresh = append(fresh, int32(i))
		}
		numbers[at+i] = n - 1
	}
	return numbers, fresh, true
}

// look appends the numbers of the rows, -1 for keys that are not there.
func (g *grid) look(cols []*types.Vector, rows int, slots []uint32, numbers []int32) ([]uint32, []int32) {
	slots, _ = g.place(cols, rows, slots[:0])
	at := len(numbers)
	numbers = slices.Grow(numbers, rows)[:at+rows]
	for i, s := range slots {
		number := int32(-1)
		if s&miss == 0 {
			number = int32(g.slots[s]) - 1
		}
		numbers[at+i] = number
	}
	return slots, numbers
}

// place appends the slots of the rows; missed says that some have none.
func (g *grid) place(cols []*types.Vector, rows int, slots []uint32) (all []uint32, missed bool) {
	at := len(slots)
	slots = slices.Grow(slots, rows)[:at+rows]
	clear(slots[at:])
	for k := range g.axes {
		if g.axes[k].add(cols[k], slots[at:]) {
			missed = true
		}
	}
	return slots, missed
}

// add adds the places of a column, times the stride, to the slots of the rows.
func (a *axis) add(c *types.Vector, slots []uint32) (missed bool) {
	if a.dict != nil {
		return a.addCodes(c, slots)
	}
	values := c.Ints[:len(slots)]
	if len(c.Nulls) == 0 && a.step == 1 {
		base, size := uint64(a.base), uint64(a.size-1)
		for i, v := range values {
			d := uint64(v) - base
			if d >= size {
				missed = true
				slots[i] |= miss
				continue
			}
			slots[i] += a.stride * uint32(d+1)
		}
		return missed
	}
	last, place, known := int64(0), uint32(0), false
	for i, v := range values {
		if c.Nulls.Has(i) {
			continue
		}
		if !known || v != last {
			last, known = v, true
			place = a.find(v)
		}
		if place == miss {
			slots[i] |= miss
			missed = true
			continue
		}
		slots[i] += a.stride * place
	}
	return missed
}

// find is the place of an integer, or miss.
func (a *axis) find(v int64) uint32 {
	d := uint64(v) - uint64(a.base)
	switch {
	case a.size == 1:
		return miss
	case a.step == 0 && d == 0:
		return 1
	case a.step == 0:
		return miss
	}
	q := d / a.step
	if q >= uint64(a.size-1) || q*a.step != d {
		return miss
	}
	return uint32(q) + 1
}

func (a *axis) addCodes(c *types.Vector, slots []uint32) (missed bool) {
	codes := c.Codes[:len(slots)]
	if c.Dict.Len() < a.size && len(c.Nulls) == 0 {
		for i, code := range codes {
			slots[i] += a.stride * (uint32(code) + 1)
		}
		return false
	}
	for i, code := range codes {
		switch {
		case c.Nulls.Has(i):
		case int(code)+1 >= a.size:
			slots[i] |= miss
			missed = true
		default:
			slots[i] += a.stride * (uint32(code) + 1)
		}
	}
	return missed
}

// extend makes the axes as long as the keys need; false if that are too many slots. It
// makes those that have grown before longer than that, so that it is seldom called.
func (g *grid) extend(cols []*types.Vector, rows int) bool {
	axes := make([]axis, len(g.axes))
	for k := range axes {
		axes[k] = g.axes[k]
		if !axes[k].extend(cols[k], rows) {
			return false
		}
	}
	return g.moveTo(axes)
}

func (a *axis) extend(c *types.Vector, rows int) bool {
	if a.dict != nil {
		if n := c.Dict.Len() + 1; n > a.size {
			a.size = n + n/4
		}
		return true
	}
	lo, hi, step := int64(math.MaxInt64), int64(math.MinInt64), a.step
	if a.size > 1 {
		lo, hi = a.base, a.value(a.size-1)
	}
	was := [2]int64{lo, hi}
	for i, v := range c.Ints[:rows] {
		if !c.Nulls.Has(i) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return true // only NULLs so far
	}
	for i, v := range c.Ints[:rows] {
		if !c.Nulls.Has(i) && step != 1 {
			step = gcd(step, uint64(v)-uint64(lo))
		}
	}
	if a.size > 1 {
		step = gcd(step, uint64(a.base)-uint64(lo))
	}
	width := uint64(hi) - uint64(lo)
	if step > 0 {
		width /= step
	}
	if width >= maxGridSlots {
		return false
	}
	if step > 0 && a.size > 1 && uint64(hi)-uint64(lo) < math.MaxInt64/4 { // as much again on the side on which it grew
		places := width + 1
		if more := int64(places * step); lo < was[0] && lo-more < lo {
			lo -= more
			width += places
		}
		if hi > was[1] {
			width += places
		}
	}
	a.base, a.step, a.size = lo, step, int(width)+2
	return true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// values appends key k of each number to out, in order.
func (g *grid) values(k int, out *types.Vector) {
	slots := make([]int, g.n)
	for s, n := range g.slots {
		if n != 0 {
			slots[n-1] = s
		}
	}
	a := &g.axes[k]
	for _, s := range slots {
		switch p := a.placeOf(s); {
		case p == 0:
			out.AppendNull()
		case a.dict == nil:
			out.AppendInt(a.value(p))
		case out.Dict != nil:
			out.Codes = append(out.Codes, uint16(p-1))
		default:
			out.AppendBytes(a.dict.Values().Bytes(p - 1))
		}
	}
}
