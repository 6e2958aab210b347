package graph

import (
	"math/bits"

	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// state is the state of a group.
type state struct {
	edges    map[edge]int64     // net weights, none of them 0; nil in a sketch and before the first edge
	vertices map[uint64]*vertex // all that an edge or a cell names
	sketch   bool
	bytes    int64
}

type vertex struct {
	degree int64  // net weight of its edges
	edges  int32  // of state.edges
	cells  []cell // level by level, a cell for each round; as many levels as were needed
}

const (
	maxWeight     = 1 << 40 // of an event
	maxDegree     = 1 << 60
	bytesOfEdge   = 40 // of a map, by measurement
	bytesOfVertex = 72
	bytesOfCell   = 32
)

// shape is cells.Algebra for graphs of so many vertices.
type shape struct {
	most   int
	hasher *valuehash.Hasher // of the second end of an edge; nil where none is added
}

// rounds is how many samplers a vertex has: Borůvka's algorithm leaves about 0.64
// of the open components a round, since a sampler fails with 0.28; the rest makes it
// rare that the last ones stay open.
func (s shape) rounds() int { return 2*bits.Len(uint(s.most-1)) + 8 }

// levels is the number of levels of a sampler at most.
func (s shape) levels() int { return 2*bits.Len(uint(s.most-1)) + 1 }

// kept is the number of edges that are kept as such.
func (s shape) kept() int { return 8 * s.most }

// Add implements cells.Algebra.
func (s shape) Add(c *state, in []*types.Vector, row int, hash uint64) error {
	return s.addRow(c, in[1], row, hash, in[2].Ints[row])
}

// addRow adds the edge from a hashed vertex to the one of a row. An edge from a
// vertex to itself connects nothing.
func (s shape) addRow(c *state, other *types.Vector, row int, hash uint64, w int64) error {
	if w <= -maxWeight || w >= maxWeight {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "the weight of an edge must be between -2^40 and 2^40, not %d", w)
	}
	e := edgeOf(vertexOf(hash), vertexOf(s.hasher.Hash(other, []int32{int32(row)})[0]))
	if e.u == e.v || w == 0 {
		return nil
	}
	missing := 0
	for _, v := range [2]uint64{e.u, e.v} {
		switch x := c.vertices[v]; {
		case x == nil:
			missing++
		case x.degree+w >= maxDegree || x.degree+w <= -maxDegree:
			return tooHeavy()
		}
	}
	if len(c.vertices)+missing > s.most {
		return s.tooMany()
	}
	s.add(c, e, w)
	return nil
}

func tooHeavy() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a vertex with edges of a weight of more than 2^60")
}

func (s shape) tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "a graph of more than %d vertices", s.most).
		WithHint("The last argument of graph_agg is the number of vertices at most.")
}

// add adds an edge that fits.
func (s shape) add(c *state, e edge, w int64) {
	if c.vertices == nil {
		c.vertices = map[uint64]*vertex{}
	}
	if !c.sketch {
		s.addKept(c, e, w)
		return
	}
	hash := e.hash()
	plus := cellOf(e, hash, fromInt(w))
	minus := cellOf(e, hash, fromInt(-w))
	a, b := c.at(e.u), c.at(e.v)
	a.degree, b.degree = a.degree+w, b.degree+w
	rounds := s.rounds()
	for r := range rounds {
		level := min(bits.TrailingZeros64(valuehash.Row(hash, r)), s.levels()-1)
		for _, x := range [2]struct {
			v    *vertex
			cell *cell
		}{{a, &plus}, {b, &minus}} {
			c.reach(x.v, (level+1)*rounds)
			x.v.cells[level*rounds+r].add(x.cell)
		}
	}
	c.drop(e.u, a)
	c.drop(e.v, b)
}

// addKept adds an edge to those that are kept, and makes a sketch of too many.
func (s shape) addKept(c *state, e edge, w int64) {
	if c.edges == nil {
		c.edges = map[edge]int64{}
	}
	before, known := c.edges[e]
	a, b := c.at(e.u), c.at(e.v)
	a.degree, b.degree = a.degree+w, b.degree+w
	switch {
	case before+w == 0:
		delete(c.edges, e)
		c.bytes -= bytesOfEdge
		a.edges, b.edges = a.edges-1, b.edges-1
		c.drop(e.u, a)
		c.drop(e.v, b)
	default:
		c.edges[e] = before + w
		if !known {
			c.bytes += bytesOfEdge
			a.edges, b.edges = a.edges+1, b.edges+1
		}
	}
	if len(c.edges) > s.kept() {
		s.convert(c)
	}
}

// convert makes a sketch of the edges.
func (s shape) convert(c *state) {
	edges := c.edges
	*c = state{sketch: true}
	for e, w := range edges { // in any order, sums being what they are
		s.add(c, e, w)
	}
}

// at returns a vertex, which it makes.
func (c *state) at(v uint64) *vertex {
	x := c.vertices[v]
	if x == nil {
		x = &vertex{}
		c.vertices[v] = x
		c.bytes += bytesOfVertex
	}
	return x
}

// reach makes room for n cells.
func (c *state) reach(x *vertex, n int) {
	if len(x.cells) < n {
		before := cap(x.cells)
		x.cells = append(x.cells, make([]cell, n-len(x.cells))...)
		c.bytes += bytesOfCell * int64(cap(x.cells)-before)
	}
}

// drop forgets a vertex that nothing is known of any more.
func (c *state) drop(v uint64, x *vertex) {
	if x.degree != 0 || x.edges != 0 {
		return
	}
	for i := range x.cells {
		if x.cells[i] != (cell{}) {
			return
		}
	}
	delete(c.vertices, v)
	c.bytes -= bytesOfVertex + bytesOfCell*int64(cap(x.cells))
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *state) error {
	if err := s.fits(dst, src); err != nil {
		return err
	}
	if dst.vertices == nil {
		dst.vertices = map[uint64]*vertex{}
	}
	if src.sketch && !dst.sketch {
		s.convert(dst)
		dst.vertices = nonNil(dst.vertices)
	}
	if !src.sketch {
		s.addAll(dst, src.edges)
		return nil
	}
	for v, x := range src.vertices {
		to := dst.at(v)
		to.degree += x.degree
		dst.reach(to, len(x.cells))
		for i := range x.cells {
			to.cells[i].add(&x.cells[i])
		}
		dst.drop(v, to)
	}
	return nil
}

// addAll adds edges in any order: first those that dst has, which may cancel, so that
// only the sum decides whether dst is a sketch then.
func (s shape) addAll(dst *state, edges map[edge]int64) {
	var fresh []edge
	for e, w := range edges {
		if _, known := dst.edges[e]; known {
			s.add(dst, e, w)
		} else {
			fresh = append(fresh, e)
		}
	}
	for _, e := range fresh {
		s.add(dst, e, edges[e])
	}
}

func nonNil(m map[uint64]*vertex) map[uint64]*vertex {
	if m == nil {
		return map[uint64]*vertex{}
	}
	return m
}

// fits reports whether two states may be merged.
func (s shape) fits(dst, src *state) error {
	n := len(dst.vertices)
	for v, x := range src.vertices {
		to := dst.vertices[v]
		if to == nil {
			n++
			continue
		}
		if sum := to.degree + x.degree; sum >= maxDegree || sum <= -maxDegree {
			return tooHeavy()
		}
	}
	if n > s.most {
		return s.tooMany()
	}
	return nil
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *state) int64 { return c.bytes }
