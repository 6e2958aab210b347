package exec

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sql/types"
)

// maxDenseGroups is how many slots a table may have that is indexed by codes.
const maxDenseGroups = 1 << 20

// groupIndex numbers distinct rows of keys from 0, in the order in which they come.
// NULLs equal each other. Keys of fixed width (integers, floats, codes of one
// dictionary) are compared as words, others by their key encoding. Where the
// dictionaries change, it goes over to the encoding.
type groupIndex struct {
	mode  indexMode
	types []types.Type
	dicts []*types.Dict // of each key in the modes dense and words
	n     int
	seen  bool // a row

	dense   []uint32 // number + 1 by the codes
	strides []int

	words *wordTable
	place []wordPlace

	keys *keyTable
	buf  []byte

	slots   []uint32    // of the rows of a batch
	asked   *types.Dict // whose values were looked up
	answers []int32
}

type indexMode uint8

const (
	indexKeys  indexMode = iota // keyTable
	indexDense                  // dense
	indexWords                  // words
)

// wordPlace is where a key is among the words: the whole word, or for codes 16 bits
// of it. The bits from 48 of the first word tell which keys are NULL.
type wordPlace struct {
	word  int
	shift int // -1: the whole word
}

func newGroupIndex() *groupIndex { return &groupIndex{} }

// len is the number of distinct keys.
func (x *groupIndex) len() int { return x.n }

// memory is the bytes held.
func (x *groupIndex) memory() int64 {
	n := int64(4 * cap(x.dense))
	if x.words != nil {
		n += x.words.memory()
	}
	if x.keys != nil {
		n += x.keys.memory()
	}
	return n
}

// assign appends the number of each row to numbers. Rows that bring new keys are
// appended to fresh, in order.
func (x *groupIndex) assign(cols []*types.Vector, rows int, numbers []uint32, fresh []int32) ([]uint32, []int32) {
	if !x.seen {
		x.seen = true
		x.choose(cols)
	}
	if x.mode != indexKeys && !x.fits(cols) {
		x.toKeys()
	}
	switch x.mode {
	case indexDense:
		return x.assignDense(cols, rows, numbers, fresh)
	case indexWords:
		return x.assignWords(cols, rows, numbers, fresh)
	}
	for i := range rows {
		x.buf = appendKeys(x.buf[:0], cols, i)
		g, isNew := x.keys.add(x.buf)
		if isNew {
			fresh = append(fresh, int32(i))
		}
		numbers = append(numbers, g)
	}
	x.n = x.keys.len()
	return numbers, fresh
}

// choose picks the mode by the first keys.
func (x *groupIndex) choose(cols []*types.Vector) {
	x.dicts = make([]*types.Dict, len(cols))
	slots, fixed := 1, len(cols) <= 16
	for i, c := range cols {
		x.dicts[i], x.types = c.Dict, append(x.types, c.Type)
		switch {
		case c.Dict != nil:
			if slots <= maxDenseGroups {
				slots *= c.Dict.Len() + 1
			}
		case c.Type.Kind() == types.KindBytes:
			slots, fixed = math.MaxInt, false
		default:
			slots = math.MaxInt
		}
	}
	switch {
	case slots <= maxDenseGroups:
		x.mode = indexDense
		x.dense = make([]uint32, slots)
		stride := 1
		for _, d := range x.dicts {
			x.strides = append(x.strides, stride)
			stride *= d.Len() + 1
		}
	case fixed:
		x.mode = indexWords
		x.layOut(cols)
	default:
		x.mode, x.keys = indexKeys, newKeyTable()
	}
}

// layOut gives each key its place: the first word has the NULLs and up to three codes.
func (x *groupIndex) layOut(cols []*types.Vector) {
	width, codes, word := 1, 0, 0
	for _, c := range cols {
		if c.Dict == nil {
			x.place = append(x.place, wordPlace{width, -1})
			width++
			continue
		}
		if codes == 3 && word == 0 || codes == 4 {
			word, codes = width, 0
			width++
		}
		x.place = append(x.place, wordPlace{word, 16 * codes})
		codes++
	}
	x.words = newWordTable(width)
}

// fits reports whether keys are of the kind that the mode is for.
func (x *groupIndex) fits(cols []*types.Vector) bool {
	for i, c := range cols {
		if c.Dict != x.dicts[i] {
			return false
		}
	}
	return true
}

// toKeys goes over to encoded keys.
func (x *groupIndex) toKeys() {
	known, n := x.values(), x.n
	*x = groupIndex{seen: true, mode: indexKeys, keys: newKeyTable(), n: n}
	for i := range n {
		x.buf = appendKeys(x.buf[:0], known, i)
		x.keys.add(x.buf)
	}
}

