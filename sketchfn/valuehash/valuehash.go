package valuehash

import (
	"math"

	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Hasher hashes columns.
type Hasher struct {
	seed keyhash.Seed
	use  uint64
	key  []byte
	out  []uint64
}

// New returns a hasher for one of keyhash's uses.
func New(seed keyhash.Seed, use uint64) *Hasher { return &Hasher{seed: seed, use: use} }

// Hash returns the hashes of the rows of v, in the order of rows. What stands
// for a NULL means nothing. The result is good until the next call.
func (h *Hasher) Hash(v *types.Vector, rows []int32) []uint64 {
	if cap(h.out) < len(rows) {
		h.out = make([]uint64, len(rows))
	}
	out := h.out[:len(rows)]
	seed, use := h.seed, h.use
	switch {
	case v.Type.Kind() == types.KindInt:
		for i, r := range rows {
			out[i] = uint64(v.Ints[r])
		}
		keyhash.FinaliseInts(seed, use, out)
	case v.Type.Kind() == types.KindFloat:
		for i, r := range rows {
			out[i] = FloatBits(v.Floats[r])
		}
		keyhash.FinaliseInts(seed, use, out)
	case PlainBytes(v.Type.OID):
		for i, r := range rows {
			out[i] = keyhash.Finalise(keyhash.Sum64(seed, v.Data[v.Offsets[r]:v.Offsets[r+1]]), use)
		}
	default:
		for i, r := range rows {
			h.key = types.AppendKey(h.key[:0], v, int(r))
			out[i] = keyhash.Finalise(keyhash.Sum64(seed, h.key), use)
		}
	}
	return out
}

// Word returns the hash of a value of KindInt, or of FloatBits of a float.
func (h *Hasher) Word(x uint64) uint64 { return keyhash.Finalise(keyhash.Sum64Int(h.seed, x), h.use) }

// Bytes returns the hash of a value of a PlainBytes type, or of the key encoding
// of a value of another type.
func (h *Hasher) Bytes(b []byte) uint64 { return keyhash.Finalise(keyhash.Sum64(h.seed, b), h.use) }

// MemoryBytes returns the bytes held.
func (h *Hasher) MemoryBytes() int64 { return int64(cap(h.key) + 8*cap(h.out)) }

// FloatBits returns the bits of f, equal for equal floats.
func FloatBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// PlainBytes reports whether values of the type are equal exactly when their
// bytes are.
func PlainBytes(o types.OID) bool {
	switch o {
	case types.Text, types.Varchar, types.Name, types.Bytea, types.UUID:
		return true
	}
	return false
}

// Hashable reports whether the type has an equality.
func Hashable(o types.OID) bool {
	switch o {
	case types.JSON, types.JSONArray, types.Sketch, types.Record, types.Void, types.AclItem, types.AclItemArray:
		return false
	}
	return true
}

// Widest returns the type that inputs of type t are hashed as, so that calls
// over columns of related types keep one state: int8 for integers, float8 for
// floats, text for text-like types and untyped literals; modifiers go.
func Widest(t types.Type) types.Type {
	switch t.OID {
	case types.Int2, types.Int4, types.Int8:
		return types.Of(types.Int8)
	case types.Float4, types.Float8:
		return types.Of(types.Float8)
	case types.Varchar, types.Text, types.Unknown:
		return types.Of(types.Text)
	}
	return types.Of(t.OID)
}
