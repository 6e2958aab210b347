package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// recordField is a named part of a record whose parts are known when it is bound.
type recordField struct {
	name  string
	value expr.Expr
}

// recordPlace says which column of a node holds a part of a record.
type recordPlace struct {
	name  string
	index int
}

// setRecord is a set-returning function of several columns as one value: a
// record, whose fields can be selected.
func (b *binder) setRecord(scan *plan.FunctionScan, column func(int) expr.Expr) (expr.Expr, error) {
	var fields []recordField
	for i, c := range scan.Columns {
		fields = append(fields, recordField{c.Name, column(i)})
	}
	return b.record(fields)
}

// record makes a row of fields.
func (b *binder) record(fields []recordField) (expr.Expr, error) {
	values, names := make([]expr.Expr, len(fields)), make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
		var err error
		if fields[i].value, err = expr.ResolveUnknown(fields[i].value); err != nil {
			return nil, err
		}
		values[i] = fields[i].value
	}
	e, err := expr.NewRow(values, names)
	if err == nil {
		b.records[e] = fields
	}
	return e, err
}

// rowFields binds what stands in ROW(...).
func (b *binder) rowFields(c *clause, elems []ast.Expr) ([]expr.Expr, error) {
	return b.exprs(c, b.rowElems(c, elems))
}

// rowElems puts the columns of a table in the place of t.*.
func (b *binder) rowElems(c *clause, elems []ast.Expr) []ast.Expr {
	var out []ast.Expr
	for i, e := range elems {
		star, ok := e.(*ast.Star)
		if !ok || len(star.Qualifier) == 0 || !c.s.hasTable(qualified(star.Qualifier)) {
			if out != nil {
				out = append(out, e)
			}
			continue
		}
		if out == nil {
			out = append([]ast.Expr{}, elems[:i]...)
		}
		of := qualified(star.Qualifier)
		for k := range c.s.cols {
			if col := &c.s.cols[k]; of.names(col.table) && !col.hidden {
				out = append(out, &ast.ColumnRef{Pos: star.Pos, Parts: append(slices.Clone(star.Qualifier), col.name)})
			}
		}
	}
	if out == nil {
		return elems
	}
	return out
}

// fieldSelect binds (f(...)).column for a set-returning function, and a field of
// a column that holds such rows.
func (b *binder) fieldSelect(c *clause, x *ast.FieldSelect) (expr.Expr, error) {
	if f, ok := x.Arg.(*ast.FuncCall); ok && !x.Star && b.isSetFunction(f.Name.Name) {
		return b.setInExpr(c, f, x.Field)
	}
	if !x.Star {
		e, err := b.expr(c, x.Arg)
		if err != nil {
			return nil, err
		}
		fields, known := b.records[e]
		for _, f := range fields {
			if f.name == x.Field {
				return f.value, nil
			}
		}
		if known {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "could not identify column %q in record data type", x.Field)
		}
		if e.Type().OID != types.Record {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", x.Field, e.Type())
		}
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "selecting a field of a composite value is not supported")
}

// addFields adds the hidden columns of a target that is a record.
func (t *target) addFields(out *output, add func(expr.Expr, types.Column) int) {
	for _, f := range t.fields {
		out.record = append(out.record, recordPlace{f.name, add(f.value, types.Column{Name: t.name + "." + f.name, Hidden: true})})
	}
}
