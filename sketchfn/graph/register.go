package graph

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var verticesParameter = agg.Parameter{
	Name: "vertices", Default: 1024, Min: 2, Max: 16384,
	Meaning: "the vertices that have edges, at most; 8 times as many edges are kept as such",
}

// undecided is the probability that the samplers leave something open, at most; by
// measurement (TestComponentsAreThoseOfTheGraph).
const undecided = 0.01

// Register registers graph_agg, graph_union, graph_connected, graph_components,
// graph_degree and graph_degrees.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := agg.Descriptor{
		Name: "graph_agg", Family: f.Name, Signature: "graph_agg(u any type with equality, v the same type [, weight int8 [, vertices int4]]) → sketch",
		StreamModel: agg.StrictTurnstile, MergeAlgebra: agg.CommutativeMonoid, Parameters: []agg.Parameter{verticesParameter},
		Guarantee:    "what is said to be connected or not is so, but for hashes that collide (2^-30); it is left open (NULL, or between _lo and _hi) with a probability of 0.01 at most; exact up to 8*vertices edges",
		Confidence:   "not used",
		Citation:     "Ahn, Guha, McGregor: Analyzing graph structure via linear measurements, 2012; Jowhari, Saglam, Tardos: Tight bounds for Lp samplers, 2011",
		Memory:       "32 bytes a group; 40 bytes an edge and 72 a vertex; beyond 8*vertices edges 32*rounds*log2(rounds*degree) bytes a vertex, with 2*log2(vertices)+8 rounds",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Weight: 3, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) { return bind(f, args, consts) }})
	fs.RegisterUnion(r, d, "graph_union")
	registerScalars(r, fs)
}

func bind(f *value.Family, args []types.Type, consts []*types.Datum) (agg.Bound, error) {
	const name = "graph_agg"
	if len(args) < 2 || len(args) > 4 || !valuehash.Hashable(args[0].OID) || valuehash.Widest(args[0]).OID != valuehash.Widest(args[1]).OID ||
		len(args) > 2 && args[2].OID != types.Unknown && valuehash.Widest(args[2]).OID != types.Int8 {
		return agg.Bound{}, param.NoFunction(name, args)
	}
	most, err := param.Integer(name, verticesParameter, args, consts, 3)
	if err != nil {
		return agg.Bound{}, err
	}
	t := valuehash.Widest(args[0])
	weighted := len(args) > 2
	kind := value.Kind{Family: f.Name, Type: t.String(), Params: [3]uint64{uint64(most)}}
	b := agg.Bound{Inputs: []int{0, 1}, ArgTypes: []types.Type{t, t}, State: specOf(kind, weighted), Final: value.NewFinal(f, kind)}
	if weighted {
		b.Inputs, b.ArgTypes = append(b.Inputs, 2), append(b.ArgTypes, types.Of(types.Int8))
	}
	return b, nil
}

func specOf(k value.Kind, weighted bool) cells.Spec[state] {
	most := int(k.Params[0])
	return cells.Spec[state]{
		Family: "graph", ID: fmt.Sprintf("graph(%s) vertices=%d siphash13 v%d", k.Type, most, codecV1), Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(cfg agg.Config) cells.Algebra[state] {
			s := shape{most, valuehash.New(cfg.Seed, keyhash.UseCounter)}
			if !weighted {
				return plain{s}
			}
			return s
		},
		Group: func(n int64) int64 {
			s := shape{most: most}
			if n <= int64(s.kept()) {
				return bytesOfEdge*n + bytesOfVertex*min(2*n, int64(most))
			}
			// The levels that edges reach in one of the rounds.
			levels := min(s.levels(), bits.Len64(uint64(2*n/int64(most)))+bits.Len(uint(s.rounds())))
			return int64(most) * (bytesOfVertex + bytesOfCell*int64(s.rounds()*levels))
		},
	}
}

// plain is shape where every edge that comes weighs 1.
type plain struct{ shape }

