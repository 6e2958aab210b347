package topk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Limits of the parameters.
const (
	MaxK            = 1000
	MinCapacity     = 8
	MaxCapacity     = 8192
	DefaultCapacity = 256 // or 8 k, for large k
)

var (
	kParameter = agg.Parameter{
		Name: "k", Default: 10, Min: 1, Max: MaxK, Meaning: "the number of values listed",
	}
	capacityParameter = agg.Parameter{
		Name: "capacity", Default: DefaultCapacity, Min: MinCapacity, Max: MaxCapacity, Whole: true,
		Meaning: "the number of counters kept: counts are wrong by at most 1/(capacity+1) of all values",
	}
)

// Register registers approx_top_k and what works on sketch values.
func Register(r *agg.Registry, fs *value.Families) {
	const name = "approx_top_k"
	d := agg.Descriptor{
		Name: name, Aliases: []string{"topk_agg"}, Family: "topk",
		Signature:   "approx_top_k(x any type with equality, k int4 [, capacity int4]) → jsonb",
		StreamModel: agg.CashRegister, Subtracting: "freq_agg(x)", MergeAlgebra: agg.MergeableSummary,
		Parameters:   []agg.Parameter{kParameter, capacityParameter},
		Guarantee:    "count - error ≤ true count ≤ count; a value that is not listed has at most total/(capacity+1) more than the least listed; exact up to 3/2 capacity distinct values",
		Confidence:   "1: the bound is worst case",
		Citation:     "Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements in data streams, 2005; Agarwal, Cormode, Huang, Phillips, Wei, Yi: Mergeable summaries, 2012",
		Memory:       "32 bytes a group; 43 to 86 bytes a distinct value and its bytes, up to 66 to 132 capacity bytes",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV2),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 || len(args) > 3 || !valuehash.Hashable(args[0].OID) {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		k, err := param.Integer(name, kParameter, args, consts, 1)
		if err != nil {
			return agg.Bound{}, err
		}
		capacity, err := param.Integer(name, capacityParameter, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		if len(args) < 3 {
			capacity = max(capacity, 8*k)
		}
		if capacity < k {
			return agg.Bound{}, sqlerr.New(sqlerr.InvalidParameterValue, "the capacity of %s must be between k and %d", name, MaxCapacity).
				WithDetail("k is %d, capacity is %d.", k, capacity)
		}
		t := valuehash.Widest(args[0])
		return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: spec{t, capacity}, Final: final{k}, Shadow: shadow.Of(t, types.Of(types.JSONB), final{k}.exact)}, nil
	}})
	registerValues(r, fs, d)
}

// spec is the StateSpec of counters of one type and capacity.
type spec struct {
	typ      types.Type
	capacity int
}

// Identity implements agg.StateSpec.
func (s spec) Identity() string {
	return fmt.Sprintf("topk(%s) capacity=%d siphash13 v%d", s.typ, s.capacity, codecV1)
}

// New implements agg.StateSpec.
func (s spec) New(cfg agg.Config) agg.States { return newStates(s.typ, s.capacity, cfg.Seed) }

// BytesPerGroup implements agg.StateSpec.
func (s spec) BytesPerGroup(n int64) int64 {
	const header, perValue = 32, 16
	if n == 0 {
		return header
	}
	shape := newShape(s.capacity)
	kept := int(min(n, int64(shape.limit)))
	class := uint8(firstClass)
	for !fits(class, kept) {
		class++
	}
	bytes := header + bytesOf(class)
	if s.typ.Kind() == types.KindBytes {
		bytes += perValue * int64(kept)
	}
	return bytes
}

// final makes counters the list of the k most frequent values.
type final struct{ k int }

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.JSONB) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.WorstCase }

// String implements agg.Finaliser.
func (f final) String() string { return fmt.Sprintf("top %d", f.k) }

// Finalise implements agg.Finaliser. A list has no limits; the error is the
// largest that a count can have, as a share of all values.
func (f final) Finalise(states agg.States, n int, _ float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	var buf []byte
	for i := range s.groups[:n] {
		g := &s.groups[i]
		if g.total == 0 {
			out.AppendNull()
		} else {
			buf = appendList(buf[:0], s.items(s.top(g, f.k), g.floor))
			out.AppendBytes(buf)
		}
		if bounds != nil {
			bounds.Lo.AppendNull()
			bounds.Hi.AppendNull()
			bounds.Error.AppendFloat(float64(g.floor) / float64(max(g.total, 1)))
		}
	}
	return nil
}

// exact is the list of all values.
func (f final) exact(v *shadow.Values) types.Datum {
	var list []item
	for d, n := range v.All() {
		list = append(list, item{d, n, 0})
	}
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(b.count, a.count) })
	return types.Datum{Type: f.Type(), Bytes: appendList(nil, list[:min(f.k, len(list))])}
}

// top returns the k counters with the largest upper limits, equal ones in the
// order of values.
func (s *States) top(g *group, k int) []counter {
	list := s.counters(g)
	slices.SortFunc(list, func(a, b counter) int {
		return cmp.Or(cmp.Compare(b.excess(), a.excess()), s.compareValues(a, b))
	})
	return list[:min(k, len(list))]
}
