package expr

import (
	"sync"

	"github.com/tallydb/tallydb/sql/jsonpath"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// paths remembers parsed paths; it is emptied when it has grown.
var paths = struct {
	sync.Mutex
	m map[string]*jsonpath.Path
}{m: map[string]*jsonpath.Path{}}

func parsePath(s string) (*jsonpath.Path, error) {
	paths.Lock()
	p := paths.m[s]
	paths.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := jsonpath.Parse(s)
	if err != nil {
		return nil, err
	}
	paths.Lock()
	defer paths.Unlock()
	if len(paths.m) >= 256 {
		clear(paths.m)
	}
	paths.m[s] = p
	return p, nil
}

// queryPath evaluates (target, path [, vars [, silent]]). failed says that an error
// was met of which the caller wants to hear nothing.
func queryPath(d []types.Datum, silent bool) (found []*types.JSONValue, failed bool, err error) {
	p, err := parsePath(str(d[1]))
	if err != nil {
		return nil, false, err
	}
	doc, err := types.ParseJSON(d[0].Bytes)
	if err != nil {
		return nil, false, err
	}
	var vars *types.JSONValue
	if len(d) > 2 {
		if vars, err = types.ParseJSON(d[2].Bytes); err != nil {
			return nil, false, err
		}
		if vars.Kind != types.JSONObject {
			return nil, false, sqlerr.New(sqlerr.InvalidParameterValue, "\"vars\" argument is not an object").
				WithDetail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.")
		}
	}
	if found, err = p.Query(doc, vars); err != nil && (silent || len(d) > 3 && d[3].Int != 0) && quiet(err) {
		return nil, true, nil
	}
	return found, false, err
}

// quiet reports whether an error is about the document, and not about the call.
func quiet(err error) bool {
	code := sqlerr.CodeOf(err)
	return code != sqlerr.OutOfMemory && code != sqlerr.UndefinedObject
}

var pathArgs = []string{"jsonb,text", "jsonb,text,jsonb", "jsonb,text,jsonb,bool"}

func jsonPathFunctions() []overload {
	var out []overload
	add := func(name, ret, desc string, f func(found []*types.JSONValue, d []types.Datum) (types.Datum, error)) {
		for _, args := range pathArgs {
			o := fn(name+"("+args+") "+ret, desc, nil)
			o.row = func(_ *Context, d []types.Datum) (types.Datum, error) {
				found, failed, err := queryPath(d, false)
				if err != nil || failed {
					return types.NullOf(types.Of(o.ret)), err
				}
				return f(found, d)
			}
			out = append(out, o)
		}
	}
	add("jsonb_path_exists", "bool", "whether a path finds anything", func(found []*types.JSONValue, _ []types.Datum) (types.Datum, error) {
		return boolean(len(found) > 0)
	})
	add("jsonb_path_match", "bool", "what the predicate of a path says", func(found []*types.JSONValue, d []types.Datum) (types.Datum, error) {
		return pathMatch(found, len(d) > 3 && d[3].Int != 0)
	})
	add("jsonb_path_query_array", "jsonb", "array of what a path finds", func(found []*types.JSONValue, _ []types.Datum) (types.Datum, error) {
		return jsonDatum(types.JSONB, &types.JSONValue{Kind: types.JSONArrayKind, Items: found}), nil
	})
	add("jsonb_path_query_first", "jsonb", "first of what a path finds", func(found []*types.JSONValue, _ []types.Datum) (types.Datum, error) {
		if len(found) == 0 {
			return types.NullOf(types.Of(types.JSONB)), nil
		}
		return jsonDatum(types.JSONB, found[0]), nil
	})
	return out
}

func pathMatch(found []*types.JSONValue, silent bool) (types.Datum, error) {
	if len(found) == 1 {
		switch found[0].Kind {
		case types.JSONBool:
			return boolean(found[0].Bool)
		case types.JSONNull:
			return types.NullOf(types.Of(types.Bool)), nil
		}
	}
	if silent {
		return types.NullOf(types.Of(types.Bool)), nil
	}
	return types.Datum{}, sqlerr.New(sqlerr.Code("22038"), "single boolean result is expected")
}

func jsonPathOperators() []overload {
	return []overload{
		fn("@?(jsonb,text) bool", "a path finds something", func(_ *Context, d []types.Datum) (types.Datum, error) {
			found, failed, err := queryPath(d, true)
			if err != nil || failed {
				return types.NullOf(types.Of(types.Bool)), err
			}
			return boolean(len(found) > 0)
		}),
		fn("@@(jsonb,text) bool", "the predicate of a path holds", func(_ *Context, d []types.Datum) (types.Datum, error) {
			found, failed, err := queryPath(d, true)
			if err != nil || failed {
				return types.NullOf(types.Of(types.Bool)), err
			}
			return pathMatch(found, true)
		}),
	}
}

// jsonPathSets is jsonb_path_query.
func jsonPathSets() []*SetFunction {
	var out []*SetFunction
	for n := 2; n <= 4; n++ {
		out = append(out, &SetFunction{
			Name: "jsonb_path_query", Args: []types.OID{types.JSONB, types.Text, types.JSONB, types.Bool}[:n],
			Columns: oneColumn("jsonb_path_query", types.JSONB),
			Rows: func(_ *Context, d []types.Datum) (RowStep, error) {
				found, _, err := queryPath(d, false)
				return oneByOne(len(found), func(i int, out []*types.Vector) { out[0].AppendDatum(jsonDatum(types.JSONB, found[i])) }), err
			},
		})
	}
	return out
}
