package expr

import (
	"slices"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// SetFunction is one form of a function that yields rows. Forms of a name differ
// in the number of their arguments.
type SetFunction struct {
	Name    string
	Args    []types.OID
	Columns []types.Column
	// Params names the arguments, with defaults of the last ones, where a call may
	// name them; else nil.
	Params      []Parameter
	Description string
	// Nulls says that it is called with NULLs; else one NULL yields no rows.
	Nulls bool
	// Rows evaluates a call: the function that it returns appends the next row to
	// the columns, or returns false at the end.
	Rows func(ec *Context, args []types.Datum) (RowStep, error)
}

// RowStep appends the next row of a set to its columns; false at the end.
type RowStep func(out []*types.Vector) (bool, error)

var setFunctions = sync.OnceValue(func() map[string][]*SetFunction {
	out := map[string][]*SetFunction{}
	for _, f := range slices.Concat(textSets(), jsonSets(), jsonPathSets(), partitionSets(), aclSets()) {
		out[f.Name] = append(out[f.Name], f)
	}
	return out
})

// SetFunctions returns the forms of a name, none where it is no such function.
func SetFunctions(name string) []*SetFunction { return setFunctions()[name] }

// OneRow steps through a single row.
func OneRow(row []types.Datum) RowStep {
	return oneByOne(1, func(_ int, out []*types.Vector) {
		for i, d := range row {
			out[i].AppendDatum(d)
		}
	})
}

// partitionSets are about PostgreSQL's partitioned tables, of which there are none. psql
// asks for the ancestors of a table that others reference.
func partitionSets() []*SetFunction {
	return []*SetFunction{{
		Name: "pg_partition_ancestors", Args: []types.OID{types.Regclass}, Columns: oneColumn("relid", types.Regclass),
		Rows: func(*Context, []types.Datum) (RowStep, error) {
			return func([]*types.Vector) (bool, error) { return false, nil }, nil
		},
	}}
}

func oneColumn(name string, t types.OID) []types.Column {
	return []types.Column{{Name: name, Type: types.Of(t)}}
}

// oneByOne steps through n rows.
func oneByOne(n int, fill func(i int, out []*types.Vector)) RowStep {
	i := 0
	return func(out []*types.Vector) (bool, error) {
		if i == n {
			return false, nil
		}
		fill(i, out)
		i++
		return true, nil
	}
}

func textRows(parts []string) RowStep {
	return oneByOne(len(parts), func(i int, out []*types.Vector) { out[0].AppendString(parts[i]) })
}

// textSets are the functions that take text apart.
func textSets() []*SetFunction {
	splitRegex := func(_ *Context, a []types.Datum) (RowStep, error) {
		re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 2), "regexp_split_to_table()")
		if err != nil {
			return nil, err
		}
		var parts []string
		re.splitAround(re.text, func(part []byte) bool {
			parts = append(parts, string(part))
			return true
		})
		return textRows(parts), nil
	}
	matches := func(_ *Context, a []types.Datum) (RowStep, error) {
		re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 2), "")
		if err != nil {
			return nil, err
		}
		var found [][]int
		re.matches(re.text, regexSearch{first: !re.global}, func(m []int) bool {
			found = append(found, m)
			return true
		})
		return oneByOne(len(found), func(i int, out []*types.Vector) { out[0].AppendDatum(re.groups(found[i])) }), nil
	}
	var out []*SetFunction
	text := types.Text
	for _, args := range [][]types.OID{{text, text}, {text, text, text}} {
		out = append(
			out,
			&SetFunction{Name: "regexp_split_to_table", Args: args, Columns: oneColumn("regexp_split_to_table", text), Rows: splitRegex},
			&SetFunction{Name: "regexp_matches", Args: args, Columns: oneColumn("regexp_matches", types.TextArray), Rows: matches},
			&SetFunction{Name: "string_to_table", Args: args, Columns: oneColumn("string_to_table", text), Nulls: true, Rows: stringToTable},
		)
	}
	return out
}

// stringToTable splits at a separator, into characters where it is NULL; parts that
// equal the third argument are NULL.
func stringToTable(_ *Context, a []types.Datum) (RowStep, error) {
	if a[0].Null || len(a[0].Bytes) == 0 {
		return textRows(nil), nil
	}
	var parts []string
	switch s := str(a[0]); {
	case a[1].Null:
		parts = strings.Split(s, "")
	case len(a[1].Bytes) == 0:
		parts = []string{s}
	default:
		parts = strings.Split(s, str(a[1]))
	}
	return oneByOne(len(parts), func(i int, out []*types.Vector) {
		if len(a) > 2 && !a[2].Null && parts[i] == str(a[2]) {
			out[0].AppendNull()
		} else {
			out[0].AppendString(parts[i])
		}
	}), nil
}

