package sketchfn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// edgeEvent is an edge that comes or goes.
type edgeEvent struct{ u, v, weight int64 }

// graphShapes make streams of edges of up to n vertices that are more than are kept
// as edges at some time.
var graphShapes = map[string]func(r *rand.Rand, n int64) []edgeEvent{
	"random": func(r *rand.Rand, n int64) []edgeEvent { return randomEdges(r, n, 10*n) },
	"two cliques and a bridge": func(r *rand.Rand, n int64) []edgeEvent {
		out := append(clique(0, n/2), clique(n/2, n)...)
		return append(out, edgeEvent{r.Int64N(n / 2), n/2 + r.Int64N(n/2), 1})
	},
	"cliques": func(_ *rand.Rand, n int64) []edgeEvent {
		return slices.Concat(clique(0, n/2), clique(n/2, 3*n/4), clique(3*n/4, n))
	},
	"a path that is left": func(r *rand.Rand, n int64) []edgeEvent { // of all that goes again
		out := clique(0, n)
		for _, e := range clique(0, n) {
			out = append(out, edgeEvent{e.v, e.u, -1})
		}
		order := r.Perm(int(n))
		for i := range order[1:] {
			if i%9 != 0 {
				out = append(out, edgeEvent{int64(order[i]), int64(order[i+1]), 3})
			}
		}
		return out
	},
	"sparse, after a storm": func(r *rand.Rand, n int64) []edgeEvent {
		var out []edgeEvent
		for _, e := range randomEdges(r, n, 10*n) {
			out = append(out, e, edgeEvent{e.u, e.v, -e.weight})
		}
		return append(out, randomEdges(r, n, n/2)...)
	},
}

func clique(from, to int64) []edgeEvent {
	var out []edgeEvent
	for u := from; u < to; u++ {
		for v := u + 1; v < to; v++ {
			out = append(out, edgeEvent{u, v, 1})
		}
	}
	return out
}

func randomEdges(r *rand.Rand, n, edges int64) []edgeEvent {
	var out []edgeEvent
	for range edges {
		out = append(out, edgeEvent{r.Int64N(n), r.Int64N(n), 1 + r.Int64N(3)})
	}
	return out
}

// exactGraph is the graph that a stream leaves, by maps and breadth-first search.
type exactGraph struct {
	component map[int64]int
	degree    map[int64]int64
	size      int
}

func graphOf(events []edgeEvent) exactGraph {
	weights := map[[2]int64]int64{}
	for _, e := range events {
		if e.u != e.v {
			weights[[2]int64{min(e.u, e.v), max(e.u, e.v)}] += e.weight
		}
	}
	next := map[int64][]int64{}
	out := exactGraph{map[int64]int{}, map[int64]int64{}, 0}
	for e, w := range weights {
		if w != 0 {
			next[e[0]], next[e[1]] = append(next[e[0]], e[1]), append(next[e[1]], e[0])
			out.degree[e[0]] += w
			out.degree[e[1]] += w
		}
	}
	for start := range next {
		if out.component[start] != 0 {
			continue
		}
		out.size++
		out.component[start] = out.size
		for queue := []int64{start}; len(queue) > 0; queue = queue[1:] {
			for _, v := range next[queue[0]] {
				if out.component[v] == 0 {
					out.component[v] = out.size
					queue = append(queue, v)
				}
			}
		}
	}
	return out
}

func edgeColumns(events []edgeEvent) []*types.Vector {
	out := []*types.Vector{types.NewVector(types.Of(types.Int8), len(events)), types.NewVector(types.Of(types.Int8), len(events)), types.NewVector(types.Of(types.Int8), len(events))}
	for _, e := range events {
		out[0].AppendInt(e.u)
		out[1].AppendInt(e.v)
		out[2].AppendInt(e.weight)
	}
	return out
}

// TestComponentsAreThoseOfTheGraph: sketches of streams of edges that come and go,
// merged in random trees, are compared with breadth-first search. What is said is
// true, and little is left open.
func TestComponentsAreThoseOfTheGraph(t *testing.T) {
	for name, shape := range graphShapes {
		hits, all := 0, 0
		for _, n := range []int64{24, 64} {
			b := contractCase{"graph_agg", types.Int8, []float64{float64(n)}, []types.OID{types.Int8, types.Int8}}.bind(t)
			for trial := range trials(12) {
				r := rand.New(rand.NewPCG(uint64(trial), uint64(n)))
				events := shape(r, n)
				r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				seed := keyhash.Seed{K0: uint64(trial), K1: uint64(n)}
				sketch := sketchValue(t, b, mergedRows(t, b, agg.Config{Seed: seed}, r, edgeColumns(events)...))
				all++
				if decided(t, name, seed, sketch, graphOf(events), n, r) {
					hits++
				}
			}
		}
		checkCoverage(t, "components "+name, hits, all, 0.99)
	}
}