// values returns the keys by number, in the modes dense and words.
func (x *groupIndex) values() []*types.Vector {
	out := make([]*types.Vector, len(x.types))
	if x.mode == indexDense {
		slots := make([]int, x.n)
		for s, g := range x.dense {
			if g != 0 {
				slots[g-1] = s
			}
		}
		for k, d := range x.dicts {
			out[k] = types.NewVector(x.types[k], x.n)
			for _, s := range slots {
				if code := s / x.strides[k] % (d.Len() + 1); code == d.Len() {
					out[k].AppendNull()
				} else {
					out[k].AppendBytes(d.Values().Bytes(code))
				}
			}
		}
		return out
	}
	for k, p := range x.place {
		out[k] = types.NewVector(x.types[k], x.n)
		for g := range x.n {
			key := x.words.keys[g*x.words.width:]
			w := key[p.word]
			switch {
			case key[0]>>(48+k)&1 != 0:
				out[k].AppendNull()
			case p.shift >= 0:
				out[k].AppendBytes(x.dicts[k].Values().Bytes(int(w >> p.shift & math.MaxUint16)))
			case x.types[k].Kind() == types.KindInt:
				out[k].AppendInt(int64(w))
			default:
				out[k].AppendFloat(math.Float64frombits(w))
			}
		}
	}
	return out
}

// slotsOf appends where the rows' keys are in dense.
func (x *groupIndex) slotsOf(cols []*types.Vector, rows int, slots []uint32) (all, added []uint32) {
	at := len(slots)
	for range rows {
		slots = append(slots, 0)
	}
	added = slots[at:]
	for k, c := range cols {
		stride := uint32(x.strides[k])
		codes := c.Codes[:len(added)]
		if len(c.Nulls) == 0 {
			for i, code := range codes {
				added[i] += stride * uint32(code)
			}
			continue
		}
		null := stride * uint32(c.Dict.Len())
		for i, code := range codes {
			if c.Nulls.Has(i) {
				added[i] += null
			} else {
				added[i] += stride * uint32(code)
			}
		}
	}
	return slots, added
}

func (x *groupIndex) assignDense(cols []*types.Vector, rows int, numbers []uint32, fresh []int32) ([]uint32, []int32) {
	numbers, slots := x.slotsOf(cols, rows, numbers)
	for i, s := range slots {
		g := x.dense[s]
		if g == 0 {
			x.n++
			g = uint32(x.n)
			x.dense[s] = g
			fresh = append(fresh, int32(i))
		}
		slots[i] = g - 1
	}
	return numbers, fresh
}

// fill makes the words of the rows of a batch.
func (x *groupIndex) fill(cols []*types.Vector, rows int) {
	words := x.words.batch(rows)
	width := x.words.width
	for k, c := range cols {
		p := x.place[k]
		fillWords(words[p.word:], width, p.shift, c, rows)
		if len(c.Nulls) > 0 {
			for i := range rows {
				if c.Nulls.Has(i) {
					words[i*width] |= 1 << (48 + k)
				}
			}
		}
	}
}

func (x *groupIndex) assignWords(cols []*types.Vector, rows int, numbers []uint32, fresh []int32) ([]uint32, []int32) {
	x.fill(cols, rows)
	before := x.n
	numbers = x.words.add(rows, numbers)
	x.n = x.words.n
	for i, g := range numbers[len(numbers)-rows:] {
		if int(g) == before {
			before++
			fresh = append(fresh, int32(i))
		}
	}
	return numbers, fresh
}

// fillWords puts the values of a column into every width-th word. NULLs are zero.
func fillWords(words []uint64, width, shift int, c *types.Vector, rows int) {
	switch {
	case c.Dict != nil:
		for i, code := range c.Codes[:rows] {
			words[i*width] |= uint64(code) << shift
		}
	case c.Type.Kind() == types.KindInt:
		for i, v := range c.Ints[:rows] {
			words[i*width] = uint64(v)
		}
	default:
		for i, f := range c.Floats[:rows] {
			words[i*width] = floatWord(f)
		}
	}
}

// floatWord is equal for equal floats, as PostgreSQL sees them.
func floatWord(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.MaxUint64
	}
	return math.Float64bits(f)
}

// wordTable numbers distinct keys of a fixed number of words. A key's place in slots
// begins at the low bits of its hash, all 32 of which are in the slot: slots grow
// without a look at the keys.
type wordTable struct {
	width int
	seed  uint64
	slots []keySlot // a power of two, at most half of them taken
	keys  []uint64
	n     int

	rows   []uint64 // those of a batch
	hashes []uint32
	met    []keySlot // the first slot that each row of the batch met
}