// Add implements cells.Algebra.
func (p plain) Add(c *state, in []*types.Vector, row int, hash uint64) error {
	return p.addRow(c, in[1], row, hash, 1)
}

func family() *value.Family {
	return &value.Family{
		Name: "graph", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			n := k.Params[0]
			if _, ok := value.TypeOf(k.Type); !ok || n < uint64(verticesParameter.Min) || n > uint64(verticesParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return specOf(k, true)
		},
		Error: func(s agg.States, g uint32, _ float64) float64 { // the probability that something is left open
			if c, _ := read(s, g); !c.sketch {
				return 0
			}
			return undecided
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			c, shape := read(s, g)
			out := []value.Field{
				{Name: "vertices", Value: len(c.vertices)}, {Name: "most_vertices", Value: k.Params[0]}, {Name: "exact", Value: !c.sketch},
			}
			if !c.sketch {
				return append(out, value.Field{Name: "edges", Value: len(c.edges)})
			}
			return append(out, value.Field{Name: "rounds", Value: shape.rounds()})
		},
	}
}

func read(s agg.States, g uint32) (*state, shape) {
	in := s.(*cells.States[state])
	if p, ok := in.Algebra().(plain); ok {
		return in.Cell(g), p.shape
	}
	return in.Cell(g), in.Algebra().(shape)
}

func registerScalars(r *agg.Registry, fs *value.Families) {
	vertex := func(ec *expr.Context, o value.Opened, d types.Datum) (uint64, error) {
		h, err := o.Hash(ec, d, keyhash.UseCounter)
		return vertexOf(h), err
	}
	r.Scalars().Register(expr.Function{
		Signature: "graph_connected(sketch,any,any) bool", Description: "whether there is a path from one vertex to another; NULL where that is not decided",
		Volatility: expr.Stable,
		Eval: fs.Eval("graph_connected", "graph", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			a, err := vertex(ec, in[0], rest[0])
			if err != nil {
				return types.Datum{}, err
			}
			b, err := vertex(ec, in[0], rest[1])
			if err != nil {
				return types.Datum{}, err
			}
			c, s := read(in[0].States, 0)
			yes, known := s.connected(c, a, b)
			if !known {
				return types.NullOf(types.Of(types.Bool)), nil
			}
			return types.BoolDatum(yes), nil
		}),
	})
	count := func(pick func(*components) int) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval("graph_components", "graph", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, s := read(in[0].States, 0)
			return types.IntDatum(types.Int8, int64(pick(s.components(c)))), nil
		})
	}
	most := func(c *components) int { return c.size }
	r.Scalars().Register(expr.Function{
		Signature: "graph_components(sketch) int8", Description: "number of components of the vertices that have edges",
		Eval: count(most), Lower: count((*components).least), Upper: count(most),
	})
	r.Scalars().Register(expr.Function{
		Signature: "graph_degree(sketch,any) int8", Description: "sum of the weights of the edges of a vertex",
		Volatility: expr.Stable,
		Eval: fs.Eval("graph_degree", "graph", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			v, err := vertex(ec, in[0], rest[0])
			if err != nil {
				return types.Datum{}, err
			}
			degree := int64(0)
			if c, _ := read(in[0].States, 0); c.vertices[v] != nil {
				degree = c.vertices[v].degree
			}
			return types.IntDatum(types.Int8, degree), nil
		}),
	})
	r.Scalars().Register(expr.Function{
		Signature: "graph_degrees(sketch) jsonb", Description: "how many vertices have each degree, the largest first",
		Eval: fs.Eval("graph_degrees", "graph", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, _ := read(in[0].States, 0)
			degrees := c.degrees()
			text := []byte{'['}
			keys := slices.Sorted(maps.Keys(degrees))
			for i := len(keys) - 1; i >= 0; i-- {
				if len(text) > 1 {
					text = append(text, ',')
				}
				text = fmt.Appendf(text, `{"degree": %d, "vertices": %d}`, keys[i], degrees[keys[i]])
			}
			return types.Parse(types.Of(types.JSONB), append(text, ']'), nil)
		}),
	})
}
