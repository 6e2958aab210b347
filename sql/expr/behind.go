package expr

import "github.com/tallydb/tallydb/sql/types"

// namedTypes are the types of which PostgreSQL names the functions behind comparisons and
// the binary form, with what their names begin with.
var namedTypes = []struct{ prefix, name, send string }{
	{"bool", "bool", "boolsend"},
	{"int2", "int2", "int2send"},
	{"int4", "int4", "int4send"},
	{"int8", "int8", "int8send"},
	{"float4", "float4", "float4send"},
	{"float8", "float8", "float8send"},
	{"text", "text", "textsend"},
	{"bytea", "bytea", "byteasend"},
	{"numeric_", "numeric", "numeric_send"},
	{"date_", "date", "date_send"},
	{"time_", "time", "time_send"},
	{"timestamp_", "timestamp", "timestamp_send"},
	{"timestamptz_", "timestamptz", "timestamptz_send"},
	{"interval_", "interval", "interval_send"},
	{"uuid_", "uuid", "uuid_send"},
}

// functionsBehind are int4eq and its kin, which the operators call by another name, and
// int4send and its kin, which make the binary form of a value.
func functionsBehind() []overload {
	var out []overload
	for _, t := range namedTypes {
		for i, suffix := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			op := opEq + compareOp(i)
			if t.name == "text" && op > opNe {
				suffix = "_" + suffix // text_lt, but texteq
			}
			out = append(out, fn(t.prefix+suffix+"("+t.name+","+t.name+") bool", "comparison", func(_ *Context, a []types.Datum) (types.Datum, error) {
				return types.BoolDatum(op.holds(types.Compare(a[0], a[1]))), nil
			}))
		}
		out = append(out, fn(t.send+"("+t.name+") bytea", "binary form", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{Type: types.Of(types.Bytea), Bytes: types.AppendDatumBinary(nil, a[0], nil)}, nil
		}))
	}
	return out
}
