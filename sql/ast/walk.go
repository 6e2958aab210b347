package ast

import "reflect"

// Walk calls visit for n and, where visit returns true, for the nodes below it,
// in the order in which they are written. Nil fields are not visited. Parts that
// are no Node of their own (a SortKey, a When, a Target) are looked through.
func Walk(n Node, visit func(Node) bool) {
	if isNil(n) || !visit(n) {
		return
	}
	walkValue(reflect.ValueOf(n).Elem(), visit)
}

// WalkExprs calls visit for every expression under n that belongs to the same
// query level: it does not enter subqueries.
func WalkExprs(n Node, visit func(Expr) bool) {
	Walk(n, func(m Node) bool {
		if e, ok := m.(Expr); ok {
			return visit(e)
		}
		_, query := m.(*Select)
		return !query || m == n
	})
}

func isNil(n Node) bool {
	return n == nil || reflect.ValueOf(n).IsNil()
}

// walkValue looks for nodes in a struct's fields. Reflection keeps a new field
// from being forgotten; walking is not on a path where its cost matters.
func walkValue(v reflect.Value, visit func(Node) bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			walkValue(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), visit)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(Node); ok {
			Walk(n, visit)
		} else if v.Kind() == reflect.Pointer {
			walkValue(v.Elem(), visit)
		}
	}
}
