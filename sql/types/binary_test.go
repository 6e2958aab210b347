package types_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

// testdata/binary.txt holds type|text|hex, where the hex is what the type's
// send function of PostgreSQL 15 gives: encode(numeric_send('1.5'), 'hex').
func TestBinaryFormIsPostgres(t *testing.T) {
	f, err := os.Open("testdata/binary.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		p := strings.Split(sc.Text(), "|")
		typ, err := types.ByName(p[0])
		if err != nil {
			t.Fatal(err)
		}
		d, err := types.Parse(typ, []byte(p[1]), nil)
		if err != nil {
			t.Errorf("%s %s: %v", p[0], p[1], err)
			continue
		}
		if got := hex.EncodeToString(types.AppendDatumBinary(nil, d, nil)); got != p[2] {
			t.Errorf("%s %s: got %s, want %s", p[0], p[1], got, p[2])
		}
		raw, _ := hex.DecodeString(p[2])
		back, err := types.ParseBinary(typ, raw)
		if err != nil || types.FormatDatum(back, nil) != types.FormatDatum(d, nil) {
			t.Errorf("%s %s: read back as %v, %v", p[0], p[1], back, err)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for name, want := range map[string]string{
		"int": "integer", "bigint": "bigint", "decimal(10,2)": "numeric(10,2)", "varchar(10)": "character varying(10)",
		"char": "character(1)", "float": "double precision", "float(10)": "real", "timestamptz": "timestamp with time zone",
		"timestamp(3)": "timestamp(3) without time zone", "text[]": "text[]", "_int4": "integer[]", "pg_catalog.int8": "bigint",
		"double precision": "double precision", "timestamp with time zone": "timestamp with time zone",
		"varchar(5)[]": "character varying(5)[]", `"char"`: `"char"`, "numeric(5,-2)": "numeric(5,-2)", "time(2)": "time(2) without time zone",
	} {
		typ, err := types.ByName(name)
		if err != nil || typ.String() != want {
			t.Errorf("%s: %s, %v; want %s", name, typ, err, want)
		}
	}
	if _, err := types.ByName("nosuch"); err == nil {
		t.Error("nosuch is a type")
	}
	it, err := types.IntervalType("day to second", 3)
	if err != nil || it.String() != "interval day to second(3)" {
		t.Error(it, err)
	}
}

func TestNumericFromInt128(t *testing.T) {
	for _, c := range []struct {
		hi   int64
		lo   uint64
		want string
	}{
		{0, 5, "5"},
		{-1, 1<<64 - 1, "-1"},
		{0, 1<<64 - 1, "18446744073709551615"},
		{1, 0, "18446744073709551616"},
		{-1, 0, "-18446744073709551616"},
		{-1 << 63, 0, "-170141183460469231731687303715884105728"},
	} {
		if got := types.NumericFromInt128(c.hi, c.lo).String(); got != c.want {
			t.Errorf("%d, %d: %s, want %s", c.hi, c.lo, got, c.want)
		}
	}
}
