package sample

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var kParameter = agg.Parameter{Name: "k", Default: 100, Min: 1, Max: 10000, Meaning: "the number of rows sampled"}

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "sample", Signature: signature,
		StreamModel: agg.CashRegister, MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{kParameter},
		Confidence: "a sample has no limits", Memory: "48 bytes a group; 64 bytes a sampled row and its value",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(ranked.CodecV1),
	}
}

// Register registers sample_agg and priority_sample.
func Register(r *agg.Registry) {
	d := descriptor("sample_agg", "sample_agg(x any type with equality, id any type with equality [, k int4]) → array of x")
	d.Guarantee = "each k of the distinct identifiers are equally likely; all rows up to k"
	d.Citation = "Cohen, Kaplan: Summarizing data using bottom-k sketches, 2007"
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		const name = "sample_agg"
		if len(args) < 2 || len(args) > 3 || !valuehash.Hashable(args[0].OID) || !valuehash.Hashable(args[1].OID) || valuehash.Widest(args[0]).OID.ArrayOf() == 0 {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		k, err := param.Integer(name, kParameter, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		x, id := plain(args[0]), valuehash.Widest(args[1])
		return agg.Bound{
			Inputs: []int{1, 0}, ArgTypes: []types.Type{id, x},
			State: uniformSpec(id, x, k), Final: listFinal{x, k},
		}, nil
	}})
	d = descriptor("priority_sample", "priority_sample(x any type with equality, weight float8, id any type with equality [, k int4]) → jsonb")
	d.Guarantee = "the sum of the estimates of any subset of values is unbiased; its relative standard error is at most 1/sqrt(k-1) of the total"
	d.Citation = "Duffield, Lund, Thorup: Priority sampling for estimation of arbitrary subset sums, 2007; Szegedy: The DLT priority sampling is essentially optimal, 2006"
	r.Register(&agg.Function{Descriptor: d, Bind: bindPriority(d.Name, func(x types.Type, k int) agg.Finaliser { return priorityFinal{x, k} })})
}

func bindPriority(name string, final func(x types.Type, k int) agg.Finaliser) func([]types.Type, []*types.Datum) (agg.Bound, error) {
	return func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 3 || len(args) > 4 || !valuehash.Hashable(args[0].OID) || !valuehash.Hashable(args[2].OID) || args[1].OID.Category() != 'N' && args[1].OID != types.Unknown {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		k, err := param.Integer(name, kParameter, args, consts, 3)
		if err != nil {
			return agg.Bound{}, err
		}
		x, id := plain(args[0]), valuehash.Widest(args[2])
		return agg.Bound{
			Inputs: []int{2, 1, 0}, ArgTypes: []types.Type{id, types.Of(types.Float8), x},
			State: prioritySpec(id, x, k), Final: final(x, k),
		}, nil
	}
}

// plain is the type without modifiers, text for untyped literals.
func plain(t types.Type) types.Type {
	if t.OID == types.Unknown || t.OID == types.Varchar {
		return types.Of(types.Text)
	}
	return types.Of(t.OID)
}

func spec(id string, n int, of func() *ranked.Algebra) agg.StateSpec {
	return cells.Spec[ranked.Cell]{
		Family: "sample", ID: id, Version: ranked.CodecV1, HashUse: keyhash.UseSample,
		Algebra: func(agg.Config) cells.Algebra[ranked.Cell] { return of() },
		Group:   func(rows int64) int64 { return 80 * min(rows, int64(n)) },
	}
}

// uniformSpec ranks rows by the hash of the identifier.
func uniformSpec(id, x types.Type, k int) agg.StateSpec {
	return spec(fmt.Sprintf("sample(%s, %s) k=%d siphash13 v%d", id, x, k, ranked.CodecV1), k, func() *ranked.Algebra {
		return &ranked.Algebra{
			N: k, Unique: true,
			Row: func(key, payload []byte, in []*types.Vector, row int, hash uint64) ([]byte, []byte) {
				return binary.BigEndian.AppendUint64(key, hash), types.AppendKey(payload, in[1], row)
			},
			Valid: func(e ranked.Entry) bool {
				_, ok := ranked.Decode(x, e.Payload)
				return ok && len(e.Key) == 8
			},
		}
	})
}

// listFinal makes a state the array of the sampled values, in the order of their hashes.
type listFinal struct {
	elem types.Type
	k    int
}

// Type implements agg.Finaliser.
func (f listFinal) Type() types.Type { return types.Of(f.elem.OID.ArrayOf()) }

// Approximate implements agg.Finaliser.
func (listFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (listFinal) Kind() agg.ErrorKind { return agg.NoBound }

// String implements agg.Finaliser.
func (f listFinal) String() string { return fmt.Sprintf("sample of %d", f.k) }

// Finalise implements agg.Finaliser. A sample that is not all rows has no error
// that could be declared.
func (f listFinal) Finalise(states agg.States, n int, _ float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[ranked.Cell])
	for g := range uint32(n) {
		c := s.Cell(g)
		ranked.AppendList(out, f.elem, ranked.Values(f.elem, c))
		appendUnknown(bounds, len(c.Entries) == f.k)
	}
	return nil
}

func appendUnknown(bounds *agg.Bounds, unknown bool) {
	if bounds == nil {
		return
	}
	bounds.Lo.AppendNull()
	bounds.Hi.AppendNull()
	if unknown {
		bounds.Error.AppendNull()
	} else {
		bounds.Error.AppendFloat(0)
	}
}

// badWeight is the error for weights that cannot be sampled by.
func badWeight(w float64) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "a weight of a sample must be a finite number above 0, not %v", w)
}

func validWeight(w float64) bool { return w > 0 && !math.IsInf(w, 1) }
