package types

// Pseudo-types of polymorphic functions, and arrays of catalog types.
const (
	Any                OID = 2276
	AnyArray           OID = 2277
	AnyElement         OID = 2283
	AnyNonArray        OID = 2776
	AnyCompatible      OID = 5077
	AnyCompatibleArray OID = 5078
	AnyEnum            OID = 3500

	RegprocArray      OID = 1008
	XidArray          OID = 1011
	RegclassArray     OID = 2210
	RegnamespaceArray OID = 4090
)

// Info is what pg_type says of a type.
type Info struct {
	OID       OID
	Name      string // typname
	SQLName   string // format_type without modifier
	Len       int16  // typlen
	ByVal     bool
	Type      byte // typtype: b base, p pseudo
	Category  byte
	Preferred bool
	Delim     byte
	Elem      OID // typelem, also of vectors and name; see OID.Elem for arrays proper
	Array     OID // typarray
	Align     byte
	Storage   byte
}

// catalog holds the rows of pg_type, as PostgreSQL 15 has them.
var catalog = [...]Info{
	{Bool, "bool", "boolean", 1, true, 'b', 'B', true, ',', 0, BoolArray, 'c', 'p'},
	{Bytea, "bytea", "bytea", -1, false, 'b', 'U', false, ',', 0, ByteaArray, 'i', 'x'},
	{Char, "char", `"char"`, 1, true, 'b', 'Z', false, ',', 0, CharArray, 'c', 'p'},
	{Name, "name", "name", 64, false, 'b', 'S', false, ',', Char, NameArray, 'c', 'p'},
	{Int8, "int8", "bigint", 8, true, 'b', 'N', false, ',', 0, Int8Array, 'd', 'p'},
	{Int2, "int2", "smallint", 2, true, 'b', 'N', false, ',', 0, Int2Array, 's', 'p'},
	{Int2Vector, "int2vector", "int2vector", -1, false, 'b', 'A', false, ',', Int2, 0, 'i', 'p'},
	{Int4, "int4", "integer", 4, true, 'b', 'N', false, ',', 0, Int4Array, 'i', 'p'},
	{Regproc, "regproc", "regproc", 4, true, 'b', 'N', false, ',', 0, RegprocArray, 'i', 'p'},
	{Text, "text", "text", -1, false, 'b', 'S', true, ',', 0, TextArray, 'i', 'x'},
	{Oid, "oid", "oid", 4, true, 'b', 'N', true, ',', 0, OidArray, 'i', 'p'},
	{Xid, "xid", "xid", 4, true, 'b', 'U', false, ',', 0, XidArray, 'i', 'p'},
	{OidVector, "oidvector", "oidvector", -1, false, 'b', 'A', false, ',', Oid, 0, 'i', 'p'},
	{JSON, "json", "json", -1, false, 'b', 'U', false, ',', 0, JSONArray, 'i', 'x'},
	{PgNodeTree, "pg_node_tree", "pg_node_tree", -1, false, 'b', 'Z', false, ',', 0, 0, 'i', 'x'},
	{JSONArray, "_json", "_json", -1, false, 'b', 'A', false, ',', JSON, 0, 'i', 'x'},
	{Float4, "float4", "real", 4, true, 'b', 'N', false, ',', 0, Float4Array, 'i', 'p'},
	{Float8, "float8", "double precision", 8, true, 'b', 'N', true, ',', 0, Float8Array, 'd', 'p'},
	{Unknown, "unknown", "unknown", -2, false, 'p', 'X', false, ',', 0, 0, 'c', 'p'},
	{BoolArray, "_bool", "_bool", -1, false, 'b', 'A', false, ',', Bool, 0, 'i', 'x'},
	{ByteaArray, "_bytea", "_bytea", -1, false, 'b', 'A', false, ',', Bytea, 0, 'i', 'x'},
	{CharArray, "_char", "_char", -1, false, 'b', 'A', false, ',', Char, 0, 'i', 'x'},
	{NameArray, "_name", "_name", -1, false, 'b', 'A', false, ',', Name, 0, 'i', 'x'},
	{Int2Array, "_int2", "_int2", -1, false, 'b', 'A', false, ',', Int2, 0, 'i', 'x'},
	{Int4Array, "_int4", "_int4", -1, false, 'b', 'A', false, ',', Int4, 0, 'i', 'x'},
	{RegprocArray, "_regproc", "_regproc", -1, false, 'b', 'A', false, ',', Regproc, 0, 'i', 'x'},
	{TextArray, "_text", "_text", -1, false, 'b', 'A', false, ',', Text, 0, 'i', 'x'},
	{XidArray, "_xid", "_xid", -1, false, 'b', 'A', false, ',', Xid, 0, 'i', 'x'},
	{BpcharArray, "_bpchar", "_bpchar", -1, false, 'b', 'A', false, ',', Bpchar, 0, 'i', 'x'},
	{VarcharArray, "_varchar", "_varchar", -1, false, 'b', 'A', false, ',', Varchar, 0, 'i', 'x'},
	{Int8Array, "_int8", "_int8", -1, false, 'b', 'A', false, ',', Int8, 0, 'd', 'x'},
	{Float4Array, "_float4", "_float4", -1, false, 'b', 'A', false, ',', Float4, 0, 'i', 'x'},
	{Float8Array, "_float8", "_float8", -1, false, 'b', 'A', false, ',', Float8, 0, 'd', 'x'},
	{OidArray, "_oid", "_oid", -1, false, 'b', 'A', false, ',', Oid, 0, 'i', 'x'},
	{AclItem, "aclitem", "aclitem", 12, false, 'b', 'U', false, ',', 0, AclItemArray, 'i', 'p'},
	{AclItemArray, "_aclitem", "_aclitem", -1, false, 'b', 'A', false, ',', AclItem, 0, 'i', 'x'},
	{Bpchar, "bpchar", "character", -1, false, 'b', 'S', false, ',', 0, BpcharArray, 'i', 'x'},
	{Varchar, "varchar", "character varying", -1, false, 'b', 'S', false, ',', 0, VarcharArray, 'i', 'x'},
	{Date, "date", "date", 4, true, 'b', 'D', false, ',', 0, DateArray, 'i', 'p'},
	{Time, "time", "time without time zone", 8, true, 'b', 'D', false, ',', 0, TimeArray, 'd', 'p'},
	{Timestamp, "timestamp", "timestamp without time zone", 8, true, 'b', 'D', false, ',', 0, TimestampArray, 'd', 'p'},
	{TimestampArray, "_timestamp", "_timestamp", -1, false, 'b', 'A', false, ',', Timestamp, 0, 'd', 'x'},
	{DateArray, "_date", "_date", -1, false, 'b', 'A', false, ',', Date, 0, 'i', 'x'},
	{TimeArray, "_time", "_time", -1, false, 'b', 'A', false, ',', Time, 0, 'd', 'x'},
	{Timestamptz, "timestamptz", "timestamp with time zone", 8, true, 'b', 'D', true, ',', 0, TimestamptzArray, 'd', 'p'},
	{TimestamptzArray, "_timestamptz", "_timestamptz", -1, false, 'b', 'A', false, ',', Timestamptz, 0, 'd', 'x'},
	{Interval, "interval", "interval", 16, false, 'b', 'T', true, ',', 0, IntervalArray, 'd', 'p'},
	{IntervalArray, "_interval", "_interval", -1, false, 'b', 'A', false, ',', Interval, 0, 'd', 'x'},
	{TimeTZ, "timetz", "time with time zone", 12, false, 'b', 'D', false, ',', 0, TimeTZArray, 'd', 'p'},
	{TimeTZArray, "_timetz", "_timetz", -1, false, 'b', 'A', false, ',', TimeTZ, 0, 'd', 'x'},
	{NumericArray, "_numeric", "_numeric", -1, false, 'b', 'A', false, ',', Numeric, 0, 'i', 'x'},
	{Bit, "bit", "bit", -1, false, 'b', 'V', false, ',', 0, BitArray, 'i', 'x'},
	{BitArray, "_bit", "_bit", -1, false, 'b', 'A', false, ',', Bit, 0, 'i', 'x'},
	{Varbit, "varbit", "bit varying", -1, false, 'b', 'V', true, ',', 0, VarbitArray, 'i', 'x'},
	{VarbitArray, "_varbit", "_varbit", -1, false, 'b', 'A', false, ',', Varbit, 0, 'i', 'x'},
	{Numeric, "numeric", "numeric", -1, false, 'b', 'N', false, ',', 0, NumericArray, 'i', 'm'},
	{Regclass, "regclass", "regclass", 4, true, 'b', 'N', false, ',', 0, RegclassArray, 'i', 'p'},
	{Regtype, "regtype", "regtype", 4, true, 'b', 'N', false, ',', 0, RegtypeArray, 'i', 'p'},
	{RegclassArray, "_regclass", "_regclass", -1, false, 'b', 'A', false, ',', Regclass, 0, 'i', 'x'},
	{RegtypeArray, "_regtype", "_regtype", -1, false, 'b', 'A', false, ',', Regtype, 0, 'i', 'x'},
	{Record, "record", "record", -1, false, 'p', 'P', false, ',', 0, RecordArray, 'd', 'x'},
	{RecordArray, "_record", "record[]", -1, false, 'p', 'P', false, ',', Record, 0, 'd', 'x'},
	{Any, "any", `"any"`, 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{AnyArray, "anyarray", "anyarray", -1, false, 'p', 'P', false, ',', 0, 0, 'd', 'x'},
	{Void, "void", "void", 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{AnyElement, "anyelement", "anyelement", 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{AnyNonArray, "anynonarray", "anynonarray", 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{AnyEnum, "anyenum", "anyenum", 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{UUID, "uuid", "uuid", 16, false, 'b', 'U', false, ',', 0, UUIDArray, 'c', 'p'},
	{UUIDArray, "_uuid", "_uuid", -1, false, 'b', 'A', false, ',', UUID, 0, 'i', 'x'},
	{JSONB, "jsonb", "jsonb", -1, false, 'b', 'U', false, ',', 0, JSONBArray, 'i', 'x'},
	{JSONBArray, "_jsonb", "_jsonb", -1, false, 'b', 'A', false, ',', JSONB, 0, 'i', 'x'},
	{Regnamespace, "regnamespace", "regnamespace", 4, true, 'b', 'N', false, ',', 0, RegnamespaceArray, 'i', 'p'},
	{RegnamespaceArray, "_regnamespace", "_regnamespace", -1, false, 'b', 'A', false, ',', Regnamespace, 0, 'i', 'x'},
	{AnyCompatible, "anycompatible", "anycompatible", 4, true, 'p', 'P', false, ',', 0, 0, 'i', 'p'},
	{AnyCompatibleArray, "anycompatiblearray", "anycompatiblearray", -1, false, 'p', 'P', false, ',', 0, 0, 'd', 'x'},
	{Sketch, "sketch", "sketch", -1, false, 'b', 'U', false, ',', 0, 0, 'i', 'x'},
}

var catalogByOID = func() map[OID]*Info {
	m := make(map[OID]*Info, len(catalog))
	for i := range catalog {
		m[catalog[i].OID] = &catalog[i]
	}
	return m
}()

// Catalog returns the rows of pg_type. Callers do not write it.
func Catalog() []Info { return catalog[:] }

// Lookup returns what pg_type says of the type with this OID.
func Lookup(o OID) (*Info, bool) {
	if i, ok := catalogByOID[o]; ok {
		return i, true
	}
	switch p := publishedEnum(o); {
	case p == nil:
		return nil, false
	case o.IsEnum():
		return &p.info, true
	default:
		return &p.array, true
	}
}

// Elem returns the element type of an array or vector type, 0 for other types.
func (o OID) Elem() OID {
	if i := catalogByOID[o]; i != nil && (i.Category == 'A' || o == RecordArray) {
		return i.Elem
	}
	if o.isEnumArray() {
		return o - 1
	}
	return 0
}

// IsArray reports whether values of the type are arrays.
func (o OID) IsArray() bool { return o.Elem() != 0 }

// ArrayOf returns the array type with elements of o, 0 where there is none.
func (o OID) ArrayOf() OID {
	if i := catalogByOID[o]; i != nil {
		return i.Array
	}
	if o.IsEnum() {
		return o + 1
	}
	return 0
}

// Category returns typcategory, 'X' for unknown types.
func (o OID) Category() byte {
	if i := catalogByOID[o]; i != nil {
		return i.Category
	}
	switch {
	case o.IsEnum():
		return 'E'
	case o.isEnumArray():
		return 'A'
	}
	return 'X'
}

// Preferred reports whether the type is the preferred one of its category.
func (o OID) Preferred() bool {
	i := catalogByOID[o]
	return i != nil && i.Preferred
}
