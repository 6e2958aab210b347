package expr

import (
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// jsonDatum returns a part of a document as the document's type.
func jsonDatum(t types.OID, v *types.JSONValue) types.Datum {
	if v == nil {
		return types.NullOf(types.Of(t))
	}
	if t == types.JSON {
		return types.Datum{Type: types.Of(t), Bytes: v.Raw}
	}
	return types.Datum{Type: types.Of(t), Bytes: v.Append(nil)}
}

// jsonText returns a part as text: strings bare, null as NULL.
func jsonText(t types.OID, v *types.JSONValue) types.Datum {
	switch {
	case v == nil || v.Kind == types.JSONNull:
		return types.NullOf(types.Of(types.Text))
	case v.Kind == types.JSONString:
		return types.TextDatum(v.Text)
	}
	return types.TextDatum(str(jsonDatum(t, v)))
}

// jsonStep follows one key or index in text.
func jsonStep(v *types.JSONValue, step string) *types.JSONValue {
	if v.Kind == types.JSONArrayKind {
		i, err := strconv.ParseInt(step, 10, 32)
		if err != nil {
			return nil
		}
		return v.Element(i)
	}
	return v.Field(step)
}

func jsonPath(v *types.JSONValue, steps []types.Datum) *types.JSONValue {
	for _, s := range steps {
		if v == nil || s.Null {
			return nil
		}
		v = jsonStep(v, str(s))
	}
	return v
}

// jsonRow adapts a function of one parsed document.
func jsonRow(f func(v *types.JSONValue, rest []types.Datum) (types.Datum, error)) rowFunc {
	return func(_ *Context, d []types.Datum) (types.Datum, error) {
		v, err := types.ParseJSON(d[0].Bytes)
		if err != nil {
			return types.Datum{}, err
		}
		return f(v, d[1:])
	}
}

func jsonOperators() []overload {
	var out []overload
	for _, t := range []types.OID{types.JSON, types.JSONB} {
		name := map[types.OID]string{types.JSON: "json", types.JSONB: "jsonb"}[t]
		for _, asText := range []bool{false, true} {
			wrap, suffix, ret := jsonDatum, "", name
			if asText {
				wrap, suffix, ret = jsonText, ">", "text"
			}
			out = append(out,
				fn("->"+suffix+"("+name+",text) "+ret, "member", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
					return wrap(t, v.Field(str(r[0]))), nil
				})),
				fn("->"+suffix+"("+name+",int4) "+ret, "element", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
					return wrap(t, v.Element(r[0].Int)), nil
				})),
				fn("#>"+suffix+"("+name+",_text) "+ret, "part at a path", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
					a, err := types.ArrayDatum(r[0])
					return wrap(t, jsonPath(v, a.Items)), err
				})))
		}
	}
	contains := func(swap bool) rowFunc {
		return func(_ *Context, d []types.Datum) (types.Datum, error) {
			a, err := types.ParseJSON(d[0].Bytes)
			if err != nil {
				return types.Datum{}, err
			}
			b, err := types.ParseJSON(d[1].Bytes)
			if swap {
				a, b = b, a
			}
			return types.BoolDatum(jsonContains(a, b, true)), err
		}
	}
	exists := func(all bool) rowFunc {
		return jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
			a, err := types.ArrayDatum(r[0])
			for _, k := range a.Items {
				if k.Null {
					continue
				}
				if jsonHas(v, str(k)) != all {
					return boolean(!all)
				}
			}
			return types.BoolDatum(all), err
		})
	}
	return append(out,
		fn("@>(jsonb,jsonb) bool", "contains", contains(false)), fn("<@(jsonb,jsonb) bool", "is contained", contains(true)),
		fn("?(jsonb,text) bool", "has a key or string", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
			return boolean(jsonHas(v, str(r[0])))
		})),
		fn("?|(jsonb,_text) bool", "has any key", exists(false)), fn("?&(jsonb,_text) bool", "has all keys", exists(true)),
		fn("||(jsonb,jsonb) jsonb", "concatenate", jsonConcat),
		fn("-(jsonb,text) jsonb", "without a key", jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) {
			if err := editable(v, "delete"); err != nil {
				return types.Datum{}, err
			}
			return finishJSONB(withoutKey(v, str(r[0])))
		})))
}

