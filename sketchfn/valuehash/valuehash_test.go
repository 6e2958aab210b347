package valuehash

import (
	"math"
	"testing"

	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

func TestColumnsAndSingleValuesHashAlike(t *testing.T) {
	h := New(keyhash.Seed{K0: 1, K1: 2}, keyhash.UseDistinct)
	v := types.NewVector(types.Of(types.Int8), 2)
	v.AppendInt(-5)
	if got := h.Hash(v, []int32{0})[0]; got != h.Word(math.MaxUint64-4) {
		t.Error("int8")
	}
	v = types.NewVector(types.Of(types.Float8), 2)
	v.AppendFloat(math.Copysign(0, -1))
	if got := h.Hash(v, []int32{0})[0]; got != h.Word(FloatBits(0)) {
		t.Error("float8")
	}
	v = types.NewVector(types.Of(types.Text), 2)
	v.AppendString("x\x00y")
	if got := h.Hash(v, []int32{0})[0]; got != h.Bytes([]byte("x\x00y")) {
		t.Error("text")
	}
	d, err := types.Parse(types.Of(types.Numeric), []byte("1.50"), nil)
	if err != nil {
		t.Fatal(err)
	}
	v = types.NewVector(d.Type, 2)
	v.AppendDatum(d)
	if got := h.Hash(v, []int32{0})[0]; got != h.Bytes(types.AppendDatumKey(nil, d)) {
		t.Error("numeric")
	}
}

func TestSeedsAndUsesGiveOtherHashes(t *testing.T) {
	a := New(keyhash.Seed{K0: 1}, keyhash.UseDistinct).Word(7)
	if a == New(keyhash.Seed{K0: 2}, keyhash.UseDistinct).Word(7) || a == New(keyhash.Seed{K0: 1}, keyhash.UseRouting).Word(7) {
		t.Error("the hash does not depend on the seed and the use")
	}
}

func TestFloatBits(t *testing.T) {
	nan := math.Float64frombits(math.Float64bits(math.NaN()) | 12345)
	if FloatBits(nan) != FloatBits(-nan) || FloatBits(math.Copysign(0, -1)) != FloatBits(0) || FloatBits(1) == FloatBits(-1) {
		t.Error("equal floats have unequal bits, or the reverse")
	}
}
