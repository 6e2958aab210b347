package expr

import (
	"slices"
	"strconv"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// jsonEditFunctions change parts of documents.
func jsonEditFunctions() []overload {
	set := editPath(jsonEdit{replace: true, create: true}, "set path")
	insert := editPath(jsonEdit{create: true}, "set path")
	return []overload{
		fn("jsonb_set(jsonb,_text,jsonb) jsonb", "with a part replaced or added", set),
		fn("jsonb_set(jsonb,_text,jsonb,bool) jsonb", "with a part replaced, or added if asked for", func(ec *Context, d []types.Datum) (types.Datum, error) {
			return editPath(jsonEdit{replace: true, create: d[3].Int != 0}, "set path")(ec, d)
		}),
		fn("jsonb_insert(jsonb,_text,jsonb) jsonb", "with a part added", insert),
		fn("jsonb_insert(jsonb,_text,jsonb,bool) jsonb", "with a part added, after the place if asked for", func(ec *Context, d []types.Datum) (types.Datum, error) {
			return editPath(jsonEdit{create: true, after: d[3].Int != 0}, "set path")(ec, d)
		}),
		fn("jsonb_strip_nulls(jsonb) jsonb", "without members that are null", jsonRow(func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
			stripNulls(v)
			return finishJSONB(v)
		})),
		fn("json_strip_nulls(json) json", "without members that are null", jsonRow(func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
			stripNulls(v)
			return types.Datum{Type: types.Of(types.JSON), Bytes: appendCompactJSON(nil, v)}, nil
		})),
		fn("json_object(_text) json", "object of keys and values in turn", jsonObject(types.JSON)),
		fn("json_object(_text,_text) json", "object of keys and values", jsonObject(types.JSON)),
		fn("jsonb_object(_text) jsonb", "object of keys and values in turn", jsonObject(types.JSONB)),
		fn("jsonb_object(_text,_text) jsonb", "object of keys and values", jsonObject(types.JSONB)),
		fn("row_to_json(record) json", "row as JSON", func(ec *Context, d []types.Datum) (types.Datum, error) {
			return jsonOf(types.JSON, appendJSON(ec, nil, d[0]))
		}).stable(),
		fn("row_to_json(record,bool) json", "row as JSON, with line feeds between the fields", func(ec *Context, d []types.Datum) (types.Datum, error) {
			separator := ","
			if d[1].Int != 0 {
				separator = ",\n "
			}
			return jsonOf(types.JSON, appendRecordJSON(ec, nil, d[0], separator))
		}).stable(),
		fn("array_to_json(anyarray) json", "array as JSON", func(ec *Context, d []types.Datum) (types.Datum, error) {
			return jsonOf(types.JSON, appendJSON(ec, nil, d[0]))
		}).stable(),
	}
}

// jsonEditOperators remove parts of documents.
func jsonEditOperators() []overload {
	return []overload{
		fn("-(jsonb,_text) jsonb", "without some keys", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
			a, err := types.ArrayDatum(r[0])
			if err != nil {
				return types.Datum{}, err
			}
			if err := editable(v, "delete"); err != nil {
				return types.Datum{}, err
			}
			for _, k := range a.Items {
				if !k.Null {
					v = withoutKey(v, str(k))
				}
			}
			return finishJSONB(v)
		})),
		fn("-(jsonb,int4) jsonb", "without an element", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
			if err := editable(v, "delete"); err != nil {
				return types.Datum{}, err
			}
			if v.Kind == types.JSONObject {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "cannot delete from object using integer index")
			}
			i := r[0].Int
			if i < 0 {
				i += int64(len(v.Items))
			}
			if i >= 0 && i < int64(len(v.Items)) {
				v.Items = slices.Delete(v.Items, int(i), int(i)+1)
			}
			return finishJSONB(v)
		})),
		fn("#-(jsonb,_text) jsonb", "without the part at a path", editPath(jsonEdit{remove: true}, "delete path")),
	}
}

// editable refuses documents without parts.
func editable(v *types.JSONValue, what string) error {
	if v.Kind == types.JSONArrayKind || v.Kind == types.JSONObject {
		return nil
	}
	if what == "delete" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot delete from scalar")
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot %s in scalar", what)
}

// jsonEdit is a change at the end of a path.
type jsonEdit struct {
	value   *types.JSONValue
	replace bool // what is there
	create  bool // what is not there
	after   bool // insert after the element of the path
	remove  bool
}

// editPath applies a change to the part of a document that a path names. A path
// that leads nowhere changes nothing.
func editPath(e jsonEdit, what string) rowFunc {
	return func(_ *Context, d []types.Datum) (types.Datum, error) {
		v, err := types.ParseJSON(d[0].Bytes)
		if err != nil {
			return types.Datum{}, err
		}
		path, err := types.ArrayDatum(d[1])
		if err != nil {
			return types.Datum{}, err
		}
		if len(path.Dims) > 1 {
			return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "wrong number of array subscripts")
		}
		if err := editable(v, what); err != nil {
			return types.Datum{}, err
		}
		edit := e
		if !e.remove {
			if edit.value, err = types.ParseJSON(d[2].Bytes); err != nil {
				return types.Datum{}, err
			}
		}
		if len(path.Items) > 0 {
			if err := edit.at(v, path.Items, 0); err != nil {
				return types.Datum{}, err
			}
		}
		return finishJSONB(v)
	}
}

