package types

// Datum is one value. Which field holds it is decided by Type.Kind(); Null
// overrides. The zero Datum is not a value.
type Datum struct {
	Type  Type
	Null  bool
	Int   int64
	Float float64
	Bytes []byte
}

// NullOf returns the NULL of a type.
func NullOf(t Type) Datum { return Datum{Type: t, Null: true} }

// IntDatum returns a datum of a KindInt type.
func IntDatum(oid OID, x int64) Datum { return Datum{Type: Of(oid), Int: x} }

// BoolDatum returns a boolean.
func BoolDatum(x bool) Datum {
	d := Datum{Type: Of(Bool)}
	if x {
		d.Int = 1
	}
	return d
}

// FloatDatum returns a float8.
func FloatDatum(x float64) Datum { return Datum{Type: Of(Float8), Float: x} }

// TextDatum returns a text value.
func TextDatum(s string) Datum { return Datum{Type: Of(Text), Bytes: []byte(s)} }
