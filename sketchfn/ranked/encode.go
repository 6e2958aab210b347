package ranked

import (
	"bytes"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/types"
)

// Invert turns the order of encoded bytes that follow at round, in place. No
// encoding is a prefix of another, so this is the reverse order.
func Invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// Decode returns the value of an encoding; ok is false if it is not one.
func Decode(t types.Type, key []byte) (types.Datum, bool) {
	v := types.NewVector(t, 1)
	rest, err := types.ReadKey(key, v)
	if err != nil || len(rest) != 0 || v.Nulls.Has(0) {
		return types.Datum{}, false
	}
	d := v.Datum(0)
	if t.Kind() == types.KindBytes && t.OID != types.Bytea && (t.OID == types.Text || t.OID == types.Varchar || t.OID == types.Bpchar) && !utf8.Valid(d.Bytes) {
		return types.Datum{}, false
	}
	if t.OID == types.UUID && len(d.Bytes) != 16 {
		return types.Datum{}, false
	}
	return d, bytes.Equal(types.AppendKey(nil, v, 0), key)
}

// Values decodes payloads of values of one type.
func Values(t types.Type, c *Cell) []types.Datum {
	out := make([]types.Datum, 0, len(c.Entries))
	for _, e := range c.Entries {
		d, _ := Decode(t, e.Payload)
		out = append(out, d)
	}
	return out
}