func jsonHas(v *types.JSONValue, key string) bool {
	if v.Kind == types.JSONObject {
		return v.Field(key) != nil
	}
	if v.Kind == types.JSONString {
		return v.Text == key
	}
	for _, it := range v.Items {
		if it.Kind == types.JSONString && it.Text == key {
			return true
		}
	}
	return false
}

// jsonContains is PostgreSQL's containment; a top-level array also contains a
// bare primitive.
func jsonContains(a, b *types.JSONValue, top bool) bool {
	if a.Kind == types.JSONArrayKind && b.Kind != types.JSONArrayKind && b.Kind != types.JSONObject && top {
		b = &types.JSONValue{Kind: types.JSONArrayKind, Items: []*types.JSONValue{b}}
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case types.JSONObject:
		for i, k := range b.Keys {
			if m := a.Field(k); m == nil || !jsonContains(m, b.Items[i], false) {
				return false
			}
		}
		return true
	case types.JSONArrayKind:
		for _, want := range b.Items {
			found := false
			for _, it := range a.Items {
				found = found || jsonContains(it, want, false)
			}
			if !found {
				return false
			}
		}
		return true
	}
	return types.CompareJSON(a, b) == 0
}

func finishJSONB(v *types.JSONValue) (types.Datum, error) {
	err := v.Canonical()
	return jsonDatum(types.JSONB, v), err
}

func jsonConcat(_ *Context, d []types.Datum) (types.Datum, error) {
	a, err := types.ParseJSON(d[0].Bytes)
	if err != nil {
		return types.Datum{}, err
	}
	b, err := types.ParseJSON(d[1].Bytes)
	if err != nil {
		return types.Datum{}, err
	}
	if a.Kind == types.JSONObject && b.Kind == types.JSONObject {
		a.Keys, a.Items = append(a.Keys, b.Keys...), append(a.Items, b.Items...)
		return finishJSONB(a)
	}
	out := &types.JSONValue{Kind: types.JSONArrayKind}
	for _, v := range []*types.JSONValue{a, b} {
		if v.Kind == types.JSONArrayKind {
			out.Items = append(out.Items, v.Items...)
		} else {
			out.Items = append(out.Items, v)
		}
	}
	return finishJSONB(out)
}

func jsonFunctions() []overload {
	var out []overload
	for _, t := range []types.OID{types.JSON, types.JSONB} {
		p := map[types.OID]string{types.JSON: "json", types.JSONB: "jsonb"}[t]
		path := func(wrap func(types.OID, *types.JSONValue) types.Datum) rowFunc {
			return jsonRow(func(v *types.JSONValue, r []types.Datum) (types.Datum, error) { return wrap(t, jsonPath(v, r)), nil })
		}
		out = append(out,
			fn(p+"_typeof("+p+") text", "kind of the value", jsonRow(func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
				return text([...]string{"null", "string", "number", "boolean", "array", "object"}[v.Kind])
			})),
			fn(p+"_array_length("+p+") int4", "number of elements", jsonRow(func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
				switch v.Kind {
				case types.JSONArrayKind:
					return int4(len(v.Items))
				case types.JSONObject:
					return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "cannot get array length of a non-array")
				}
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "cannot get array length of a scalar")
			})),
			fn(p+"_extract_path("+p+",...text) "+p, "part at a path", path(jsonDatum)),
			fn(p+"_extract_path_text("+p+",...text) text", "part at a path as text", path(jsonText)),
			fn(p+"_build_object(...any) "+p, "object from keys and values", buildObject(t)).onNull().stable(),
			fn(p+"_build_object() "+p, "empty object", func(*Context, []types.Datum) (types.Datum, error) {
				return types.Datum{Type: types.Of(t), Bytes: []byte("{}")}, nil
			}),
			fn(p+"_build_array(...any) "+p, "array of values", buildArray(t)).onNull().stable(),
			fn(p+"_build_array() "+p, "empty array", func(*Context, []types.Datum) (types.Datum, error) {
				return types.Datum{Type: types.Of(t), Bytes: []byte("[]")}, nil
			}),
			fn("to_"+p+"(anyelement) "+p, "value as JSON", func(ec *Context, d []types.Datum) (types.Datum, error) {
				return jsonOf(t, appendJSON(ec, nil, d[0]))
			}).stable(),
		)
	}
	return append(out, fn("jsonb_pretty(jsonb) text", "indented", jsonRow(func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
		var b strings.Builder
		prettyJSON(&b, v, 0)
		return text(b.String())
	})))
}

