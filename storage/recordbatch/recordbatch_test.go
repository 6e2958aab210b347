package recordbatch

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
)

var testSchema = &types.Schema{Columns: []types.Column{
	{Name: "i", Type: types.Of(types.Int8)}, {Name: "f", Type: types.Of(types.Float8)}, {Name: "s", Type: types.Of(types.Text)},
}}

func randomBatch(t *rapid.T) *types.Batch {
	b := types.NewBatch(testSchema, 0)
	b.Rows = rapid.IntRange(0, 200).Draw(t, "rows")
	scale := rapid.SampledFrom([]int64{1, 200, 1 << 14, 1 << 30, math.MaxInt64}).Draw(t, "scale")
	for range b.Rows {
		if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
			for _, c := range b.Cols {
				c.AppendNull()
			}
			continue
		}
		b.Cols[0].AppendInt(rapid.Int64Range(-scale, scale).Draw(t, "i"))
		b.Cols[1].AppendFloat(rapid.Float64().Draw(t, "f"))
		b.Cols[2].AppendString(rapid.StringN(0, 300, -1).Draw(t, "s"))
	}
	return b
}

func values(b *types.Batch) [][]types.Datum {
	out := make([][]types.Datum, len(b.Cols))
	for c, v := range b.Cols {
		for i := range b.Rows {
			out[c] = append(out[c], v.Datum(i))
		}
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	got := types.NewBatch(testSchema, 0)
	rapid.Check(t, func(t *rapid.T) {
		b := randomBatch(t)
		if err := Decode(Encode(nil, b), got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(values(b), values(got), cmp.AllowUnexported(types.Type{}), cmp.Transformer("bits", math.Float64bits), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// TestAppend: payloads one after the other, also of fewer columns, are their rows.
func TestAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, want := types.NewBatch(testSchema, 0), types.NewBatch(testSchema, 0)
		skipped := rapid.IntRange(-1, len(testSchema.Columns)-1).Draw(t, "skipped")
		if skipped >= 0 {
			got.Cols[skipped] = nil
		}
		for range rapid.IntRange(0, 6).Draw(t, "payloads") {
			b := randomBatch(t)
			for i, c := range b.Cols {
				want.Cols[i].AppendAll(c)
			}
			want.Rows += b.Rows
			if err := Append(Encode(nil, b), got); err != nil {
				t.Fatal(err)
			}
		}
		if skipped >= 0 {
			got.Cols[skipped] = want.Cols[skipped]
		}
		if d := cmp.Diff(values(want), values(got), cmp.AllowUnexported(types.Type{}), cmp.Transformer("bits", math.Float64bits), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzDecode(f *testing.F) {
	b := types.NewBatch(testSchema, 0)
	b.Cols[0].AppendInt(1 << 40)
	b.Cols[0].AppendInt(-3)
	b.Cols[1].AppendFloat(2)
	b.Cols[1].AppendNull()
	b.Cols[2].AppendString("hello")
	b.Cols[2].AppendNull()
	b.Rows = 2
	f.Add(Encode(nil, b))
	f.Fuzz(func(t *testing.T, payload []byte) {
		got := types.NewBatch(testSchema, 0)
		err := Decode(payload, got)
		if err != nil && !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTooNew) {
			t.Errorf("unclassified error %v", err)
		}
		if err == nil && got.Cols[0].Len() != got.Rows {
			t.Errorf("%d values for %d rows", got.Cols[0].Len(), got.Rows)
		}
	})
}
