package exec

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sql/types"
)

// groupIndex numbers distinct rows of keys from 0, in the order in which they come.
// NULLs equal each other. Keys of few values are found by their place in a grid, others
// of fixed width (integers, floats, codes of one dictionary) are compared as words, the
// rest by their key encoding. It goes over from one to the next where the keys do not
// fit, or where they have other dictionaries than before.
type groupIndex struct {
	mode  indexMode
	types []types.Type
	dicts []*types.Dict // of each key in the modes grid and words
	n     int
	seen  bool // a row

	grid *grid

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
	indexGrid                   // grid
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
	n := int64(0)
	if x.grid != nil {
		n += x.grid.memory()
	}
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
	if x.mode == indexGrid {
		var ok bool
		if numbers, fresh, ok = x.grid.put(cols, rows, numbers, fresh); ok {
			x.n = x.grid.n
			return numbers, fresh
		}
		x.toWords()
	}
	if x.mode == indexWords {
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

// expect prepares for all of these keys, which assign will be given in parts.
func (x *groupIndex) expect(cols []*types.Vector, rows int) {
	x.seen = true
	x.choose(cols)
	if x.grid == nil {
		return
	}
	x.grid.rows = rows
	if !x.grid.extend(cols, rows) {
		x.toWords()
	}
}

// choose picks the mode by the first keys.
func (x *groupIndex) choose(cols []*types.Vector) {
	x.dicts = make([]*types.Dict, len(cols))
	fixed := len(cols) <= 16
	for i, c := range cols {
		x.dicts[i], x.types = c.Dict, append(x.types, c.Type)
		fixed = fixed && (c.Dict != nil || c.Type.Kind() != types.KindBytes)
	}
	switch x.grid = newGrid(cols); {
	case x.grid != nil && fixed:
		x.mode = indexGrid
	case fixed:
		x.grid, x.mode = nil, indexWords
		x.layOut()
	default:
		x.grid, x.mode, x.keys = nil, indexKeys, newKeyTable()
	}
}

// layOut gives each key its place: the first word has the NULLs and up to three codes.
func (x *groupIndex) layOut() {
	width, codes, word := 1, 0, 0
	for _, d := range x.dicts {
		if d == nil {
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

// fits reports whether keys are of the kind that the mode is for. Dictionaries may have
// grown meanwhile, or be those from before they grew.
func (x *groupIndex) fits(cols []*types.Vector) bool {
	for i, c := range cols {
		d := x.dicts[i]
		if c.Dict == d {
			continue
		}
		if c.Dict == nil || d == nil || !c.Dict.Extends(d) && !d.Extends(c.Dict) {
			return false
		}
	}
	for i, c := range cols {
		if d := x.dicts[i]; d != nil && c.Dict.Len() > d.Len() {
			x.dicts[i] = c.Dict
			if x.grid != nil {
				x.grid.axes[i].dict = c.Dict
			}
		}
	}
	return true
}

// toWords goes over from the grid to words.
func (x *groupIndex) toWords() {
	known := make([]*types.Vector, len(x.types))
	for k, t := range x.types {
		known[k] = &types.Vector{Type: t, Dict: x.dicts[k]}
		x.grid.values(k, known[k])
	}
	x.grid, x.mode = nil, indexWords
	x.layOut()
	if x.n > 0 {
		x.fill(known, x.n)
		x.words.add(x.n, nil)
	}
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

// values returns the keys by number, in the modes grid and words.
func (x *groupIndex) values() []*types.Vector {
	out := make([]*types.Vector, len(x.types))
	if x.mode == indexGrid {
		for k, t := range x.types {
			out[k] = types.NewVector(t, x.n)
			x.grid.values(k, out[k])
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
