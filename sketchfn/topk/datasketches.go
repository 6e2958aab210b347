package topk

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// The format of LongsSketch and of ItemsSketch of strings in Apache DataSketches:
// counts that are too low by at most the offset; here each counter knows what is missing in it of
// its own, at most the floor, which becomes the offset.
const (
	dsFamily  byte = 10
	dsVersion byte = 1

	dsEmpty     = 5 // either bit
	dsLongs     = 4 // of the preamble
	dsLeastSize = 3 // log2 of the smallest map
)

func export(v value.Opened) ([]byte, error) {
	s := v.States.(*States)
	text := s.typ.OID == types.Text
	if !text && s.typ.OID != types.Int8 {
		return nil, unsupported(s.typ)
	}
	g := &s.groups[0]
	size := byte(dsLeastSize)
	for 3<<size < 4*int(g.n) {
		size++
	}
	most := size
	for capacityOf(most) < s.capacity {
		most++
	}
	out := []byte{1, dsVersion, dsFamily, most, size, dsEmpty, 0, 0}
	if g.total == 0 {
		return out, nil
	}
	out[0], out[5] = dsLongs, 0
	for _, x := range []uint64{uint64(g.n), g.total, g.floor} {
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	list := s.sorted(g)
	for _, c := range list {
		out = binary.LittleEndian.AppendUint64(out, c.low)
	}
	for _, c := range list {
		if text {
			b := s.bytes(c.payload)
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
		} else {
			out = binary.LittleEndian.AppendUint64(out, c.payload)
		}
	}
	return out, nil
}

func importDataSketches(b []byte, typ string) (value.Value, error) {
	t := types.Of(types.Int8)
	if text := types.Of(types.Text); typ == text.String() {
		t = text
	} else if typ != "" && typ != t.String() {
		return value.Value{}, unsupported(types.Type{OID: types.Unknown})
	}
	bad := value.NotDataSketches("a frequent items sketch of type " + t.String())
	if b[1] != dsVersion || b[3] > 30 {
		return value.Value{}, bad
	}
	spec := spec{t, capacityOf(b[3])}
	s := spec.New(agg.Config{}).(*States)
	s.Grow(1)
	if b[5]&dsEmpty == 0 && !s.importCounters(b) {
		return value.Value{}, bad
	}
	return value.Value{Kind: spec.kind(), State: s.Append(nil, 0)}, nil
}

// importCounters reads what is not empty into group 0.
func (s *States) importCounters(b []byte) bool {
	const head = 8 * dsLongs
	if b[0]&63 != dsLongs || len(b) < head {
		return false
	}
	n := int(binary.LittleEndian.Uint32(b[8:]))
	total, offset := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if n > (len(b)-head)/8 || total >= maxTotal || offset > total/uint64(s.capacity+1) {
		return false
	}
	counts, items := b[head:head+8*n], b[head+8*n:]
	s.read = s.read[:0]
	sum := uint64(0)
	seen := map[string]bool{}
	for i := range n {
		p := portable{low: binary.LittleEndian.Uint64(counts[8*i:])}
		var raw []byte
		var ok bool
		if raw, items, ok = s.importItem(items); !ok || p.low == 0 || p.low > total || seen[string(raw)] {
			return false
		}
		seen[string(raw)] = true
		if s.words {
			p.word = binary.LittleEndian.Uint64(raw)
			p.hash = s.hasher.Word(p.word)
		} else {
			p.value, p.hash = raw, s.hasher.Bytes(raw)
		}
		if sum += p.low; sum > total {
			return false
		}
		s.read = append(s.read, p)
	}
	return (offset > 0 || sum == total) && s.merge(0, total, offset) == nil
}

// importItem takes the next item off b.
func (s *States) importItem(b []byte) (item, rest []byte, ok bool) {
	if s.words {
		if len(b) < 8 {
			return nil, nil, false
		}
		return b[:8], b[8:], true
	}
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if n > math.MaxInt32 || int(n) > len(b)-4 || !utf8.Valid(b[4:4+n]) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}
