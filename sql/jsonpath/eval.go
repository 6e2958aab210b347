package jsonpath

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxItems limits what one evaluation makes.
const maxItems = 1 << 20

// Query returns the items that a path finds in a document. vars, an object or nil,
// has the values of variables.
func (p *Path) Query(doc, vars *types.JSONValue) ([]*types.JSONValue, error) {
	e := &evaluation{path: p, root: doc, vars: vars}
	return e.items(p.root, nil)
}

// evaluation is one use of a path.
type evaluation struct {
	path       *Path
	root, vars *types.JSONValue
	made       int
	lengths    []int // of the arrays whose subscripts are evaluated
}

// SQLSTATEs of paths.
const (
	noArray      sqlerr.Code = "22039"
	noMember     sqlerr.Code = "2203A"
	noObject     sqlerr.Code = "2203A"
	badSubscript sqlerr.Code = "22033"
	noNumber     sqlerr.Code = "22036"
	notSingle    sqlerr.Code = "22038"
)

// count charges items that were made.
func (e *evaluation) count(n int) error {
	if e.made += n; e.made > maxItems {
		return sqlerr.New(sqlerr.OutOfMemory, "a jsonpath makes more than %d items", maxItems)
	}
	return nil
}

// items evaluates an expression; at is what @ means.
func (e *evaluation) items(n node, at *types.JSONValue) ([]*types.JSONValue, error) {
	switch x := n.(type) {
	case start:
		return e.start(x, at)
	case literal:
		return []*types.JSONValue{x.value}, nil
	case *accessor:
		base, err := e.items(x.base, at)
		if err != nil {
			return nil, err
		}
		var out []*types.JSONValue
		for _, v := range base {
			found, err := e.step(&x.step, v, !e.path.strict)
			if err != nil {
				return nil, err
			}
			if err := e.count(len(found)); err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	case *binary:
		if strings.Contains("+-*/%", x.op) {
			return e.arithmetic(x, at)
		}
	case *unary:
		if x.op == "+" || x.op == "-" {
			return e.signed(x, at)
		}
	}
	truth, err := e.truth(n, at)
	if err != nil {
		return nil, err
	}
	v := &types.JSONValue{Kind: types.JSONBool, Bool: truth == yes}
	if truth == unknown {
		v = &types.JSONValue{Kind: types.JSONNull}
	}
	return []*types.JSONValue{v}, nil
}

func (e *evaluation) start(x start, at *types.JSONValue) ([]*types.JSONValue, error) {
	switch {
	case x.variable:
		if e.vars != nil {
			if v := e.vars.Field(x.name); v != nil {
				return []*types.JSONValue{v}, nil
			}
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find jsonpath variable \"%s\"", x.name)
	case x.name == "@":
		return []*types.JSONValue{at}, nil
	case x.name == "last":
		return []*types.JSONValue{number(types.DecimalFromInt(int64(e.lengths[len(e.lengths)-1] - 1)))}, nil
	}
	return []*types.JSONValue{e.root}, nil
}

func number(d types.Decimal) *types.JSONValue {
	return &types.JSONValue{Kind: types.JSONNumber, Text: d.String()}
}

// step applies an accessor to one item. unwrap applies it to the elements of an
// array that stands where none is wanted.
func (e *evaluation) step(s *step, v *types.JSONValue, unwrap bool) ([]*types.JSONValue, error) {
	array := v.Kind == types.JSONArrayKind
	wantsArray := s.kind == anyElementStep || s.kind == elementStep || s.kind == deepStep || s.kind == methodStep && (s.key == "type" || s.key == "size")
	if array && unwrap && !wantsArray {
		var out []*types.JSONValue
		for _, item := range v.Items {
			found, err := e.step(s, item, false)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	}
	switch s.kind {
	case memberStep:
		if m := v.Field(s.key); m != nil {
			return []*types.JSONValue{m}, nil
		}
		switch {
		case !e.path.strict:
			return nil, nil
		case v.Kind == types.JSONObject:
			return nil, sqlerr.New(noMember, "JSON object does not contain key \"%s\"", s.key)
		}
		return nil, sqlerr.New(noObject, "jsonpath member accessor can only be applied to an object")
	case anyMemberStep:
		if v.Kind == types.JSONObject {
			return v.Items, nil
		}
		if e.path.strict {
			return nil, sqlerr.New(sqlerr.Code("2203C"), "jsonpath wildcard member accessor can only be applied to an object")
		}
		return nil, nil
	case deepStep:
		return e.deep(s, v, 0, nil)
	case filterStep:
		truth, err := e.truth(s.filter, v)
		if err != nil || truth != yes {
			return nil, err
		}
		return []*types.JSONValue{v}, nil
	case methodStep:
		return e.method(s.key, v)
	}
	return e.elements(s, v)
}

// deep collects the levels of .**.
func (e *evaluation) deep(s *step, v *types.JSONValue, level int, out []*types.JSONValue) ([]*types.JSONValue, error) {
	leaf := len(v.Items) == 0
	if level >= s.from && (s.to < 0 || level <= s.to) && (s.from >= 0 || leaf) {
		out = append(out, v)
		if err := e.count(1); err != nil {
			return nil, err
		}
	}
	if s.to >= 0 && level >= s.to {
		return out, nil
	}
	for _, item := range v.Items {
		var err error
		if out, err = e.deep(s, item, level+1, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// elements applies [*] and [i]; in lax mode what is no array is one of one element.
func (e *evaluation) elements(s *step, v *types.JSONValue) ([]*types.JSONValue, error) {
	items := v.Items
	if v.Kind != types.JSONArrayKind {
		if e.path.strict {
			what := "array accessor"
			if s.kind == anyElementStep {
				what = "wildcard array accessor"
			}
			return nil, sqlerr.New(noArray, "jsonpath %s can only be applied to an array", what)
		}
		items = []*types.JSONValue{v}
	}
	if s.kind == anyElementStep {
		return items, nil
	}
	e.lengths = append(e.lengths, len(items))
	defer func() { e.lengths = e.lengths[:len(e.lengths)-1] }()
	var out []*types.JSONValue
	for _, r := range s.ranges {
		from, err := e.index(r.from, v)
		if err != nil {
			return nil, err
		}
		to := from
		if r.to != nil {
			if to, err = e.index(r.to, v); err != nil {
				return nil, err
			}
		}
		if e.path.strict && (from < 0 || to >= int64(len(items)) || from > to) {
			return nil, sqlerr.New(badSubscript, "jsonpath array subscript is out of bounds")
		}
		for i := max(from, 0); i <= min(to, int64(len(items))-1); i++ {
			out = append(out, items[i])
		}
	}
	return out, nil
}

func (e *evaluation) index(n node, at *types.JSONValue) (int64, error) {
	found, err := e.items(n, at)
	if err != nil {
		return 0, err
	}
	if len(found) != 1 || found[0].Kind != types.JSONNumber {
		return 0, sqlerr.New(badSubscript, "jsonpath array subscript is not a single numeric value")
	}
	d, err := types.ParseDecimal([]byte(found[0].Text))
	if err != nil {
		return 0, err
	}
	i, ok := d.Trunc(0).Int64()
	if !ok {
		return 0, sqlerr.New(badSubscript, "jsonpath array subscript is out of integer range")
	}
	return i, nil
}

var kindNames = [...]string{"null", "string", "number", "boolean", "array", "object"}

func (e *evaluation) method(name string, v *types.JSONValue) ([]*types.JSONValue, error) {
	switch name {
	case "type":
		return []*types.JSONValue{{Kind: types.JSONString, Text: kindNames[v.Kind]}}, nil
	case "size":
		if v.Kind == types.JSONArrayKind {
			return []*types.JSONValue{number(types.DecimalFromInt(int64(len(v.Items))))}, nil
		}
		if e.path.strict {
			return nil, sqlerr.New(noArray, "jsonpath item method .size() can only be applied to an array")
		}
		return []*types.JSONValue{number(types.DecimalFromInt(1))}, nil
	case "keyvalue":
		return keyValues(v)
	case "double":
		if v.Kind != types.JSONNumber && v.Kind != types.JSONString {
			return nil, sqlerr.New(noNumber, "jsonpath item method .double() can only be applied to a string or numeric value")
		}
		d, err := types.Parse(types.Of(types.Float8), []byte(v.Text), nil)
		if err != nil {
			return nil, sqlerr.New(noNumber, "%s argument of jsonpath item method .double() is not a valid representation of a double precision number", kindNames[v.Kind])
		}
		return []*types.JSONValue{{Kind: types.JSONNumber, Text: types.FormatDatum(d, nil)}}, nil
	}
	if v.Kind != types.JSONNumber {
		return nil, sqlerr.New(noNumber, "jsonpath item method .%s() can only be applied to a numeric value", name)
	}
	d, err := types.ParseDecimal([]byte(v.Text))
	if err != nil {
		return nil, err
	}
	switch name {
	case "ceiling":
		d = d.Ceil()
	case "floor":
		d = d.Floor()
	default:
		d = d.Abs()
	}
	return []*types.JSONValue{number(d)}, nil
}

// keyValues makes an object of each member. The id tells the objects of a document
// apart; here there is but one.
func keyValues(v *types.JSONValue) ([]*types.JSONValue, error) {
	if v.Kind != types.JSONObject {
		return nil, sqlerr.New(noObject, "jsonpath item method .keyvalue() can only be applied to an object")
	}
	out := make([]*types.JSONValue, len(v.Items))
	for i, item := range v.Items {
		out[i] = &types.JSONValue{
			Kind: types.JSONObject, Keys: []string{"id", "key", "value"},
			Items: []*types.JSONValue{number(types.DecimalFromInt(0)), {Kind: types.JSONString, Text: v.Keys[i]}, item},
		}
	}
	return out, nil
}

func (e *evaluation) arithmetic(x *binary, at *types.JSONValue) ([]*types.JSONValue, error) {
	var args [2]types.Decimal
	for i, n := range []node{x.left, x.right} {
		found, err := e.unwrapped(n, at)
		if err != nil {
			return nil, err
		}
		if len(found) != 1 || found[0].Kind != types.JSONNumber {
			return nil, sqlerr.New(notSingle, "%s operand of jsonpath operator %s is not a single numeric value", [2]string{"left", "right"}[i], x.op)
		}
		if args[i], err = types.ParseDecimal([]byte(found[0].Text)); err != nil {
			return nil, err
		}
	}
	f := map[string]func(a, b types.Decimal) (types.Decimal, error){
		"+": types.NumericAdd, "-": types.NumericSub, "*": types.NumericMul, "/": types.NumericDiv, "%": types.NumericMod,
	}[x.op]
	d, err := f(args[0], args[1])
	if err != nil {
		return nil, err
	}
	return []*types.JSONValue{number(d)}, nil
}

func (e *evaluation) signed(x *unary, at *types.JSONValue) ([]*types.JSONValue, error) {
	found, err := e.unwrapped(x.arg, at)
	if err != nil {
		return nil, err
	}
	out := make([]*types.JSONValue, len(found))
	for i, v := range found {
		if v.Kind != types.JSONNumber {
			return nil, sqlerr.New(sqlerr.Code("2203B"), "operand of unary jsonpath operator %s is not a numeric value", x.op)
		}
		d, err := types.ParseDecimal([]byte(v.Text))
		if err != nil {
			return nil, err
		}
		if x.op == "-" {
			d = d.Neg()
		}
		out[i] = number(d)
	}
	return out, nil
}

// unwrapped evaluates an expression; in lax mode arrays among the items are taken
// apart.
func (e *evaluation) unwrapped(n node, at *types.JSONValue) ([]*types.JSONValue, error) {
	found, err := e.items(n, at)
	if err != nil || e.path.strict {
		return found, err
	}
	var out []*types.JSONValue
	for _, v := range found {
		if v.Kind == types.JSONArrayKind {
			out = append(out, v.Items...)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}
