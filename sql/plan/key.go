package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Key is the keys of the only rows of a table that a scan can yield: an index in which no
// two rows have the same, and the values that each of its columns can have.
type Key struct {
	Index   catalog.Index
	Columns []KeyColumn // as those of the index
}

// KeyColumn is the values that a column of a key can have; they read no column.
type KeyColumn struct {
	Values []expr.Expr
	Array  bool // the only value is an array of them
}

// keyOf returns the keys that conds, which are over the table's columns, leave; nil where
// they leave a column of each index any value.
func keyOf(table *catalog.Relation, conds []expr.Expr) *Key {
	if len(conds) == 0 {
		return nil
	}
	for _, x := range table.Indexes() {
		if !x.Unique || x.Computed() {
			continue
		}
		key := &Key{Index: x}
		for _, column := range x.Columns {
			if of := keyColumn(conds, column); of.Values != nil {
				key.Columns = append(key.Columns, of)
			}
		}
		if len(key.Columns) == len(x.Columns) {
			return key
		}
	}
	return nil
}

// keyColumn returns the values that conds leave a column, the fewest that one of them does.
func keyColumn(conds []expr.Expr, column int) KeyColumn {
	var best KeyColumn
	for _, e := range conds {
		of := KeyColumn{Values: keyValues(e, column)}
		if of.Values == nil {
			of = KeyColumn{Values: keyArray(e, column), Array: true}
		}
		if of.Values != nil && (best.Values == nil || best.Array || !of.Array && len(of.Values) < len(best.Values)) {
			best = of
		}
	}
	return best
}

// keyValues returns the values that x = v, x IN (…) or a disjunction of such leaves a
// column; nil where e is something else.
func keyValues(e expr.Expr, column int) []expr.Expr {
	if x, list, ok := expr.Listed(e); ok {
		if !isColumn(x, column) || !keyed(x.Type(), list[0].Type()) {
			return nil
		}
		return list
	}
	var out []expr.Expr
	for _, or := range expr.Disjuncts(e) {
		if v := pinned(or, func(x expr.Expr) bool { return isColumn(x, column) }, keyed); v != nil {
			out = append(out, v)
			continue
		}
		if len(expr.Disjuncts(or)) == 1 {
			if _, _, listed := expr.Listed(or); !listed {
				return nil
			}
		}
		more := keyValues(or, column)
		if more == nil {
			return nil
		}
		out = append(out, more...)
	}
	return out
}

// keyArray returns the array of x = ANY (array).
func keyArray(e expr.Expr, column int) []expr.Expr {
	args := e.Children()
	if len(args) != 2 || e.String() != "("+args[0].String()+" = ANY ("+args[1].String()+"))" {
		return nil
	}
	array := args[1]
	if !isColumn(args[0], column) || len(Columns(array)) > 0 || !pure(array) || !keyed(args[0].Type(), types.Of(array.Type().OID.Elem())) {
		return nil
	}
	return []expr.Expr{array}
}

func isColumn(e expr.Expr, column int) bool {
	c, ok := ColumnIndex(bare(e))
	return ok && c == column
}

// keyed reports whether a value of one type is found by the key that it has in a column of
// another: they are the same, or integers.
func keyed(column, value types.Type) bool {
	return column.OID == value.OID && column.OID != types.Bpchar || column.OID.IsInteger() && value.OID.IsInteger()
}

// bare returns the operand of a cast that leaves values as they are.
func bare(e expr.Expr) expr.Expr {
	args := e.Children()
	if len(args) != 1 || e.String() != "("+args[0].String()+")::"+types.Of(e.Type().OID).String() {
		return e
	}
	if from, to := args[0].Type(), e.Type(); from.OID == to.OID || from.OID == types.Varchar && to.OID == types.Text {
		return args[0]
	}
	return e
}

// exprs returns the values of a key, none of no key.
func (k *Key) exprs() []expr.Expr {
	if k == nil {
		return nil
	}
	var out []expr.Expr
	for _, c := range k.Columns {
		out = append(out, c.Values...)
	}
	return out
}

// with returns the key with other values, of which it has as many.
func (k *Key) with(values []expr.Expr) *Key {
	if k == nil {
		return nil
	}
	out := &Key{Index: k.Index}
	for _, c := range k.Columns {
		out.Columns = append(out.Columns, KeyColumn{Values: values[:len(c.Values):len(c.Values)], Array: c.Array})
		values = values[len(c.Values):]
	}
	return out
}
