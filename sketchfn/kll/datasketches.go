package kll

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// The format of KllDoublesSketch in Apache DataSketches: levels of values that
// stand for 2^level each, as here; a small one keeps less on its lowest level.
const (
	dsFamily byte = 15

	dsVersionFull   byte = 1
	dsVersionSingle byte = 2

	dsEmpty  = 1
	dsSorted = 2 // level 0
	dsSingle = 4

	dsWidth    = 8 // least capacity of a level
	dsDataFull = 20
	dsLevels   = 61
)

// dsCapacity is what a sketch of so many levels holds there, by its rounding.
func dsCapacity(k, levels int) int {
	total := 0
	for depth := range levels {
		c := float64(k) * math.Pow(2.0/3.0, float64(depth))
		total += max(dsWidth, int(math.Floor(c+0.5)))
	}
	return total
}

func export(v value.Opened) ([]byte, error) {
	s := v.States.(*States)
	block, m := s.read(0)
	n := m.weight()
	out := []byte{2, dsVersionFull, dsFamily, dsEmpty, byte(s.k), byte(s.k >> 8), dsWidth, 0}
	if n == 0 {
		return out, nil
	}
	appendKey := func(key uint64) { out = binary.LittleEndian.AppendUint64(out, math.Float64bits(s.float(key))) }
	extremes(block, &m)
	if s.valid != nil && m.max == nanKey {
		return nil, unsupported("NaN")
	}
	if n == 1 {
		out[1], out[3] = dsVersionSingle, dsSingle|dsSorted
		appendKey(m.min)
		return out, nil
	}
	levels := int(m.levels)
	for dsCapacity(s.k, levels) < m.retained() { // our lowest level holds more: empty ones on top make room
		levels++
	}
	out[0], out[3] = 5, dsSorted
	out = binary.LittleEndian.AppendUint64(out, n)
	out = append(binary.LittleEndian.AppendUint16(out, uint16(s.k)), byte(levels), 0)
	start := dsCapacity(s.k, levels) - m.retained()
	for h := range levels {
		at := m.retained()
		if h < int(m.levels) {
			at = int(m.bounds[h]) - int(m.bounds[0])
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(start+at))
	}
	appendKey(m.min)
	appendKey(m.max)
	lowest := slices.Clone(m.level(block, 0))
	slices.Sort(lowest)
	for _, key := range lowest {
		appendKey(key)
	}
	for _, key := range block[m.bounds[1]:m.bounds[m.levels]] {
		appendKey(key)
	}
	return out, nil
}

func importDataSketches(b []byte, typ string) (value.Value, error) {
	bad := value.NotDataSketches("a KLL sketch of doubles")
	k := int(binary.LittleEndian.Uint16(b[4:]))
	if float8 := types.Of(types.Float8); typ != "" && typ != float8.String() {
		return value.Value{}, unsupported("values of type " + typ)
	}
	if k < MinK || k > MaxK {
		return value.Value{}, unsupported("k outside 8 to 8192")
	}
	if b[6] != dsWidth {
		return value.Value{}, unsupported("another least level size than 8")
	}
	spec := spec{typ: types.Of(types.Float8), k: k}
	s := spec.New(agg.Config{}).(*States)
	s.Grow(1)
	ok := true
	switch {
	case b[3]&dsEmpty != 0:
	case b[1] == dsVersionSingle || b[3]&dsSingle != 0:
		if ok = len(b) >= 16; ok {
			s.add(0, floatKey(math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))))
		}
	default:
		ok = b[1] == dsVersionFull && s.importLevels(b)
	}
	if !ok {
		return value.Value{}, bad
	}
	return value.Value{Kind: spec.kind(), State: s.Append(nil, 0)}, nil
}

// importLevels reads what has more than one value into group 0.
func (s *States) importLevels(b []byte) bool {
	if len(b) < dsDataFull {
		return false
	}
	n, levels := binary.LittleEndian.Uint64(b[8:]), int(b[18])
	if levels < 1 || levels >= dsLevels || len(b) < dsDataFull+4*levels+16 {
		return false
	}
	var starts []int
	for h := range levels {
		starts = append(starts, int(binary.LittleEndian.Uint32(b[dsDataFull+4*h:])))
	}
	starts = append(starts, dsCapacity(s.k, levels))
	words := b[dsDataFull+4*levels:]
	retained := starts[levels] - starts[0]
	if !slices.IsSorted(starts) || retained < 1 || retained > s.total[min(levels+8, maxLevels)] || len(words) < 8*(retained+2) {
		return false
	}
	word := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(words[8*i:])) }
	m := meta{levels: int32(levels), coins: 1, min: floatKey(word(0)), max: floatKey(word(1))}
	keys := make([]uint64, retained)
	for i := range keys {
		x := word(2 + i)
		if keys[i] = floatKey(x); x != x || keys[i] < m.min || keys[i] > m.max {
			return false
		}
	}
	for h := range levels {
		m.bounds[h+1] = uint16(starts[h+1] - starts[0])
		slices.Sort(keys[m.bounds[h]:m.bounds[h+1]])
	}
	for m.levels > 1 && m.size(int(m.levels)-1) == 0 { // room that export made
		m.levels--
	}
	if m.weight() != n || n >= maxWeight {
		return false
	}
	return s.merge(0, keys, &m) == nil
}