// at applies the change below v, whose place is step level of the path.
func (e *jsonEdit) at(v *types.JSONValue, path []types.Datum, level int) error {
	if path[level].Null {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "path element at position %d is null", level+1)
	}
	last := level == len(path)-1
	step := str(path[level])
	switch v.Kind {
	case types.JSONObject:
		i := slices.Index(v.Keys, step)
		switch {
		case i < 0 && last && e.create:
			v.Keys, v.Items = append(v.Keys, step), append(v.Items, e.value)
		case i < 0:
		case !last:
			return e.at(v.Items[i], path, level+1)
		case e.remove:
			v.Keys, v.Items = slices.Delete(v.Keys, i, i+1), slices.Delete(v.Items, i, i+1)
		case e.replace:
			v.Items[i] = e.value
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
				WithHint("Try using the function jsonb_set to replace key value.")
		}
	case types.JSONArrayKind:
		return e.atElement(v, path, level)
	}
	return nil
}

// atElement is at for an array. An index beyond an end adds at that end.
func (e *jsonEdit) atElement(v *types.JSONValue, path []types.Datum, level int) error {
	step, n := str(path[level]), int64(len(v.Items))
	i, err := strconv.ParseInt(step, 10, 32)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, step)
	}
	if i < 0 {
		i += n
	}
	inside := i >= 0 && i < n
	if level < len(path)-1 {
		if !inside {
			return nil
		}
		return e.at(v.Items[i], path, level+1)
	}
	switch {
	case inside && e.remove:
		v.Items = slices.Delete(v.Items, int(i), int(i)+1)
	case inside && e.replace:
		v.Items[i] = e.value
	case e.remove || !e.create:
	default:
		at := min(max(i, 0), n)
		if inside && e.after {
			at++
		}
		v.Items = slices.Insert(v.Items, int(at), e.value)
	}
	return nil
}

// withoutKey drops a member of an object, or the strings of an array that equal key.
func withoutKey(v *types.JSONValue, key string) *types.JSONValue {
	out := &types.JSONValue{Kind: v.Kind}
	for i, it := range v.Items {
		if v.Kind == types.JSONObject {
			if v.Keys[i] != key {
				out.Keys, out.Items = append(out.Keys, v.Keys[i]), append(out.Items, it)
			}
		} else if it.Kind != types.JSONString || it.Text != key {
			out.Items = append(out.Items, it)
		}
	}
	return out
}

// stripNulls drops the members of objects that are null, at any depth.
func stripNulls(v *types.JSONValue) {
	for i := len(v.Items) - 1; i >= 0; i-- {
		if v.Kind == types.JSONObject && v.Items[i].Kind == types.JSONNull {
			v.Keys, v.Items = slices.Delete(v.Keys, i, i+1), slices.Delete(v.Items, i, i+1)
			continue
		}
		stripNulls(v.Items[i])
	}
}

// appendCompactJSON appends a document without spaces; scalars as they were written.
func appendCompactJSON(dst []byte, v *types.JSONValue) []byte {
	switch v.Kind {
	case types.JSONArrayKind:
		dst = append(dst, '[')
		for i, it := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCompactJSON(dst, it)
		}
		return append(dst, ']')
	case types.JSONObject:
		dst = append(dst, '{')
		for i, it := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ':')
			dst = appendCompactJSON(dst, it)
		}
		return append(dst, '}')
	case types.JSONString:
		return types.AppendJSONString(dst, v.Text)
	}
	return v.Append(dst)
}

// jsonObject makes an object of text: keys and values in turn or in pairs, or of
// two arrays.
func jsonObject(t types.OID) rowFunc {
	return func(_ *Context, d []types.Datum) (types.Datum, error) {
		a, err := types.ArrayDatum(d[0])
		if err != nil {
			return types.Datum{}, err
		}
		var keys, values []types.Datum
		if len(d) == 2 {
			b, err := types.ArrayDatum(d[1])
			if err != nil {
				return types.Datum{}, err
			}
			if keys, values = a.Items, b.Items; len(a.Dims) > 1 || len(b.Dims) > 1 {
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "wrong number of array subscripts")
			}
			if len(keys) != len(values) {
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "mismatched array dimensions")
			}
		} else {
			switch {
			case len(a.Dims) > 2:
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "wrong number of array subscripts")
			case len(a.Dims) == 2 && a.Dims[1] != 2:
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "array must have two columns")
			case len(a.Items)%2 != 0:
				return types.Datum{}, sqlerr.New(sqlerr.Code("2202E"), "array must have even number of elements")
			}
			for i := 0; i < len(a.Items); i += 2 {
				keys, values = append(keys, a.Items[i]), append(values, a.Items[i+1])
			}
		}
		out := []byte{'{'}
		for i, k := range keys {
			if k.Null {
				return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for object key")
			}
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(types.AppendJSONString(out, str(k)), " : "...)
			if values[i].Null {
				out = append(out, "null"...)
			} else {
				out = types.AppendJSONString(out, str(values[i]))
			}
		}
		return jsonOf(t, append(out, '}'))
	}
}
