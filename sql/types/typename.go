package types

import (
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// String returns format_type's text: "character varying(10)".
func (t Type) String() string {
	if e := t.OID.Elem(); e != 0 && t.OID != Int2Vector && t.OID != OidVector {
		return Type{OID: e, mod: t.mod}.String() + "[]"
	}
	info, ok := Lookup(t.OID)
	if !ok {
		return "???"
	}
	m := t.Modifier()
	if m < 0 {
		return info.SQLName
	}
	switch t.OID {
	case Varchar, Bpchar:
		return info.SQLName + "(" + strconv.Itoa(int(m)-4) + ")"
	case Bit, Varbit:
		return info.SQLName + "(" + strconv.Itoa(int(m)) + ")"
	case Numeric:
		p, s := t.NumericLimits()
		return "numeric(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case Time, TimeTZ, Timestamp, Timestamptz:
		word, rest, _ := strings.Cut(info.SQLName, " ")
		return word + "(" + strconv.Itoa(int(m)) + ") " + rest
	case Interval:
		return "interval" + intervalModName(m)
	}
	return info.SQLName
}

// NumericLimits returns precision and scale of a numeric type with a modifier.
func (t Type) NumericLimits() (precision, scale int) {
	m := t.Modifier() - 4
	scale = int(m & 0x7ff)
	if scale >= 1024 {
		scale -= 2048
	}
	return int(m>>16) & 0xffff, scale
}

// NumericType returns numeric(precision, scale).
func NumericType(precision, scale int) Type {
	return Of(Numeric).WithModifier(int32(precision<<16|scale&0x7ff) + 4)
}

const (
	intervalFullPrecision = 0xffff
	intervalFullRange     = 0x7fff
)

var intervalRanges = map[int32]string{
	1 << 2: " year", 1 << 1: " month", 1 << 3: " day", 1 << 10: " hour", 1 << 11: " minute", 1 << 12: " second",
	1<<2 | 1<<1: " year to month", 1<<3 | 1<<10: " day to hour", 1<<3 | 1<<10 | 1<<11: " day to minute",
	1<<3 | 1<<10 | 1<<11 | 1<<12: " day to second", 1<<10 | 1<<11: " hour to minute",
	1<<10 | 1<<11 | 1<<12: " hour to second", 1<<11 | 1<<12: " minute to second",
}

func intervalModName(m int32) string {
	s := intervalRanges[m>>16&0x7fff]
	if p := m & 0xffff; p != intervalFullPrecision {
		s += "(" + strconv.Itoa(int(p)) + ")"
	}
	return s
}

// IntervalType returns an interval with fields ("day to second"), or all where
// fields is "", and precision, or -1.
func IntervalType(fields string, precision int) (Type, error) {
	r, p := int32(intervalFullRange), int32(intervalFullPrecision)
	if fields != "" {
		found := false
		for k, v := range intervalRanges {
			if v == " "+strings.ToLower(fields) {
				r, found = k, true
			}
		}
		if !found {
			return Type{}, sqlerr.New(sqlerr.SyntaxError, "invalid interval fields %q", fields)
		}
	}
	if precision >= 0 {
		p = int32(min(precision, 6))
	}
	if fields == "" && precision < 0 {
		return Of(Interval), nil
	}
	return Of(Interval).WithModifier(r<<16 | p), nil
}

var aliases = map[string]OID{
	"int": Int4, "integer": Int4, "bigint": Int8, "smallint": Int2, "real": Float4, "boolean": Bool,
	"double precision": Float8, "float": Float8, "decimal": Numeric, "dec": Numeric,
	"character varying": Varchar, "char varying": Varchar, "character": Bpchar, "char": Bpchar, `"char"`: Char,
	"nchar": Bpchar, "national character": Bpchar, "national character varying": Varchar,
	"time without time zone": Time, "time with time zone": TimeTZ, "bit varying": Varbit, "timestamp without time zone": Timestamp,
	"timestamp with time zone": Timestamptz, `"any"`: Any,
}

var catalogByName = func() map[string]OID {
	m := map[string]OID{}
	for i := range catalog {
		if catalog[i].OID != Char { // the word char means character(1)
			m[catalog[i].Name] = catalog[i].OID
		}
	}
	for k, v := range aliases {
		m[k] = v
	}
	return m
}()

// ByName resolves a type name as SQL spells it ("int", "double precision",
// "text[]", "_int4", pg_catalog-qualified) with its modifiers. 42704 for names
// that are not types.
func ByName(name string, mods ...int32) (Type, error) {
	n := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "pg_catalog.")
	array := false
	for strings.HasSuffix(n, "[]") {
		n, array = strings.TrimSpace(strings.TrimSuffix(n, "[]")), true
	}
	if open := strings.IndexByte(n, '('); open > 0 && len(mods) == 0 {
		if inner, rest, ok := strings.Cut(n[open+1:], ")"); ok {
			for _, f := range strings.Split(inner, ",") {
				x, err := strconv.ParseInt(strings.TrimSpace(f), 10, 32)
				if err != nil {
					return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier %q", f)
				}
				mods = append(mods, int32(x))
			}
			n = strings.TrimSpace(strings.TrimSpace(n[:open]) + rest)
		}
	}
	if n == "float" && len(mods) == 1 {
		if mods[0] < 1 || mods[0] > 53 {
			return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be between 1 and 53 bits")
		}
		if mods[0] <= 24 {
			n = "float4"
		}
		mods = nil
	}
	o, ok := catalogByName[n]
	if !ok {
		return Type{}, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", name)
	}
	if len(mods) == 0 && (n == "char" || n == "character" || n == "nchar" || n == "national character") {
		mods = []int32{1}
	}
	t, err := withMods(o, mods)
	if err != nil || !array {
		return t, err
	}
	if o.ArrayOf() == 0 {
		return Type{}, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", name)
	}
	return Type{OID: o.ArrayOf(), mod: t.mod}, nil
}

func withMods(o OID, mods []int32) (Type, error) {
	if len(mods) == 0 {
		return Of(o), nil
	}
	switch o {
	case Varchar, Bpchar:
		if mods[0] < 1 {
			return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", catalogByOID[o].Name)
		}
		if mods[0] > 10485760 {
			return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed 10485760", catalogByOID[o].Name)
		}
		return Of(o).WithModifier(mods[0] + 4), nil
	case Bit, Varbit:
		switch {
		case mods[0] < 1:
			return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", catalogByOID[o].Name)
		case mods[0] > maxBits:
			return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed %d", catalogByOID[o].Name, maxBits)
		}
		return Of(o).WithModifier(mods[0]), nil
	case Numeric:
		return numericMods(mods)
	case Time, TimeTZ, Timestamp, Timestamptz:
		return Of(o).WithModifier(min(max(mods[0], 0), 6)), nil
	case Interval:
		return IntervalType("", int(mods[0]))
	}
	return Type{}, sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type %q", catalogByOID[o].Name)
}

func numericMods(mods []int32) (Type, error) {
	p, s := mods[0], int32(0)
	if len(mods) > 1 {
		s = mods[1]
	}
	if p < 1 || p > 1000 {
		return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and 1000", p)
	}
	if s < -1000 || s > 1000 {
		return Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC scale %d must be between -1000 and 1000", s)
	}
	return NumericType(int(p), int(s)), nil
}
