package value

import (
	"math"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// seeded is what States of families that hash say of their seed.
type seeded interface{ SeedID() uint64 }

func (f *Family) seedOf(s agg.States) uint64 {
	if f.Unseeded {
		return 0
	}
	return s.(seeded).SeedID()
}

// final makes states of one kind sketch values.
type final struct {
	family *Family
	kind   Kind
}

// NewFinal returns the finaliser that makes states of a kind of this family
// sketch values.
func NewFinal(f *Family, k Kind) agg.Finaliser { return final{f, k} }

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.Sketch) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (f final) Kind() agg.ErrorKind { return f.family.ErrorKind }

// String implements agg.Finaliser.
func (final) String() string { return "sketch" }

// Finalise implements agg.Finaliser. Sketches have no order, so no limits; the
// error is that of what they stand for.
func (f final) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	head := Append(nil, Value{SeedID: f.family.seedOf(states), Kind: f.kind})
	var buf []byte
	for g := range uint32(n) {
		buf = states.Append(append(buf[:0], head...), g)
		out.AppendBytes(buf)
		if bounds != nil {
			appendError(bounds, f.family.Error(states, g, confidence))
		}
	}
	return nil
}

func appendError(bounds *agg.Bounds, e float64) {
	bounds.Lo.AppendNull()
	bounds.Hi.AppendNull()
	if math.IsNaN(e) {
		bounds.Error.AppendNull()
	} else {
		bounds.Error.AppendFloat(e)
	}
}
