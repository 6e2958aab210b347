package types

import (
	"cmp"
	"testing"
)

// TestStoredDecimalsOrderAsDecimals: however they are compared.
func TestStoredDecimalsOrderAsDecimals(t *testing.T) {
	var all []Decimal
	for _, s := range []string{
		"0", "-0", "0.0", "1", "-1", "1.0", "1.5", "-1.5", "255", "256", "-255", "-256", "65535.25", "65536.25", "NaN", "Infinity", "-Infinity",
		"18446744073709551615", "18446744073709551616", "-18446744073709551616", "340282366920938463463374607431768211456.5",
	} {
		d, err := ParseDecimal([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	for _, a := range all {
		for _, b := range all {
			got := CompareBytes(Of(Numeric), a.Append(nil), b.Append(nil))
			if cmp.Compare(got, 0) != cmp.Compare(a.Cmp(b), 0) {
				t.Errorf("%s against %s: %d, want %d", a, b, got, a.Cmp(b))
			}
		}
	}
}
