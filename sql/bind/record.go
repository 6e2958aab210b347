package bind

import (
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
	values := make([]expr.Expr, len(fields))
	for i := range fields {
		var err error
		if fields[i].value, err = expr.ResolveUnknown(fields[i].value); err != nil {
			return nil, err
		}
		values[i] = fields[i].value
	}
	e, err := expr.NewRow(values)
	if err == nil {
		b.records[e] = fields
	}
	return e, err
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

// jsonMakers are the functions that make JSON of values of any type.
var jsonMakers = map[string]bool{
	"to_json": true, "to_jsonb": true, "row_to_json": true, "json_build_object": true, "json_build_array": true,
	"jsonb_build_object": true, "jsonb_build_array": true,
}

// rowsToJSON makes JSON objects of those arguments that are rows: only the binder
// knows the names of their fields.
func (b *binder) rowsToJSON(name string, args []expr.Expr) error {
	if name == "row_to_json" && (len(args) != 1 || args[0].Type().OID != types.Record) {
		return undefinedSet(name, args)
	}
	for i, a := range args {
		if a.Type().OID != types.Record {
			continue
		}
		var err error
		if args[i], err = b.rowJSON(a); err != nil {
			return err
		}
	}
	return nil
}

// toJSON makes JSON of a value of any type.
func (b *binder) toJSON(e expr.Expr, to types.OID) (expr.Expr, error) {
	if e.Type().OID == types.Record {
		var err error
		if e, err = b.rowJSON(e); err != nil {
			return nil, err
		}
	}
	return expr.ToJSON(e, to)
}

// rowJSON makes a JSON object of a row.
func (b *binder) rowJSON(e expr.Expr) (expr.Expr, error) {
	fields, known := b.records[e]
	if !known {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the fields of this row are not known")
	}
	names, values := make([]string, len(fields)), make([]expr.Expr, len(fields))
	for i, f := range fields {
		names[i], values[i] = f.name, f.value
		if f.value.Type().OID != types.Record {
			continue
		}
		var err error
		if values[i], err = b.rowJSON(f.value); err != nil {
			return nil, err
		}
	}
	return expr.NewRowJSON(names, values)
}
