package graph

import (
	"maps"
	"slices"
)

// components is what is known of the components of a graph.
type components struct {
	number map[uint64]int // by vertex: its place in parent
	parent []int          // a forest: union-find
	size   int            // components that have been found, closed or not
	open   map[int]bool   // roots of components that further edges leave; unknown which
}

func (c *components) find(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

func (c *components) union(a, b int) {
	if a, b = c.find(a), c.find(b); a != b {
		c.parent[b] = a
		c.size--
	}
}

// least is the number of components at the least: those that are open have edges
// to one another, and none to the others.
func (c *components) least() int {
	if len(c.open) > 0 {
		return c.size - len(c.open) + 1
	}
	return c.size
}

// components finds the components of the vertices that have edges.
func (s shape) components(c *state) *components {
	out := &components{number: map[uint64]int{}, open: map[int]bool{}}
	for _, v := range slices.Sorted(maps.Keys(c.vertices)) {
		out.number[v] = len(out.parent)
		out.parent = append(out.parent, len(out.parent))
	}
	out.size = len(out.parent)
	if !c.sketch {
		for e := range c.edges {
			out.union(out.number[e.u], out.number[e.v])
		}
		return out
	}
	for r := range s.rounds() {
		if s.round(c, out, r) == 0 {
			return out
		}
	}
	for root, sums := range s.sums(c, out, 0) {
		if total(sums) != (cell{}) {
			out.open[root] = true
		}
	}
	return out
}

// round samples an edge that leaves each component, and joins both ends. It returns
// how many components are not closed.
func (s shape) round(c *state, out *components, r int) (open int) {
	sums := s.sums(c, out, r)
	for _, root := range slices.Sorted(maps.Keys(sums)) {
		var sum cell
		at := sums[root]
		found := false
		for level := len(at) - 1; level >= 0; level-- {
			if sum.add(&at[level]); found {
				continue
			}
			e, ok := sum.single()
			if !ok {
				continue
			}
			a, known := out.number[e.u]
			b, knownToo := out.number[e.v]
			if known && knownToo {
				out.union(a, b)
				found = true
			}
		}
		if sum != (cell{}) {
			open++
		}
	}
	return open
}

// sums adds up the cells of a round of the vertices of each component, by level.
func (s shape) sums(c *state, out *components, r int) map[int][]cell {
	sums := map[int][]cell{}
	rounds := s.rounds()
	for v, x := range c.vertices {
		root := out.find(out.number[v])
		to := sums[root]
		if to == nil {
			to = make([]cell, s.levels())
			sums[root] = to
		}
		for level := range len(x.cells) / rounds {
			to[level].add(&x.cells[level*rounds+r])
		}
	}
	return sums
}

func total(cells []cell) cell {
	var sum cell
	for i := range cells {
		sum.add(&cells[i])
	}
	return sum
}

// connected reports whether two vertices are in one component; known is false
// where that could not be decided.
func (s shape) connected(c *state, a, b uint64) (yes, known bool) {
	if a == b {
		return true, true
	}
	if c.vertices[a] == nil || c.vertices[b] == nil {
		return false, true
	}
	parts := s.components(c)
	x, y := parts.find(parts.number[a]), parts.find(parts.number[b])
	return x == y, x == y || !parts.open[x] || !parts.open[y]
}

// degrees returns how many vertices have each degree.
func (c *state) degrees() map[int64]int {
	out := map[int64]int{}
	for _, v := range c.vertices {
		out[v.degree]++
	}
	return out
}
