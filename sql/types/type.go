package types

// OID numbers a type as pg_type.oid does in PostgreSQL 15.
type OID uint32

// The types that TallyDB knows. The numbers are PostgreSQL's and never change;
// Sketch is ours, from the range PostgreSQL leaves to users.
const (
	Unknown      OID = 705
	Bool         OID = 16
	Bytea        OID = 17
	Char         OID = 18 // the internal one-byte "char"
	Name         OID = 19
	Int8         OID = 20
	Int2         OID = 21
	Int2Vector   OID = 22
	Int4         OID = 23
	Regproc      OID = 24
	Text         OID = 25
	Oid          OID = 26
	Xid          OID = 28
	OidVector    OID = 30
	JSON         OID = 114
	PgNodeTree   OID = 194
	Float4       OID = 700
	Float8       OID = 701
	Bpchar       OID = 1042
	Varchar      OID = 1043
	Date         OID = 1082
	Time         OID = 1083
	Timestamp    OID = 1114
	Timestamptz  OID = 1184
	TimeTZ       OID = 1266
	Interval     OID = 1186
	Bit          OID = 1560
	Varbit       OID = 1562
	Numeric      OID = 1700
	Regclass     OID = 2205
	Regtype      OID = 2206
	Regnamespace OID = 4089
	UUID         OID = 2950
	JSONB        OID = 3802
	Record       OID = 2249
	RecordArray  OID = 2287
	Void         OID = 2278
	AclItem      OID = 1033

	BoolArray        OID = 1000
	ByteaArray       OID = 1001
	CharArray        OID = 1002
	NameArray        OID = 1003
	Int2Array        OID = 1005
	Int4Array        OID = 1007
	TextArray        OID = 1009
	BpcharArray      OID = 1014
	VarcharArray     OID = 1015
	Int8Array        OID = 1016
	Float4Array      OID = 1021
	Float8Array      OID = 1022
	OidArray         OID = 1028
	AclItemArray     OID = 1034
	TimestampArray   OID = 1115
	DateArray        OID = 1182
	TimeArray        OID = 1183
	TimestamptzArray OID = 1185
	TimeTZArray      OID = 1270
	IntervalArray    OID = 1187
	BitArray         OID = 1561
	VarbitArray      OID = 1563
	NumericArray     OID = 1231
	JSONArray        OID = 199
	UUIDArray        OID = 2951
	JSONBArray       OID = 3807
	RegtypeArray     OID = 2211

	Sketch OID = 16384 // opaque, versioned sketch state
)

// Type is a PostgreSQL type with its modifier (varchar(10), numeric(12,2)).
// The zero modifier means none, so Type{OID: Int4} is complete and comparable
// with ==.
//
// A domain is its base type with a mark: who computes with values looks at the OID,
// which is the base type's, and who casts, stores or describes them at the domain.
type Type struct {
	OID    OID
	mod    int32 // PostgreSQL's atttypmod + 1
	domain OID
}

// Of returns the type without a modifier.
func Of(oid OID) Type { return Type{OID: oid} }

// WithModifier returns t with PostgreSQL's atttypmod m; -1 means none.
func (t Type) WithModifier(m int32) Type { return Type{OID: t.OID, mod: m + 1} }

// InDomain returns t as the domain of this number, whose values are of type t.
func (t Type) InDomain(domain OID) Type {
	t.domain = domain
	return t
}

// Domain returns the number of the domain that t is, or 0.
func (t Type) Domain() OID { return t.domain }

// Base returns the type of the values of a domain; other types are their own.
func (t Type) Base() Type { return t.InDomain(0) }

// Declared returns the number of the type as pg_attribute has it: that of the domain,
// where t is one.
func (t Type) Declared() OID {
	if t.domain != 0 {
		return t.domain
	}
	return t.OID
}

// Modifier returns PostgreSQL's atttypmod, or -1 where there is none.
func (t Type) Modifier() int32 { return t.mod - 1 }

// Kind is the physical layout of a type's values.
type Kind uint8

// The three layouts.
const (
	// KindInt: bool (0, 1), the integers, oids and reg types, "char", date
	// (days), time (microseconds), timetz (see Timetz), timestamp and timestamptz
	// (microseconds), enums (see EnumLabel).
	KindInt Kind = iota + 1
	// KindFloat: float4 and float8.
	KindFloat
	// KindBytes: text-like types as UTF-8, bytea, uuid (16 bytes), json as
	// written, jsonb canonical, numeric, interval, arrays and sketches in the
	// encodings that this package documents.
	KindBytes
)

// IsInteger reports whether a type is int2, int4 or int8.
func (o OID) IsInteger() bool { return o == Int2 || o == Int4 || o == Int8 }

// Holds reports whether an integer is a value of an integer type.
func (o OID) Holds(v int64) bool {
	switch o {
	case Int2:
		return v == int64(int16(v))
	case Int4:
		return v == int64(int32(v))
	}
	return true
}

// Kind returns the layout of t's values.
func (t Type) Kind() Kind { return t.OID.Kind() }

// Kind returns the layout of the values of the type with this OID.
func (o OID) Kind() Kind {
	switch o {
	case Bool, Char, Int8, Int2, Int4, Regproc, Oid, Xid, Date, Time, TimeTZ, Timestamp, Timestamptz,
		Regclass, Regtype, Regnamespace:
		return KindInt
	case Float4, Float8:
		return KindFloat
	default:
		if o.IsEnum() || o == AnyEnum {
			return KindInt
		}
		return KindBytes
	}
}
