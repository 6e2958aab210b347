package types_test

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/types"
)

// scalarTypes are the types that the properties run over, besides their arrays.
var scalarTypes = []types.OID{
	types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Text, types.Bytea, types.UUID,
	types.Date, types.Time, types.Timestamp, types.Timestamptz, types.Interval, types.JSONB, types.Oid, types.Varchar, types.Bpchar,
}

func genDecimal(t *rapid.T) types.Decimal {
	s := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,12})?`).Draw(t, "numeric")
	if rapid.IntRange(0, 20).Draw(t, "special") == 0 {
		s = rapid.SampledFrom([]string{"NaN", "Infinity", "-Infinity", "0", "0.00", "1e50", "1e-30"}).Draw(t, "which")
	}
	d, err := types.ParseDecimal([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func genText(t *rapid.T) string {
	return rapid.StringOf(rapid.RuneFrom(append([]rune("abz \"\\{},'\n\tNUL"), 'é', '世', '😀'))).Draw(t, "text")
}

func genDatum(t *rapid.T, o types.OID) types.Datum {
	d := types.Datum{Type: types.Of(o)}
	switch o {
	case types.Bool:
		d.Int = rapid.Int64Range(0, 1).Draw(t, "bool")
	case types.Int2:
		d.Int = int64(rapid.Int16().Draw(t, "int2"))
	case types.Int4:
		d.Int = int64(rapid.Int32().Draw(t, "int4"))
	case types.Int8:
		d.Int = rapid.Int64().Draw(t, "int8")
	case types.Oid:
		d.Int = int64(rapid.Uint32().Draw(t, "oid"))
	case types.Float4:
		d.Float = float64(rapid.Float32().Draw(t, "float4"))
	case types.Float8:
		d.Float = rapid.Float64().Draw(t, "float8")
	case types.Date:
		d.Int = rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, rapid.Int64Range(-2451545, 2145031948).Draw(t, "date")}).Draw(t, "pick")
	case types.Time:
		d.Int = rapid.Int64Range(0, 86_400_000_000).Draw(t, "time")
	case types.Timestamp, types.Timestamptz:
		d.Int = rapid.Int64Range(-211813488000000000, 9223371331199999999).Draw(t, "timestamp")
	case types.Interval:
		s := types.Span{
			Micros: rapid.Int64Range(-1e15, 1e15).Draw(t, "micros"), Days: rapid.Int32Range(-100000, 100000).Draw(t, "days"),
			Months: rapid.Int32Range(-100000, 100000).Draw(t, "months"),
		}
		d.Bytes = s.Append(nil)
	case types.Numeric:
		d.Bytes = genDecimal(t).Append(nil)
	case types.UUID:
		d.Bytes = rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid")
	case types.Bytea:
		d.Bytes = rapid.SliceOf(rapid.Byte()).Draw(t, "bytea")
	case types.JSONB:
		text := rapid.SampledFrom([]string{`{"a":1,"bb":[1,2.50,null]}`, `"x"`, `1.0`, `1.00`, `[]`, `{}`, `true`, `[1,"a"]`}).Draw(t, "jsonb")
		v, err := types.Parse(d.Type, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		d = v
	default:
		d.Bytes = []byte(genText(t))
	}
	return d
}

// genValue draws a value of a scalar type or of an array.
func genValue(t *rapid.T) types.Datum {
	o := rapid.SampledFrom(scalarTypes).Draw(t, "type")
	if !rapid.Bool().Draw(t, "array") {
		return genDatum(t, o)
	}
	return genArray(t, o)
}

func genArray(t *rapid.T, o types.OID) types.Datum {
	var items []types.Datum
	for range rapid.IntRange(0, 4).Draw(t, "length") {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			items = append(items, types.NullOf(types.Of(o)))
		} else {
			items = append(items, genDatum(t, o))
		}
	}
	return types.NewArray(types.Of(o), items).Datum()
}

func same(a, b types.Datum) bool {
	return a.Null == b.Null && a.Int == b.Int && bytes.Equal(a.Bytes, b.Bytes) &&
		(a.Float == b.Float || math.IsNaN(a.Float) && math.IsNaN(b.Float))
}

func TestTextRoundTrip(t *testing.T) {
	loc, _ := time.LoadLocation("America/New_York")
	rapid.Check(t, func(t *rapid.T) {
		opts := &types.TextOptions{}
		d := genValue(t)
		if d.Type.OID != types.Timestamptz && d.Type.OID != types.TimestamptzArray {
			opts.Location = loc
		}
		text := types.FormatDatum(d, opts)
		back, err := types.Parse(d.Type, []byte(text), opts)
		if err != nil || !same(d, back) {
			t.Fatalf("%s: %v became %q became %v, %v", d.Type, d, text, back, err)
		}
	})
}

func TestBinaryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genValue(t)
		b := types.AppendDatumBinary(nil, d, nil)
		back, err := types.ParseBinary(d.Type, b)
		if err != nil || !same(d, back) {
			t.Fatalf("%s: %v became %x became %v, %v", d.Type, d, b, back, err)
		}
	})
}

func TestAppendParsedEqualsParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genValue(t)
		text := []byte(types.FormatDatum(d, nil))
		if rapid.Bool().Draw(t, "damage") && len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		want, err1 := types.Parse(d.Type, text, nil)
		v := types.NewVector(d.Type, 1)
		err2 := types.AppendParsed(v, text, nil)
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("%s %q: %v and %v", d.Type, text, err1, err2)
		}
		if err1 == nil && !same(want, v.Datum(0)) {
			t.Fatalf("%s %q: %v and %v", d.Type, text, want, v.Datum(0))
		}
	})
}

func sign(x int) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

func TestKeyOrderIsCompareOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(scalarTypes).Draw(t, "type")
		gen := genDatum
		if rapid.Bool().Draw(t, "array") {
			gen = genArray
		}
		a, b := gen(t, o), gen(t, o)
		ka, kb := types.AppendDatumKey(nil, a), types.AppendDatumKey(nil, b)
		c := types.Compare(a, b)
		if o == types.JSONB {
			if (c == 0) != bytes.Equal(ka, kb) {
				t.Fatalf("%v and %v: compare %d, keys %x %x", a, b, c, ka, kb)
			}
			return
		}
		if sign(c) != bytes.Compare(ka, kb) {
			t.Fatalf("%s %v and %v: compare %d, keys %x %x", a.Type, a, b, c, ka, kb)
		}
	})
}

func TestKeyDecodesToEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genValue(t)
		key := append(types.AppendDatumKey(nil, d), 1, 2, 3)
		v := types.NewVector(d.Type, 1)
		rest, err := types.ReadKey(key, v)
		if err != nil || !bytes.Equal(rest, []byte{1, 2, 3}) || types.Compare(d, v.Datum(0)) != 0 {
			t.Fatalf("%s %v: %v, rest %x, %v", d.Type, d, v, rest, err)
		}
	})
}

func TestIntegersOfEveryLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{1,20}`).Draw(t, "integer")
		if rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
			b := []byte(s)
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("/:;?@x. ")).Draw(t, "byte")
			s = string(b)
		}
		want, err1 := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		got, err2 := types.Parse(types.Of(types.Int8), []byte(s), nil)
		if (err1 == nil) != (err2 == nil) || err1 == nil && want != got.Int {
			t.Fatalf("%q: %d, %v and %d, %v", s, want, err1, got.Int, err2)
		}
	})
}

func TestEqualNumericsShareAKey(t *testing.T) {
	for _, p := range [][2]string{{"1.0", "1.00"}, {"0", "0.000"}, {"-10", "-10.0"}, {"100", "1e2"}} {
		a, _ := types.Parse(types.Of(types.Numeric), []byte(p[0]), nil)
		b, _ := types.Parse(types.Of(types.Numeric), []byte(p[1]), nil)
		if !bytes.Equal(types.AppendDatumKey(nil, a), types.AppendDatumKey(nil, b)) {
			t.Errorf("keys of %s and %s differ", p[0], p[1])
		}
	}
}