// jsonSets are the functions that take documents apart.
func jsonSets() []*SetFunction {
	var out []*SetFunction
	for _, t := range []types.OID{types.JSON, types.JSONB} {
		name := types.Of(t).String()
		add := func(f string, columns []types.Column, kind types.JSONKind, fill func(v *types.JSONValue, i int, out []*types.Vector)) {
			f = name + f
			out = append(out, &SetFunction{Name: f, Args: []types.OID{t}, Columns: columns, Rows: func(_ *Context, a []types.Datum) (RowStep, error) {
				v, err := jsonOfKind(f, a[0], kind)
				if err != nil {
					return nil, err
				}
				return oneByOne(len(v.Items), func(i int, out []*types.Vector) { fill(v, i, out) }), nil
			}})
		}
		for _, asText := range []bool{false, true} {
			suffix, wrap, value := "", jsonDatum, t
			if asText {
				suffix, wrap, value = "_text", jsonText, types.Text
			}
			pair := []types.Column{{Name: "key", Type: types.Of(types.Text)}, {Name: "value", Type: types.Of(value)}}
			add("_each"+suffix, pair, types.JSONObject, func(v *types.JSONValue, i int, out []*types.Vector) {
				out[0].AppendString(v.Keys[i])
				out[1].AppendDatum(wrap(t, v.Items[i]))
			})
			add("_array_elements"+suffix, oneColumn("value", value), types.JSONArrayKind, func(v *types.JSONValue, i int, out []*types.Vector) {
				out[0].AppendDatum(wrap(t, v.Items[i]))
			})
		}
		add("_object_keys", oneColumn(name+"_object_keys", types.Text), types.JSONObject, func(v *types.JSONValue, i int, out []*types.Vector) {
			out[0].AppendString(v.Keys[i])
		})
	}
	return out
}

// jsonOfKind parses the argument of a function that takes arrays or objects only.
func jsonOfKind(f string, d types.Datum, kind types.JSONKind) (*types.JSONValue, error) {
	v, err := types.ParseJSON(d.Bytes)
	if err != nil || v.Kind == kind {
		return v, err
	}
	scalar := v.Kind != types.JSONArrayKind && v.Kind != types.JSONObject
	switch {
	case kind == types.JSONArrayKind && scalar:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot extract elements from a scalar")
	case kind == types.JSONArrayKind:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot extract elements from an object")
	case strings.HasSuffix(f, "_keys") && scalar:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a scalar", f)
	case strings.HasSuffix(f, "_keys"):
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on an array", f)
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a non-object", f)
}

// JSONRecords returns json_to_record and its kin, whose columns the call names:
// one row of an object, or with many one of each object of an array.
func JSONRecords(name string, t types.OID, columns []types.Column, many bool) *SetFunction {
	return &SetFunction{Name: name, Args: []types.OID{t}, Columns: columns, Nulls: !many, Rows: func(ec *Context, a []types.Datum) (RowStep, error) {
		if a[0].Null {
			return oneByOne(1, func(_ int, out []*types.Vector) {
				for _, c := range out {
					c.AppendNull()
				}
			}), nil
		}
		v, err := types.ParseJSON(a[0].Bytes)
		if err != nil {
			return nil, err
		}
		objects := []*types.JSONValue{v}
		if many {
			if v.Kind != types.JSONArrayKind {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a non-array", name)
			}
			objects = v.Items
		}
		next := 0
		return func(out []*types.Vector) (bool, error) {
			if next == len(objects) {
				return false, nil
			}
			o := objects[next]
			next++
			if o.Kind != types.JSONObject {
				if many {
					return false, sqlerr.New(sqlerr.InvalidParameterValue, "argument of %s must be an array of objects", name)
				}
				return false, sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a scalar", name)
			}
			for i, c := range columns {
				d, err := jsonField(ec, o.Field(c.Name), t, c.Type)
				if err != nil {
					return false, err
				}
				out[i].AppendDatum(d)
			}
			return true, nil
		}, nil
	}}
}

// jsonField makes a value of a type of a part of a document, as its text says.
func jsonField(ec *Context, v *types.JSONValue, from types.OID, to types.Type) (types.Datum, error) {
	switch {
	case v == nil || v.Kind == types.JSONNull && to.OID != types.JSON && to.OID != types.JSONB:
		return types.NullOf(to), nil
	case to.OID == types.JSON || to.OID == types.JSONB:
		return types.Parse(to, jsonDatum(from, v).Bytes, nil)
	case v.Kind == types.JSONArrayKind && to.OID.IsArray():
		items := make([]types.Datum, len(v.Items))
		for i, it := range v.Items {
			var err error
			if items[i], err = jsonField(ec, it, from, types.Of(to.OID.Elem())); err != nil {
				return types.Datum{}, err
			}
		}
		return types.NewArray(types.Of(to.OID.Elem()), items).Datum(), nil
	}
	return types.Parse(to, jsonText(from, v).Bytes, ec.TextOptions())
}
