package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// ToJSON returns x as JSON, of type json or jsonb; SQL NULL stays NULL.
func ToJSON(x Expr, to types.OID) (Expr, error) {
	x, err := ResolveUnknown(x)
	if err != nil || x.Type().OID == to {
		return x, err
	}
	name := "to_json"
	if to == types.JSONB {
		name = "to_jsonb"
	}
	return NewFunction(name, []Expr{x})
}

// JSONKey returns the text of x as the key of a JSON object.
func JSONKey(x Expr) (Expr, error) {
	x, err := ResolveUnknown(x)
	if err != nil {
		return nil, err
	}
	return &rowwise{name: "json_key", args: []Expr{x}, typ: types.Of(types.Text), row: func(ec *Context, d []types.Datum) (types.Datum, error) {
		if d[0].Null {
			return types.NullOf(types.Of(types.Text)), nil
		}
		return text(jsonKey(ec, d[0]))
	}}, nil
}

// jsonKey is the text of a value as an object's key: a string bare, all else as
// JSON writes it.
func jsonKey(ec *Context, d types.Datum) string {
	switch {
	case d.Type.OID == types.Bool:
		return castText(ec, d)
	case isInteger(d.Type.OID), isFloat(d.Type.OID), d.Type.OID == types.Numeric:
		return shown(ec, d)
	}
	return string(types.AppendJSONDateTime(nil, d, ec.TextOptions()))
}

// NewRowJSON is a row as a JSON object of these names, of type json.
func NewRowJSON(names []string, fields []Expr) (Expr, error) {
	args := make([]Expr, len(fields))
	for i, f := range fields {
		var err error
		if args[i], err = ResolveUnknown(f); err != nil {
			return nil, err
		}
	}
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = append(types.AppendJSONString(nil, n), ':')
	}
	return &rowwise{
		name: "row_to_json", args: args, typ: types.Of(types.JSON),
		text: func(args []Expr) string {
			var b strings.Builder
			b.WriteString("row_to_json(")
			for i, a := range args {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(a.String() + " AS " + QuoteIdent(names[i]))
			}
			b.WriteByte(')')
			return b.String()
		},
		row: func(ec *Context, d []types.Datum) (types.Datum, error) {
			out := []byte{'{'}
			for i, x := range d {
				if i > 0 {
					out = append(out, ',')
				}
				out = appendJSON(ec, append(out, keys[i]...), x)
			}
			return types.Datum{Type: types.Of(types.JSON), Bytes: append(out, '}')}, nil
		},
	}, nil
}
