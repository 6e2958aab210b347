package types_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/types"
)

// genRecords yields two records of one shape.
func genRecords(t *rapid.T) (a, b types.Datum) {
	var x, y []types.Field
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		o := rapid.SampledFrom(scalarTypes).Draw(t, "type")
		name := genText(t)
		for _, to := range []*[]types.Field{&x, &y} {
			d := genDatum(t, o)
			if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
				d = types.NullOf(d.Type)
			}
			*to = append(*to, types.Field{Name: name, Value: d})
		}
	}
	if len(x) > 0 && rapid.Bool().Draw(t, "nested") {
		x, y = append(x, types.Field{Value: types.NewRecord(x)}), append(y, types.Field{Value: types.NewRecord(y)})
	}
	return types.NewRecord(x), types.NewRecord(y)
}

// TestRecordsKeepTheirFields: what a record is made of comes back, from its bytes and,
// but for names, from its key.
func TestRecordsKeepTheirFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, _ := genRecords(t)
		fields, err := types.RecordFields(d)
		if err != nil {
			t.Fatal(err)
		}
		if again := types.NewRecord(fields); !bytes.Equal(again.Bytes, d.Bytes) {
			t.Fatalf("%x became %x", d.Bytes, again.Bytes)
		}
		v := types.NewVector(d.Type, 1)
		rest, err := types.ReadKey(append(types.AppendDatumKey(nil, d), "rest"...), v)
		if err != nil || string(rest) != "rest" || types.Compare(v.Datum(0), d) != 0 {
			t.Fatalf("the key gives %v, rest %q: %v", types.FormatDatum(v.Datum(0), nil), rest, err)
		}
		for n := range len(d.Bytes) { // no prefix is read beyond its end
			_, _ = types.RecordFields(types.Datum{Type: d.Type, Bytes: d.Bytes[:n:n]})
		}
	})
}

// TestRecordsCompareByTheirFields: the first fields that differ decide, with NULLs equal
// to each other and last, and equal records have one key.
func TestRecordsCompareByTheirFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genRecords(t)
		x, _ := types.RecordFields(a)
		y, _ := types.RecordFields(b)
		want := 0
		for i := 0; i < len(x) && want == 0; i++ {
			want = sign(types.Compare(x[i].Value, y[i].Value))
		}
		if got := sign(types.Compare(a, b)); got != want {
			t.Fatalf("%s against %s: %d instead of %d", types.FormatDatum(a, nil), types.FormatDatum(b, nil), got, want)
		}
		if equal := bytes.Equal(types.AppendDatumKey(nil, a), types.AppendDatumKey(nil, b)); equal != (want == 0) {
			t.Fatalf("equal keys: %v, compare: %d", equal, want)
		}
	})
}
