package plan

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Key is the key of the only row of a table that a scan can yield: an index in which no
// two rows have the same, and the value of each of its columns, which reads no column.
type Key struct {
	Index  catalog.Index
	Values []expr.Expr
}

// keyOf returns the key that equalities among conds, which are over the table's columns,
// give a value to every column of; nil where there is none.
func keyOf(table *catalog.Relation, conds []expr.Expr) *Key {
	if len(conds) == 0 {
		return nil
	}
	for _, x := range table.Indexes() {
		if !x.Unique || x.Computed() {
			continue
		}
		if values := pinnedColumns(x.Columns, conds, keyValue); values != nil {
			return &Key{Index: x, Values: values}
		}
	}
	return nil
}

// keyValue returns the value that e gives to a column of a key.
func keyValue(e expr.Expr, column int) expr.Expr {
	is := func(x expr.Expr) bool {
		c, ok := ColumnIndex(bare(x))
		return ok && c == column
	}
	return pinned(e, is, func(x, v types.Type) bool {
		return x.OID == v.OID && x.OID != types.Bpchar || x.OID.IsInteger() && v.OID.IsInteger()
	})
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
	return k.Values
}

// with returns the key with other values.
func (k *Key) with(values []expr.Expr) *Key {
	if k == nil {
		return nil
	}
	return &Key{Index: k.Index, Values: slices.Clone(values)}
}
