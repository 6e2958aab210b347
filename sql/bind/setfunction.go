package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// polymorphicSets yield rows whose types are those of the arguments.
var polymorphicSets = []string{"generate_series", "unnest", "generate_subscripts", "_pg_expandarray"}

// recordSets yield rows whose columns the call names, AS t (a integer, b text);
// those that say so yield many.
var recordSets = map[string]struct {
	of   types.OID
	many bool
}{
	"json_to_record": {types.JSON, false}, "json_to_recordset": {types.JSON, true},
	"jsonb_to_record": {types.JSONB, false}, "jsonb_to_recordset": {types.JSONB, true},
}

func (b *binder) isSetFunction(name string) bool {
	_, records := recordSets[name]
	return records || slices.Contains(polymorphicSets, name) || len(b.setForms(name)) > 0
}

// setForms returns the forms of a set-returning function, those of the aggregates'
// library included.
func (b *binder) setForms(name string) []*expr.SetFunction {
	if f := b.env.Registry.Scalars().SetFunction(name); f != nil {
		return []*expr.SetFunction{f}
	}
	return expr.SetFunctions(name)
}

// funcRef binds a function in FROM.
func (b *binder) funcRef(x *ast.FuncRef, ctx *context) (*scope, error) {
	if isWindowFunc(x.Func) {
		return b.windowRef(x, ctx)
	}
	name := x.Func.Name.Name
	s := &scope{node: plan.OneRow(), ctx: ctx.reaching()}
	c := &clause{s: s, name: "functions in FROM"}
	var node plan.Node
	if b.isSetFunction(name) {
		scan, err := b.setCall(c, x)
		if err != nil {
			return nil, sqlerr.From(err).At(x.Func.Position())
		}
		if x.Ordinality {
			scan.Ordinality = true
			scan.Columns = append(scan.Columns, types.Column{Name: "ordinality", Type: types.Of(types.Int8), NotNull: true})
		}
		if node, err = b.ofSubqueries(s, scan); err != nil {
			return nil, err
		}
	} else if v := b.virtual(ast.ObjectName{Schema: "pg_catalog", Name: name + "()"}); v != nil && !x.Ordinality {
		// A function of the system catalogs, whose rows are the same for all arguments.
		if _, err := b.exprs(c, x.Func.Args); err != nil {
			return nil, err
		}
		b.needSystem(v)
		node = &plan.VirtualScan{Table: v}
	} else {
		e, err := b.expr(c, x.Func)
		if err != nil {
			return nil, misspeltWindow(x.Func, err)
		}
		if e, err = b.attach(&s.node, e); err != nil {
			return nil, err
		}
		node = plan.NewProject(s.node, []expr.Expr{e}, []types.Column{{Name: name, Type: e.Type()}})
	}
	out, err := nodeScope(node, name, "", x.Alias, false, ctx)
	if err != nil {
		return nil, err
	}
	// FROM f(...) AS a names the one column too.
	if x.Alias != nil && x.Alias.Name != "" && len(x.Alias.Columns) == 0 && len(out.cols) > 0 && (len(out.cols) == 1 || x.Ordinality) {
		out.cols[0].name = x.Alias.Name
	}
	return out, nil
}

// ofSubqueries runs a function of FROM whose arguments have subqueries: s is the scope of
// its arguments, of one row.
func (b *binder) ofSubqueries(s *scope, scan *plan.FunctionScan) (plan.Node, error) {
	parts := scan.Zip
	if len(parts) == 0 {
		parts = []*plan.FunctionScan{scan}
	}
	f := &frame{parent: s}
	for _, part := range parts {
		for i, a := range part.Args {
			if !has(a, subqueryKind) {
				continue
			}
			e, err := b.attach(&s.node, a)
			if err != nil {
				return nil, err
			}
			part.Args[i] = b.cross(f, e)
		}
	}
	if len(f.slots) == 0 {
		return scan, nil
	}
	node, to := plan.NewLateral(&plan.Apply{Kind: plan.ApplyLateral, Child: s.node, Subplan: scan, Outer: f.outer, Slots: f.slots})
	schema, width := node.Schema(), len(s.node.Schema().Columns)
	values := make([]expr.Expr, len(scan.Columns))
	for i := range values {
		values[i] = plan.NewColumn(schema, to[width+i])
	}
	return plan.NewProject(node, values, slices.Clone(scan.Columns)), nil
}

// setCall binds the call of a set-returning function in FROM.
func (b *binder) setCall(c *clause, x *ast.FuncRef) (*plan.FunctionScan, error) {
	var columns []types.Column
	if x.Alias != nil {
		for _, a := range x.Alias.Columns {
			if a.Type == nil {
				continue
			}
			t, err := b.plainType(a.Type, "columns of a function")
			if err != nil {
				return nil, err
			}
			columns = append(columns, types.Column{Name: a.Name, Type: t})
		}
	}
	name := x.Func.Name.Name
	record, ok := recordSets[name]
	switch {
	case ok && len(columns) == 0:
		return nil, sqlerr.New(sqlerr.SyntaxError, "a column definition list is required for functions returning \"record\"")
	case !ok && len(columns) > 0:
		return nil, sqlerr.New(sqlerr.SyntaxError, "a column definition list is only allowed for functions returning \"record\"")
	case !ok:
		return b.functionScan(c, x.Func)
	}
	args, err := b.exprs(c, x.Func.Args)
	if err != nil {
		return nil, err
	}
	return setScan([]*expr.SetFunction{expr.JSONRecords(name, record.of, columns, record.many)}, args)
}