func jsonOf(t types.OID, b []byte) (types.Datum, error) {
	if t == types.JSONB {
		return types.Parse(types.Of(t), b, nil)
	}
	return types.Datum{Type: types.Of(t), Bytes: b}, nil
}

// appendJSON appends any value as JSON.
func appendJSON(ec *Context, dst []byte, d types.Datum) []byte {
	if d.Null {
		return append(dst, "null"...)
	}
	t := d.Type.OID
	switch {
	case t == types.Bool:
		if d.Int != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case t == types.JSON || t == types.JSONB:
		return append(dst, d.Bytes...)
	case t.IsArray() && t != types.Int2Vector && t != types.OidVector:
		a, _ := types.ArrayDatum(d)
		i := 0
		return appendJSONArray(ec, dst, a, 0, &i)
	case t == types.Record:
		return appendRecordJSON(ec, dst, d, ",")
	case t.IsInteger(), t == types.Numeric, isFloat(t):
		s := types.AppendDatumText(nil, d, nil)
		if c := s[len(s)-1]; c >= '0' && c <= '9' {
			return append(dst, s...)
		}
		return types.AppendJSONString(dst, string(s))
	}
	return types.AppendJSONString(dst, string(types.AppendJSONDateTime(nil, d, ec.TextOptions())))
}

// appendRecordJSON appends a record as an object. Fields without a name are f1, f2 and so on.
func appendRecordJSON(ec *Context, dst []byte, d types.Datum, separator string) []byte {
	fields, _ := types.RecordFields(d)
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, separator...)
		}
		name := f.Name
		if name == "" {
			name = "f" + strconv.Itoa(i+1)
		}
		dst = appendJSON(ec, append(types.AppendJSONString(dst, name), ':'), f.Value)
	}
	return append(dst, '}')
}

func appendJSONArray(ec *Context, dst []byte, a types.Array, depth int, next *int) []byte {
	dst = append(dst, '[')
	if len(a.Dims) > 0 {
		for i := range a.Dims[depth] {
			if i > 0 {
				dst = append(dst, ',')
			}
			if depth < len(a.Dims)-1 {
				dst = appendJSONArray(ec, dst, a, depth+1, next)
				continue
			}
			dst = appendJSON(ec, dst, a.Items[*next])
			*next++
		}
	}
	return append(dst, ']')
}

func buildArray(t types.OID) rowFunc {
	return func(ec *Context, d []types.Datum) (types.Datum, error) {
		out := []byte{'['}
		for i, x := range d {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = appendJSON(ec, out, x)
		}
		return jsonOf(t, append(out, ']'))
	}
}

func buildObject(t types.OID) rowFunc {
	return func(ec *Context, d []types.Datum) (types.Datum, error) {
		if len(d)%2 != 0 {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements").
				WithHint("The arguments of %s_build_object() must consist of alternating keys and values.", map[types.OID]string{types.JSON: "json", types.JSONB: "jsonb"}[t])
		}
		out := []byte{'{'}
		for i := 0; i < len(d); i += 2 {
			if d[i].Null {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "argument %d: key must not be null", i+1)
			}
			if k := d[i].Type.OID; k == types.JSON || k == types.JSONB || k == types.Record || k.IsArray() {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
			}
			if i > 0 {
				out = append(out, ", "...)
			}
			out = types.AppendJSONString(out, jsonKey(ec, d[i]))
			out = appendJSON(ec, append(out, " : "...), d[i+1])
		}
		return jsonOf(t, append(out, '}'))
	}
}

func prettyJSON(b *strings.Builder, v *types.JSONValue, depth int) {
	if v.Kind != types.JSONArrayKind && v.Kind != types.JSONObject {
		b.Write(v.Append(nil))
		return
	}
	open, closing := "[", "]"
	if v.Kind == types.JSONObject {
		open, closing = "{", "}"
	}
	b.WriteString(open)
	for i, it := range v.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat("    ", depth+1))
		if v.Kind == types.JSONObject {
			b.Write(types.AppendJSONString(nil, v.Keys[i]))
			b.WriteString(": ")
		}
		prettyJSON(b, it, depth+1)
	}
	b.WriteString("\n" + strings.Repeat("    ", depth) + closing)
}
