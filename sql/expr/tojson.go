package expr

import (
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
	case d.Type.OID.IsInteger(), isFloat(d.Type.OID), d.Type.OID == types.Numeric:
		return shown(ec, d)
	}
	return string(types.AppendJSONDateTime(nil, d, ec.TextOptions()))
}