// decided checks all that a sketch says of a graph, and reports whether nothing is
// left open.
func decided(t *testing.T, name string, seed keyhash.Seed, sketch types.Datum, g exactGraph, n int64, r *rand.Rand) bool {
	t.Helper()
	x, lo, hi := boundsOf(t, "graph_components", seed, "0.95", sketch)
	if lo > float64(g.size) || hi < float64(g.size) || x != hi {
		t.Errorf("%s: %v components (%v to %v), are %d", name, x, lo, hi, g.size)
	}
	ec := &expr.Context{Seed: seed}
	for range 10 {
		u, v := r.Int64N(n), r.Int64N(n)
		yes, err := evalScalar(ec, "graph_connected", sketch, types.IntDatum(types.Int8, u), types.IntDatum(types.Int8, v))
		must(t, err)
		want := u == v || g.component[u] != 0 && g.component[u] == g.component[v]
		if yes.Null && lo == hi || !yes.Null && (yes.Int == 1) != want {
			t.Errorf("%s: %d and %d are connected: %v, said %v", name, u, v, want, yes)
		}
		degree, err := evalScalar(ec, "graph_degree", sketch, types.IntDatum(types.Int8, u))
		must(t, err)
		if degree.Int != g.degree[u] {
			t.Errorf("%s: the degree of %d is %d, said %d", name, u, g.degree[u], degree.Int)
		}
	}
	return lo == hi
}

// The state is linear: in whatever order edges come and go, and whoever saw them,
// equal graphs are equal bytes once they are sketches.
func TestGraphSketchesAreLinear(t *testing.T) {
	b := contractCase{"graph_agg", types.Int8, []float64{40}, []types.OID{types.Int8, types.Int8}}.bind(t)
	for trial := range uint64(20) {
		r := rand.New(rand.NewPCG(trial, 3))
		events := append(clique(0, 40), randomEdges(r, 40, 400)...)
		s := states(b, 2)
		update(t, s, 0, edgeColumns(events)...)
		more := events
		for _, e := range randomEdges(r, 40, 200) {
			more = append(more, e, edgeEvent{e.v, e.u, -e.weight})
		}
		r.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		tree := mergedRows(t, b, config, r, edgeColumns(more)...)
		if string(tree.Append(nil, 0)) != string(s.Append(nil, 0)) {
			t.Fatal("equal graphs have other bytes")
		}
	}
}

// A graph of too many vertices is refused, whether by an event or by a merge, and
// leaves what there was.
func TestGraphsAreBounded(t *testing.T) {
	b := contractCase{"graph_agg", types.Int8, []float64{10}, []types.OID{types.Int8, types.Int8}}.bind(t)
	s := states(b, 2)
	update(t, s, 0, edgeColumns(clique(0, 10))...)
	update(t, s, 1, edgeColumns(clique(5, 14))...)
	before := string(s.Append(nil, 0))
	if err := s.Update([]uint32{0}, []int32{0}, edgeColumns([]edgeEvent{{3, 11, 1}})); err == nil {
		t.Error("an eleventh vertex was taken")
	}
	if err := s.MergeFrom(0, s, 1); err == nil {
		t.Error("14 vertices were taken")
	}
	if string(s.Append(nil, 0)) != before {
		t.Error("a refused edge left a trace")
	}
}

// TestTriangleCountsAreUnbiased compares estimates with the triangles of graphs,
// each edge of which comes once; samples that hold all edges count exactly.
func TestTriangleCountsAreUnbiased(t *testing.T) {
	for name, shape := range map[string]func(r *rand.Rand) []edgeEvent{
		"random":  func(r *rand.Rand) []edgeEvent { return randomEdges(r, 60, 900) },
		"cliques": func(*rand.Rand) []edgeEvent { return append(clique(0, 20), clique(20, 50)...) },
		"no triangle": func(*rand.Rand) []edgeEvent {
			var out []edgeEvent
			for i := range int64(400) {
				out = append(out, edgeEvent{i % 20, 20 + i/20, 1})
			}
			return out
		},
	} {
		events := once(shape(rand.New(rand.NewPCG(1, 1))))
		want := triangles(events)
		for _, most := range []float64{100, 5000} {
			b := contractCase{"triangle_count", types.Int8, []float64{most}, []types.OID{types.Int8}}.bind(t)
			n, sum, squares := trials(100), 0.0, 0.0
			for trial := range n {
				r := rand.New(rand.NewPCG(uint64(trial), 2))
				r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				s := b.State.New(agg.Config{Seed: keyhash.Seed{K0: uint64(trial), K1: 3}})
				s.Grow(1)
				update(t, s, 0, edgeColumns(events)[:2]...)
				out, bounds := types.NewVector(types.Of(types.Float8), 1), newBounds(b)
				must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
				x := out.Floats[0]
				if exact := most > float64(len(events)); exact != !bounds.Lo.IsNull(0) || exact && x != want {
					t.Fatalf("%s: %v triangles, are %v; exact: %v", name, x, want, exact)
				}
				sum += x
				squares += square(x - want)
			}
			rms := math.Sqrt(squares / float64(n))
			t.Logf("%s, %v of %d edges: %.0f triangles, rms error %.0f", name, most, len(events), want, rms)
			if bias := sum/float64(n) - want; math.Abs(bias) > 4*rms/math.Sqrt(float64(n)) {
				t.Errorf("%s: off by %g of %v on average", name, bias, want)
			}
		}
	}
}

// once is the edges of a stream without those that repeat.
func once(events []edgeEvent) []edgeEvent {
	seen := map[[2]int64]bool{}
	var out []edgeEvent
	for _, e := range events {
		if k := [2]int64{min(e.u, e.v), max(e.u, e.v)}; e.u != e.v && !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}

// triangles counts them among all threes of vertices.
func triangles(events []edgeEvent) float64 {
	var next [64][64]bool
	for _, e := range events {
		next[e.u][e.v], next[e.v][e.u] = true, true
	}
	n := 0.0
	for a := range next {
		for b := range a {
			for c := range b {
				if next[a][b] && next[b][c] && next[a][c] {
					n++
				}
			}
		}
	}
	return n
}
