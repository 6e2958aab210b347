package graph

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
)

// The portable form, version 1, behind the version byte: a byte, 0 for edges, 1 for
// a sketch. Edges: uvarint number, then by their vertices each: both, 8 bytes
// little-endian, the smaller first; varint net weight. A sketch: uvarint number of
// vertices, then by their hashes each: 8 bytes; varint degree; uvarint levels; for
// each cell, level by level, a byte, 0 if it is empty, else 1 and its four numbers, 8
// bytes each.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (s shape) Append(dst []byte, c *state) []byte {
	if !c.sketch {
		dst = binary.AppendUvarint(append(dst, 0), uint64(len(c.edges)))
		for _, e := range slices.SortedFunc(maps.Keys(c.edges), compareEdges) {
			dst = binary.LittleEndian.AppendUint64(dst, e.u)
			dst = binary.LittleEndian.AppendUint64(dst, e.v)
			dst = binary.AppendVarint(dst, c.edges[e])
		}
		return dst
	}
	dst = binary.AppendUvarint(append(dst, 1), uint64(len(c.vertices)))
	for _, v := range slices.Sorted(maps.Keys(c.vertices)) {
		x := c.vertices[v]
		dst = binary.LittleEndian.AppendUint64(dst, v)
		dst = binary.AppendVarint(dst, x.degree)
		n := len(x.cells)
		for n > 0 && x.cells[n-1] == (cell{}) {
			n--
		}
		levels := (n + s.rounds() - 1) / s.rounds()
		dst = binary.AppendUvarint(dst, uint64(levels))
		for _, k := range x.cells[:levels*s.rounds()] {
			if k == (cell{}) {
				dst = append(dst, 0)
				continue
			}
			dst = append(dst, 1)
			for _, y := range [4]uint64{k.count, k.u, k.v, k.check} {
				dst = binary.LittleEndian.AppendUint64(dst, y)
			}
		}
	}
	return dst
}

func compareEdges(a, b edge) int {
	if a.u != b.u {
		return compare(a.u, b.u)
	}
	return compare(a.v, b.v)
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) state {
	switch r.Byte() {
	case 0:
		return s.readEdges(r)
	case 1:
		return s.readSketch(r)
	}
	r.Fail()
	return state{}
}

func (s shape) readEdges(r *statecodec.Reader) state {
	var c state
	var last edge
	for i := range int(r.Uvarint(uint64(s.kept()))) {
		e := edge{r.Word(), r.Word()}
		w := varint(r)
		if r.Bad() || e.u >= e.v || e.v >= prime || w == 0 || i > 0 && compareEdges(last, e) >= 0 {
			r.Fail()
			return state{}
		}
		last = e
		s.add(&c, e, w)
		if a, b := c.vertices[e.u], c.vertices[e.v]; len(c.vertices) > s.most || !light(a) || !light(b) {
			r.Fail()
			return state{}
		}
	}
	return c
}

func light(v *vertex) bool { return v.degree > -maxDegree && v.degree < maxDegree }

// varint reads what binary.AppendVarint writes, within the limits of a degree.
func varint(r *statecodec.Reader) int64 {
	u := r.Uvarint(2*maxDegree - 2)
	return int64(u>>1) ^ -int64(u&1)
}

func (s shape) readSketch(r *statecodec.Reader) state {
	c := state{sketch: true, vertices: map[uint64]*vertex{}}
	last := uint64(0)
	for i := range int(r.Uvarint(uint64(s.most))) {
		v := r.Word()
		if v >= prime || i > 0 && v <= last {
			r.Fail()
		}
		last = v
		degree := varint(r)
		n := int(r.Uvarint(uint64(s.levels()))) * s.rounds()
		if n > len(r.Rest()) {
			r.Fail()
		}
		if r.Bad() {
			return state{}
		}
		x := c.at(v)
		x.degree = degree
		c.reach(x, n)
		empty := n // cells of the last level
		for j := range x.cells {
			if x.cells[j] = readCell(r); x.cells[j] != (cell{}) {
				empty = n - j - 1
			}
		}
		if n > 0 && empty >= s.rounds() || n == 0 && degree == 0 {
			r.Fail()
		}
	}
	return c
}

func readCell(r *statecodec.Reader) cell {
	switch r.Byte() {
	case 0:
		return cell{}
	case 1:
	default:
		r.Fail()
	}
	c := cell{r.Word(), r.Word(), r.Word(), r.Word()}
	if c == (cell{}) || c.count >= prime || c.u >= prime || c.v >= prime || c.check >= prime {
		r.Fail()
	}
	return c
}
