package ranked

import (
	"fmt"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

var nParameter = agg.Parameter{Name: "n", Default: 10, Min: 1, Max: 10000, Meaning: "the number of values kept"}

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "ranked", Signature: signature,
		StreamModel: agg.CashRegister, MergeAlgebra: agg.CommutativeMonoid,
		Guarantee: "exact; of equal keys the smaller value counts", Confidence: "1", Citation: "none: rows in order",
		Memory: "48 bytes a group; 48 bytes a row that is kept, and the bytes of its key and value", PrivacyClass: agg.HoldsValues, CodecVersion: int(CodecV1),
	}
}

// Register registers keyed_max, keyed_min, first_values and last_values.
func Register(r *agg.Registry) {
	for _, f := range []struct {
		name    string
		largest bool
	}{{"keyed_max", true}, {"keyed_min", false}} {
		d := descriptor(f.name, f.name+"(key any ordered type, value any type with equality) → value's type")
		r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (agg.Bound, error) {
			if len(args) != 2 || !sortable(args[0]) || !valuehash.Hashable(args[1].OID) {
				return agg.Bound{}, param.NoFunction(f.name, args)
			}
			key, value := plain(args[0]), plain(args[1])
			return agg.Bound{
				Inputs: []int{0, 1}, ArgTypes: []types.Type{key, value},
				State: specOf(key, value, 1, f.largest, 0), Final: oneFinal{f.name, value},
			}, nil
		}})
	}
	for _, f := range []struct {
		name    string
		largest bool
	}{{"first_values", false}, {"last_values", true}} {
		d := descriptor(f.name, f.name+"(value any type with equality, key any ordered type [, n int4]) → array of values, in order")
		d.Parameters = []agg.Parameter{nParameter}
		r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
			if len(args) < 2 || len(args) > 3 || !sortable(args[1]) || !valuehash.Hashable(args[0].OID) || plain(args[0]).OID.ArrayOf() == 0 {
				return agg.Bound{}, param.NoFunction(f.name, args)
			}
			n, err := param.Integer(f.name, nParameter, args, consts, 2)
			if err != nil {
				return agg.Bound{}, err
			}
			value, key := plain(args[0]), plain(args[1])
			return agg.Bound{
				Inputs: []int{0, 1}, ArgTypes: []types.Type{value, key},
				State: specOf(key, value, n, f.largest, 1), Final: listFinal{f.name, value},
			}, nil
		}})
	}
}

// sortable reports whether values of the type have an order that their encoding has.
func sortable(t types.Type) bool {
	switch t.OID {
	case types.Bool, types.UUID:
		return true
	}
	return valuehash.Hashable(t.OID) && !t.OID.IsArray() && t.OID != types.JSONB
}

// plain is the type without modifiers, text for untyped literals.
func plain(t types.Type) types.Type {
	if t.OID == types.Unknown || t.OID == types.Varchar {
		return types.Of(types.Text)
	}
	return types.Of(t.OID)
}

// specOf is the StateSpec of the n rows with the smallest keys, or the largest.
// keyAt is the number of the input that is the key; the other one is the value.
func specOf(key, value types.Type, n int, largest bool, keyAt int) agg.StateSpec {
	id := fmt.Sprintf("ranked(%s, %s) n=%d largest=%t v%d", key, value, n, largest, CodecV1)
	return cells.Spec[Cell]{
		Family: "ranked", ID: id, Version: CodecV1,
		Algebra: func(agg.Config) cells.Algebra[Cell] {
			return &Algebra{
				N: n,
				Row: func(k, p []byte, in []*types.Vector, row int, _ uint64) ([]byte, []byte) {
					k = types.AppendKey(k, in[keyAt], row)
					if largest {
						Invert(k)
					}
					return k, types.AppendKey(p, in[1-keyAt], row)
				},
				Valid: func(e Entry) bool {
					k := append([]byte(nil), e.Key...)
					if largest {
						Invert(k)
					}
					_, okKey := Decode(key, k)
					_, okValue := Decode(value, e.Payload)
					return okKey && okValue
				},
			}
		},
		Group: func(rows int64) int64 { return 80 * min(rows, int64(n)) },
	}
}

// oneFinal makes a state the value of its first entry.
type oneFinal struct {
	name string
	typ  types.Type
}

// Type implements agg.Finaliser.
func (f oneFinal) Type() types.Type { return f.typ }

// Approximate implements agg.Finaliser.
func (oneFinal) Approximate() bool { return false }

// Kind implements agg.Finaliser.
func (oneFinal) Kind() agg.ErrorKind { return agg.Exact }

// String implements agg.Finaliser.
func (f oneFinal) String() string { return f.name }

// Finalise implements agg.Finaliser.
func (f oneFinal) Finalise(states agg.States, n int, _ float64, out *types.Vector, _ *agg.Bounds) error {
	s := states.(*cells.States[Cell])
	for g := range uint32(n) {
		if list := Values(f.typ, s.Cell(g)); len(list) > 0 {
			out.AppendDatum(list[0])
		} else {
			out.AppendNull()
		}
	}
	return nil
}

// listFinal makes a state the array of its values.
type listFinal struct {
	name string
	elem types.Type
}

// Type implements agg.Finaliser.
func (f listFinal) Type() types.Type { return types.Of(f.elem.OID.ArrayOf()) }

// Approximate implements agg.Finaliser.
func (listFinal) Approximate() bool { return false }

// Kind implements agg.Finaliser.
func (listFinal) Kind() agg.ErrorKind { return agg.Exact }

// String implements agg.Finaliser.
func (f listFinal) String() string { return f.name }

// Finalise implements agg.Finaliser.
func (f listFinal) Finalise(states agg.States, n int, _ float64, out *types.Vector, _ *agg.Bounds) error {
	s := states.(*cells.States[Cell])
	for g := range uint32(n) {
		AppendList(out, f.elem, Values(f.elem, s.Cell(g)))
	}
	return nil
}

// AppendList appends values as an array, NULL for none.
func AppendList(out *types.Vector, elem types.Type, list []types.Datum) {
	if len(list) == 0 {
		out.AppendNull()
		return
	}
	out.AppendDatum(types.NewArray(elem, list).Datum())
}
