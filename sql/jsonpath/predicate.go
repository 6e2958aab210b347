package jsonpath

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// truth is what a predicate says.
type truth uint8

const (
	no truth = iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// fatal reports whether an error ends the evaluation; others make a predicate unknown.
func fatal(err error) bool {
	code := sqlerr.CodeOf(err)
	return code == sqlerr.OutOfMemory || code == sqlerr.UndefinedObject
}

// truth evaluates a predicate.
func (e *evaluation) truth(n node, at *types.JSONValue) (truth, error) {
	switch x := n.(type) {
	case *unary:
		return e.truthOfUnary(x, at)
	case *binary:
		if x.op == "&&" || x.op == "||" {
			return e.connective(x, at)
		}
		return e.compare(x, at)
	case *matches:
		return e.matches(x, at)
	}
	found, err := e.items(n, at)
	if err != nil {
		return unknown, err
	}
	if len(found) != 1 || found[0].Kind != types.JSONBool {
		return unknown, nil
	}
	return truthOf(found[0].Bool), nil
}

func (e *evaluation) truthOfUnary(x *unary, at *types.JSONValue) (truth, error) {
	if x.op == "exists" {
		found, err := e.items(x.arg, at)
		if err != nil {
			if fatal(err) {
				return unknown, err
			}
			return unknown, nil
		}
		return truthOf(len(found) > 0), nil
	}
	t, err := e.truth(x.arg, at)
	if err != nil {
		return unknown, err
	}
	switch {
	case x.op == "unknown":
		return truthOf(t == unknown), nil
	case t == unknown:
		return unknown, nil
	}
	return truthOf(t == no), nil
}

func (e *evaluation) connective(x *binary, at *types.JSONValue) (truth, error) {
	l, err := e.truth(x.left, at)
	if err != nil {
		return unknown, err
	}
	decided := no
	if x.op == "||" {
		decided = yes
	}
	if l == decided {
		return l, nil
	}
	r, err := e.truth(x.right, at)
	switch {
	case err != nil:
		return unknown, err
	case r == decided:
		return r, nil
	case l == unknown || r == unknown:
		return unknown, nil
	}
	return truthOf(decided == no), nil
}

// compare holds where it holds for a pair of items; in strict mode a pair that
// cannot be compared makes it unknown.
func (e *evaluation) compare(x *binary, at *types.JSONValue) (truth, error) {
	left, err := e.unwrapped(x.left, at)
	if err == nil {
		var right []*types.JSONValue
		if right, err = e.unwrapped(x.right, at); err == nil {
			return e.anyPair(left, right, func(a, b *types.JSONValue) truth { return comparePair(x.op, a, b) }), nil
		}
	}
	if fatal(err) {
		return unknown, err
	}
	return unknown, nil
}

func (e *evaluation) anyPair(left, right []*types.JSONValue, test func(a, b *types.JSONValue) truth) truth {
	found, failed := false, false
	for _, a := range left {
		for _, b := range right {
			switch test(a, b) {
			case unknown:
				if e.path.strict {
					return unknown
				}
				failed = true
			case yes:
				if !e.path.strict {
					return yes
				}
				found = true
			}
		}
	}
	if !found && failed {
		return unknown
	}
	return truthOf(found)
}

func comparePair(op string, a, b *types.JSONValue) truth {
	if a.Kind != b.Kind {
		if a.Kind == types.JSONNull || b.Kind == types.JSONNull { // null differs from all else
			return truthOf(op == "!=")
		}
		return unknown
	}
	if a.Kind == types.JSONArrayKind || a.Kind == types.JSONObject {
		return unknown
	}
	c := types.CompareJSON(a, b)
	switch op {
	case "==":
		return truthOf(c == 0)
	case "!=":
		return truthOf(c != 0)
	case "<":
		return truthOf(c < 0)
	case "<=":
		return truthOf(c <= 0)
	case ">":
		return truthOf(c > 0)
	}
	return truthOf(c >= 0)
}

func (e *evaluation) matches(x *matches, at *types.JSONValue) (truth, error) {
	left, err := e.unwrapped(x.arg, at)
	right := []*types.JSONValue{{Kind: types.JSONString}}
	if err == nil && x.prefix != nil {
		right, err = e.items(x.prefix, at)
	}
	if err != nil {
		if fatal(err) {
			return unknown, err
		}
		return unknown, nil
	}
	return e.anyPair(left, right, func(a, b *types.JSONValue) truth {
		switch {
		case a.Kind != types.JSONString || b.Kind != types.JSONString:
			return unknown
		case x.re != nil:
			return truthOf(x.re.MatchString(a.Text))
		}
		return truthOf(strings.HasPrefix(a.Text, b.Text))
	}), nil
}
