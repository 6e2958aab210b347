package types_test

import (
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

// fuzzed picks one of the catalog's types.
func fuzzed(n byte) types.Type {
	c := types.Catalog()
	return types.Of(c[int(n)%len(c)].OID)
}

func FuzzParse(f *testing.F) {
	for i := range types.Catalog() {
		for _, s := range []string{"1", "2020-01-01 12:00:00+00", "{1,NULL}", "1 day", `{"a":[1]}`, "\\x00", "[0:1]={a,b}", "P1Y", "12:00 pm"} {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, n byte, text []byte) {
		typ := fuzzed(n)
		d, err := types.Parse(typ, text, nil)
		if err != nil || d.Null {
			return
		}
		shown := types.FormatDatum(d, nil)
		if typ.OID.Category() == 'P' || typ.OID == types.Char || typ.OID == types.CharArray {
			return
		}
		if _, err := types.Parse(typ, []byte(shown), nil); err != nil {
			t.Fatalf("%s %q shows as %q, which fails: %v", typ, text, shown, err)
		}
	})
}

func FuzzParseBinary(f *testing.F) {
	for i, c := range types.Catalog() {
		if d, err := types.Parse(types.Of(c.OID), []byte("1"), nil); err == nil {
			f.Add(byte(i), types.AppendDatumBinary(nil, d, nil))
		}
		if d, err := types.Parse(types.Of(c.OID), []byte("{1}"), nil); err == nil {
			f.Add(byte(i), types.AppendDatumBinary(nil, d, nil))
		}
	}
	f.Fuzz(func(_ *testing.T, n byte, data []byte) {
		d, err := types.ParseBinary(fuzzed(n), data)
		if err != nil {
			return
		}
		types.FormatDatum(d, nil)
		types.AppendDatumKey(nil, d)
		types.AppendDatumBinary(nil, d, nil)
	})
}

func FuzzReadKey(f *testing.F) {
	f.Add(byte(1), []byte{1, 0x40, 0x40, 0, 0, 1, 2, 0})
	f.Fuzz(func(_ *testing.T, n byte, key []byte) {
		v := types.NewVector(fuzzed(n), 1)
		_, _ = types.ReadKey(key, v)
	})
}

func FuzzDecodeArray(f *testing.F) {
	f.Add([]byte{1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = types.DecodeArray(b, types.Of(types.Int4))
		_, _ = types.DecodeArray(b, types.Of(types.Text))
	})
}