func newWordTable(width int) *wordTable {
	var b [8]byte
	return &wordTable{width: width, seed: maphash.Bytes(maphash.MakeSeed(), b[:]), slots: make([]keySlot, minKeySlots)}
}

func (t *wordTable) memory() int64 {
	return int64(8*cap(t.slots) + 8*cap(t.keys) + 8*cap(t.rows) + 4*cap(t.hashes) + 8*cap(t.met))
}

// batch returns room for the keys of so many rows, zeroed.
func (t *wordTable) batch(rows int) []uint64 {
	if n := rows * t.width; cap(t.rows) < n || cap(t.hashes) < rows {
		t.rows, t.hashes, t.met = make([]uint64, n), make([]uint32, rows), make([]keySlot, rows)
	} else {
		t.rows, t.hashes, t.met = t.rows[:n], t.hashes[:rows], t.met[:rows]
		clear(t.rows)
	}
	return t.rows
}

// hash mixes words by folded multiplication (Wang Yi: wyhash, 2019).
func (t *wordTable) hash(key []uint64) uint32 {
	h := t.seed
	for _, w := range key {
		hi, lo := bits.Mul64(h^w, 0x9e3779b97f4a7c15)
		h = hi ^ lo ^ w
	}
	hi, lo := bits.Mul64(h, 0xe7037ed1a0b428db)
	return uint32(hi ^ lo)
}

// meet computes the hashes of the batch and reads the slot that each meets first: reads
// that do not depend on each other, so that the memory serves several at a time.
func (t *wordTable) meet() {
	w := t.width
	for i := range t.hashes {
		t.hashes[i] = t.hash(t.rows[i*w : i*w+w])
	}
	mask := uint32(len(t.slots) - 1)
	for i, h := range t.hashes {
		t.met[i] = t.slots[h&mask]
	}
}

// known returns the number of row i of the batch plus 1, if the slot that it met has its
// key; else 0.
func (t *wordTable) known(i int) uint32 {
	s := t.met[i]
	if s.number == 0 || s.hash != t.hashes[i] || !t.same(s.number, t.rows[i*t.width:i*t.width+t.width]) {
		return 0
	}
	return s.number
}

func (t *wordTable) same(number uint32, key []uint64) bool {
	held := t.keys[int(number-1)*len(key):]
	for k, v := range key {
		if held[k] != v {
			return false
		}
	}
	return true
}

// add appends the numbers of the keys of the batch, and keeps those that are new.
func (t *wordTable) add(rows int, numbers []uint32) []uint32 {
	t.meet()
	at := len(numbers)
	for i := range rows {
		numbers = append(numbers, t.known(i)-1)
	}
	w := t.width
	for i, n := range numbers[at:] {
		if n != math.MaxUint32 {
			continue
		}
		if 2*(t.n+1) > len(t.slots) {
			t.grow()
		}
		key, h := t.rows[i*w:i*w+w], t.hashes[i]
		s := t.find(h, key)
		if s.number == 0 {
			t.keys = append(t.keys, key...)
			t.n++
			*s = keySlot{h, uint32(t.n)}
		}
		numbers[at+i] = s.number - 1
	}
	return numbers
}

// look appends the numbers of the keys of the batch, -1 for those that are not there.
func (t *wordTable) look(rows int, numbers []int32) []int32 {
	t.meet()
	at := len(numbers)
	for i := range rows {
		numbers = append(numbers, int32(t.known(i))-1)
	}
	w := t.width
	for i, n := range numbers[at:] {
		if n < 0 && t.met[i].number != 0 {
			numbers[at+i] = int32(t.find(t.hashes[i], t.rows[i*w:i*w+w]).number) - 1
		}
	}
	return numbers
}

// find returns the slot of a key, or the empty one where it belongs.
func (t *wordTable) find(h uint32, key []uint64) *keySlot {
	mask := uint32(len(t.slots) - 1)
	for j := h & mask; ; j = (j + 1) & mask {
		s := &t.slots[j]
		if s.number == 0 || s.hash == h && t.same(s.number, key) {
			return s
		}
	}
}

// grow makes the slots twice as many, or four times where they are few.
func (t *wordTable) grow() {
	old := t.slots
	if n := len(old); n < 1<<16 {
		t.slots = make([]keySlot, 4*n)
	} else {
		t.slots = make([]keySlot, 2*n)
	}
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		j := s.hash & mask
		for t.slots[j].number != 0 {
			j = (j + 1) & mask
		}
		t.slots[j] = s
	}
}