// setScan picks the form of a function by the number of arguments, and casts them.
func setScan(forms []*expr.SetFunction, args []expr.Expr) (*plan.FunctionScan, error) {
	name := forms[0].Name
	i := slices.IndexFunc(forms, func(f *expr.SetFunction) bool { return len(f.Args) == len(args) })
	if i < 0 {
		return nil, undefinedSet(name, args)
	}
	scan := &plan.FunctionScan{Function: name, Set: forms[i], Columns: slices.Clone(forms[i].Columns)}
	for k, a := range args {
		cast, err := expr.Cast(a, types.Of(forms[i].Args[k]), expr.Implicit)
		if err != nil && unknown(a.Type()) {
			return nil, err
		}
		if err != nil {
			return nil, undefinedSet(name, args)
		}
		scan.Args = append(scan.Args, cast)
	}
	return scan, nil
}

// functionScan binds a call of a set-returning function.
func (b *binder) functionScan(c *clause, f *ast.FuncCall) (*plan.FunctionScan, error) {
	args, err := b.callArgs(c, f)
	if err != nil {
		return nil, err
	}
	name := f.Name.Name
	if forms := b.setForms(name); len(forms) > 0 {
		return setScan(forms, args)
	}
	if _, ok := recordSets[name]; ok {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "function returning record called in context that cannot accept type record").
			WithHint("Call it in FROM, with a column definition list.")
	}
	scan := &plan.FunctionScan{Function: name, Args: args}
	if name == "generate_series" {
		t, err := seriesTypes(args)
		scan.Columns = []types.Column{{Name: name, Type: t}}
		return scan, err
	}
	if len(args) == 0 || !args[0].Type().OID.IsArray() || len(args) > 1 && name == "_pg_expandarray" {
		return nil, undefinedSet(name, args)
	}
	switch name {
	case "unnest":
		return unnestScan(args)
	case "generate_subscripts":
		if len(args) != 2 && len(args) != 3 {
			return nil, undefinedSet(name, args)
		}
		for i, t := range []types.OID{types.Int4, types.Bool}[:len(args)-1] {
			arg, err := expr.Cast(args[i+1], types.Of(t), expr.Implicit)
			if err != nil {
				return nil, undefinedSet(name, args)
			}
			args[i+1] = arg
		}
		scan.Columns = []types.Column{{Name: name, Type: types.Of(types.Int4)}}
	default:
		scan.Columns = []types.Column{{Name: "x", Type: types.Of(args[0].Type().OID.Elem())}, {Name: "n", Type: types.Of(types.Int4)}}
	}
	return scan, nil
}

// unnestScan yields the elements of one array, or of several side by side.
func unnestScan(args []expr.Expr) (*plan.FunctionScan, error) {
	scan := &plan.FunctionScan{Function: "unnest"}
	for _, a := range args {
		if !a.Type().OID.IsArray() {
			return nil, undefinedSet("unnest", args)
		}
		c := types.Column{Name: "unnest", Type: types.Of(a.Type().OID.Elem())}
		scan.Columns = append(scan.Columns, c)
		scan.Zip = append(scan.Zip, &plan.FunctionScan{Function: "unnest", Args: []expr.Expr{a}, Columns: []types.Column{c}})
	}
	if len(args) == 1 {
		return scan.Zip[0], nil
	}
	return scan, nil
}

func undefinedSet(name string, args []expr.Expr) error {
	text := ""
	for i, a := range args {
		if i > 0 {
			text += ", "
		}
		text += a.Type().String()
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, text).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// seriesTypes casts the arguments of generate_series and returns its type.
func seriesTypes(args []expr.Expr) (types.Type, error) {
	if len(args) < 2 || len(args) > 3 {
		return types.Type{}, undefinedSet("generate_series", args)
	}
	t, err := expr.CommonType("generate_series", args[:2]...)
	if err != nil {
		return t, undefinedSet("generate_series", args)
	}
	step := t
	switch t.OID {
	case types.Int2:
		t = types.Of(types.Int4)
		step = t
	case types.Int4, types.Int8, types.Numeric:
		if len(args) == 3 {
			if t, err = expr.CommonType("generate_series", args...); err != nil {
				return t, undefinedSet("generate_series", args)
			}
			step = t
		}
	case types.Timestamp, types.Timestamptz, types.Date, types.Unknown:
		if t.OID == types.Date || t.OID == types.Unknown {
			t = types.Of(types.Timestamptz)
		}
		step = types.Of(types.Interval)
		if len(args) != 3 {
			return t, undefinedSet("generate_series", args)
		}
	default:
		return t, undefinedSet("generate_series", args)
	}
	for i := range args {
		to := t
		if i == 2 {
			to = step
		}
		cast, err := expr.Cast(args[i], to, expr.Implicit)
		if err != nil {
			if code := sqlerr.CodeOf(err); code == sqlerr.InvalidTextRepresentation || code == sqlerr.InvalidDatetimeFormat {
				return t, err
			}
			return t, undefinedSet("generate_series", args)
		}
		args[i] = cast
	}
	return t, nil
}
