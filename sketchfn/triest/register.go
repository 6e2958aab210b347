package triest

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var edgesParameter = agg.Parameter{
	Name: "edges", Default: 5000, Min: 6, Max: 100_000,
	Meaning: "the edges sampled: the count is exact up to so many",
}

// Register registers triangle_count.
func Register(r *agg.Registry) {
	d := agg.Descriptor{
		Name: "triangle_count", Family: "triest", Signature: "triangle_count(u any type with equality, v the same type [, edges int4]) → float8",
		StreamModel: agg.CashRegister, Subtracting: "graph_agg(u, v)", MergeAlgebra: agg.NotMergeable, Parameters: []agg.Parameter{edgesParameter},
		Guarantee:    "exact up to edges different edges; then unbiased, if each edge comes once",
		Confidence:   "there are no limits of an estimate: its variance depends on how many triangles share edges",
		Citation:     "De Stefani, Epasto, Riondato, Upfal: TRIEST: counting local and global triangles in fully dynamic streams with fixed memory size, 2016",
		Memory:       "56 bytes a group; 110 bytes a sampled edge",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: bind})
}

func bind(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
	const name = "triangle_count"
	if len(args) < 2 || len(args) > 3 || !valuehash.Hashable(args[0].OID) || valuehash.Widest(args[0]).OID != valuehash.Widest(args[1]).OID {
		return agg.Bound{}, param.NoFunction(name, args)
	}
	most, err := param.Integer(name, edgesParameter, args, consts, 2)
	if err != nil {
		return agg.Bound{}, err
	}
	t := valuehash.Widest(args[0])
	return agg.Bound{Inputs: []int{0, 1}, ArgTypes: []types.Type{t, t}, State: specOf(t, most), Final: final{}, Shadow: &agg.Shadow{State: specOf(t, math.MaxInt32), Final: final{}}}, nil
}

func specOf(t types.Type, most int) cells.Spec[state] {
	return cells.Spec[state]{
		Family: "triest", ID: fmt.Sprintf("triest(%s) edges=%d siphash13 v%d", t, most, codecV1), Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(cfg agg.Config) cells.Algebra[state] {
			return shape{most, valuehash.New(cfg.Seed, keyhash.UseCounter)}
		},
		Group: func(n int64) int64 { return bytesOfEdge * min(n, int64(most)) },
	}
}

// final makes a state the estimate.
type final struct{}

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.Float8) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.NoBound }

// String implements agg.Finaliser.
func (final) String() string { return "triangles" }

// Finalise implements agg.Finaliser.
func (final) Finalise(states agg.States, n int, _ float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[state])
	for g := range uint32(n) {
		c := s.Cell(g)
		out.AppendFloat(c.triangles)
		switch {
		case bounds == nil:
		case c.seen == uint64(len(c.sample)):
			bounds.Lo.AppendFloat(c.triangles)
			bounds.Hi.AppendFloat(c.triangles)
			bounds.Error.AppendFloat(0)
		default:
			bounds.Lo.AppendNull()
			bounds.Hi.AppendNull()
			bounds.Error.AppendNull()
		}
	}
	return nil
}
