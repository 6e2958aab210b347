package types

import "time"

// TextOptions is what a session fixes for the text form of values.
type TextOptions struct {
	Location *time.Location // session TimeZone; nil means UTC
	Now      time.Time      // what 'now', 'today' … mean
	// RegName returns the name that a regclass, regproc or regnamespace shows.
	RegName func(t OID, oid uint32) (string, bool)
	// RegLookup resolves such a name.
	RegLookup func(t OID, name string) (uint32, bool)
}

// Parse reads the text form of a value of type t, applying its modifier.
func Parse(t Type, text []byte, opts *TextOptions) (Datum, error) { return Datum{}, nil }

// AppendParsed is Parse straight into a column.
func AppendParsed(v *Vector, text []byte, opts *TextOptions) error { return nil }

// AppendText appends the text form of row i, which is not NULL.
func AppendText(dst []byte, v *Vector, i int, opts *TextOptions) []byte { return nil }

// AppendDatumText appends the text form of d, which is not NULL.
func AppendDatumText(dst []byte, d Datum, opts *TextOptions) []byte { return nil }

// FormatDatum returns the text form of d, "" for NULL.
func FormatDatum(d Datum, opts *TextOptions) string { return "" }

// AppendBinary appends the binary wire form of row i, which is not NULL.
func AppendBinary(dst []byte, v *Vector, i int) []byte { return nil }

// ReadBinary appends the value that data holds in binary wire form to v.
func ReadBinary(v *Vector, data []byte) error { return nil }

// Compare orders two values of one type as PostgreSQL's btree does; NULLs last.
func Compare(a, b Datum) int { return 0 }

// String returns format_type's text: "character varying(10)".
func (t Type) String() string { return "" }

// ByName resolves a type name and its modifiers ("varchar", 10).
func ByName(name string, mods ...int32) (Type, error) { return Type{}, nil }
