package triest

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// edge is a pair of vertices, the smaller hash first.
type edge struct{ u, v uint64 }

// state is the state of a group.
type state struct {
	seen      uint64 // edges, without those that the sample had
	triangles float64
	sample    []edge
	next      map[uint64][]uint64 // neighbours in the sample, ascending
}

// bytesOfEdge is what an edge of the sample takes, with its share of the map.
const bytesOfEdge = 110

const maxSeen = 1 << 53

// shape is cells.Algebra for samples of so many edges.
type shape struct {
	most   int
	hasher *valuehash.Hasher // of the second end of an edge
}

// Add implements cells.Algebra. An edge from a vertex to itself is in no triangle.
func (s shape) Add(c *state, in []*types.Vector, row int, hash uint64) error {
	other := s.hasher.Hash(in[1], []int32{int32(row)})[0]
	e := edge{min(hash, other), max(hash, other)}
	if e.u == e.v || c.has(e) {
		return nil
	}
	if c.seen == maxSeen {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a graph of more than 2^53 edges")
	}
	c.seen++
	c.triangles += s.weight(c.seen) * float64(common(c.next[e.u], c.next[e.v]))
	if len(c.sample) < s.most {
		c.sample = append(c.sample, e)
		c.link(e)
		return nil
	}
	coin := valuehash.Row(e.u*0x9e3779b97f4a7c15+e.v, int(c.seen))
	if at := valuehash.Place(coin, int(c.seen)); at < s.most {
		c.unlink(c.sample[at])
		c.sample[at] = e
		c.link(e)
	}
	return nil
}

// weight is the inverse of the probability that two given edges of those before
// edge number t are in the sample.
func (s shape) weight(t uint64) float64 {
	n, m := float64(t), float64(s.most)
	return max(1, (n-1)*(n-2)/(m*(m-1)))
}

func (c *state) has(e edge) bool {
	_, found := slices.BinarySearch(c.next[e.u], e.v)
	return found
}

func (c *state) link(e edge) {
	if c.next == nil {
		c.next = map[uint64][]uint64{}
	}
	for _, p := range [2][2]uint64{{e.u, e.v}, {e.v, e.u}} {
		list := c.next[p[0]]
		at, _ := slices.BinarySearch(list, p[1])
		c.next[p[0]] = slices.Insert(list, at, p[1])
	}
}

func (c *state) unlink(e edge) {
	for _, p := range [2][2]uint64{{e.u, e.v}, {e.v, e.u}} {
		list := c.next[p[0]]
		at, _ := slices.BinarySearch(list, p[1])
		if list = slices.Delete(list, at, at+1); len(list) == 0 {
			delete(c.next, p[0])
		} else {
			c.next[p[0]] = list
		}
	}
}

// common returns how many numbers two ascending lists share.
func common(a, b []uint64) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
}

// Merge implements cells.Algebra: it copies, and refuses all else.
func (s shape) Merge(dst, src *state) error {
	if src.seen == 0 {
		return nil
	}
	if dst.seen != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "states of triangle_count do not merge").
			WithDetail("What an edge counts depends on the edges before it, so all edges of a group have to be in one partition.").
			WithHint("Group by the partition key of the stream, or query the stream itself.")
	}
	*dst = state{seen: src.seen, triangles: src.triangles, sample: slices.Clone(src.sample)}
	for _, e := range dst.sample {
		dst.link(e)
	}
	return nil
}

// The portable form, version 1, behind the version byte: uvarint edges seen, 0 for
// the empty state; else the estimate, 8 bytes little-endian, and the sample: for each
// edge both of its hashes, 8 bytes each, the smaller first. There are as many as were
// seen, at most those of the parameter.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (shape) Append(dst []byte, c *state) []byte {
	if dst = binary.AppendUvarint(dst, c.seen); c.seen == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.triangles))
	for _, e := range c.sample {
		dst = binary.LittleEndian.AppendUint64(dst, e.u)
		dst = binary.LittleEndian.AppendUint64(dst, e.v)
	}
	return dst
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) state {
	c := state{seen: r.Uvarint(maxSeen)}
	if c.seen == 0 {
		return c
	}
	c.triangles = math.Float64frombits(r.Word())
	n := int(min(c.seen, uint64(s.most)))
	if !(c.triangles >= 0) || c.triangles > math.MaxFloat64 || len(r.Rest()) != 16*n || c.seen <= uint64(s.most) && c.triangles != math.Trunc(c.triangles) {
		r.Fail()
		return state{}
	}
	for range n {
		e := edge{r.Word(), r.Word()}
		if e.u >= e.v || c.has(e) {
			r.Fail()
			return state{}
		}
		c.sample = append(c.sample, e)
		c.link(e)
	}
	return c
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *state) int64 { return bytesOfEdge * int64(len(c.sample)) }
