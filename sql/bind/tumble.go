package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

func isWindowFunc(f *ast.FuncCall) bool {
	switch f.Name.Name {
	case "tumble", "hop", "session":
		return true
	}
	return false
}

// windowRef binds TUMBLE(stream, time, size [, offset]) in FROM: the stream with
// the columns window_start and window_end.
func (b *binder) windowRef(x *ast.FuncRef, ctx *context) (*scope, error) {
	f := x.Func
	if f.Name.Name != "tumble" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s windows are not supported", f.Name.Name).
			WithHint("Use TUMBLE.").At(f.Position())
	}
	if len(f.Args) < 3 || len(f.Args) > 4 {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "TUMBLE takes a stream, its event-time column, a window size and an optional offset").At(f.Position())
	}
	rel, err := b.windowStream(f.Args[0])
	if err != nil {
		return nil, err
	}
	column, err := windowColumn(rel, f.Args[1])
	if err != nil {
		return nil, err
	}
	size, offset, err := b.windowSize(f.Args[2:])
	if err != nil {
		return nil, err
	}
	b.use(rel)
	b.streamDerived = true
	return windowScope(rel, column, size, offset, x.Alias, ctx)
}

func (b *binder) windowStream(arg ast.Expr) (*catalog.Relation, error) {
	ref, ok := arg.(*ast.ColumnRef)
	if !ok || len(ref.Parts) > 2 {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "the first argument of TUMBLE must name a stream").At(arg.Position())
	}
	name := ast.ObjectName{Pos: ref.Pos, Name: ref.Name()}
	if len(ref.Parts) == 2 {
		name.Schema = ref.Parts[0]
	}
	rel := b.relation(name)
	if rel == nil {
		return nil, b.undefinedTable(name)
	}
	if rel.Kind != catalog.KindStream {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is a %s, not a stream", rel.Name, rel.Kind).
			WithHint("Windows cut the event time of a stream.").At(arg.Position())
	}
	return rel, nil
}

// windowColumn checks that the time of a window is the stream's event time.
func windowColumn(rel *catalog.Relation, arg ast.Expr) (int, error) {
	ref, ok := arg.(*ast.ColumnRef)
	if !ok {
		return 0, sqlerr.New(sqlerr.WrongObjectType, "the time of a window must be a column").At(arg.Position())
	}
	column := rel.Column(ref.Name())
	if column < 0 {
		err := sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist in stream %q", ref.Name(), rel.Name).At(arg.Position())
		var names []string
		for _, c := range rel.Columns {
			names = append(names, c.Name)
		}
		if near := expr.NearestName(ref.Name(), names); near != "" {
			err = err.WithHint("Perhaps you meant the column %q.", near)
		}
		return 0, err
	}
	return column, checkEventTime(rel, column, arg.Position())
}

func checkEventTime(rel *catalog.Relation, column, pos int) error {
	switch t := rel.Stream.TimeColumn; {
	case t < 0:
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "stream %q has no event time, so it has no windows", rel.Name).
			WithHint("Create the stream with WATERMARK FOR column AS column - INTERVAL '...'.").At(pos)
	case t != column:
		return sqlerr.New(sqlerr.WrongObjectType, "column %q is not the event time of stream %q", rel.Columns[column].Name, rel.Name).
			WithHint("Windows cut event time: use the column %q.", rel.Columns[t].Name).At(pos)
	}
	return nil
}

func windowScope(rel *catalog.Relation, column int, size, offset eventtime.Duration, alias *ast.Alias, ctx *context) (*scope, error) {
	scan := plan.NewStreamScan(rel)
	schema := scan.Schema()
	n := len(rel.Columns)
	p := &plan.Project{Child: scan}
	for i := range n {
		p.Values = append(p.Values, plan.NewColumn(schema, i))
		p.Cols = append(p.Cols, schema.Columns[i])
	}
	for _, end := range []bool{false, true} {
		name := windowStart
		if end {
			name = windowEnd
		}
		w := &plan.WindowBound{Time: plan.NewColumn(schema, column), Size: size, Offset: offset, End: end}
		p.Values = append(p.Values, w)
		p.Cols = append(p.Cols, types.Column{Name: name, Type: w.Type(), NotNull: true})
	}
	p.Values = append(p.Values, plan.PassEnvelope(schema)...)
	p.Cols = append(p.Cols, plan.EnvelopeColumns()...)
	s, err := nodeScope(p, rel.Name, rel.Schema, alias, true, ctx)
	if err == nil {
		s.fold = &foldSource{stream: rel, values: p.Values}
	}
	return s, err
}

// setFunctions are the functions that yield rows.
var setFunctions = []string{
	"generate_series", "unnest", "generate_subscripts", "regexp_split_to_table", "string_to_table",
	"json_array_elements", "json_array_elements_text", "jsonb_array_elements", "jsonb_array_elements_text",
	"_pg_expandarray",
}

func isSetFunction(name string) bool { return slices.Contains(setFunctions, name) }

// funcRef binds a function in FROM.
func (b *binder) funcRef(x *ast.FuncRef, ctx *context) (*scope, error) {
	if isWindowFunc(x.Func) {
		return b.windowRef(x, ctx)
	}
	name := x.Func.Name.Name
	s := &scope{node: plan.OneRow(), ctx: ctx}
	c := &clause{s: s, name: "functions in FROM"}
	var node plan.Node
	if isSetFunction(name) {
		scan, err := b.functionScan(c, x.Func)
		if err != nil {
			return nil, sqlerr.From(err).At(x.Func.Position())
		}
		node = scan
		if x.Ordinality {
			scan.Ordinality = true
			scan.Columns = append(scan.Columns, types.Column{Name: "ordinality", Type: types.Of(types.Int8), NotNull: true})
		}
	} else if v := b.virtual(ast.ObjectName{Schema: "pg_catalog", Name: name + "()"}); v != nil && !x.Ordinality {
		// A function of the system catalogs, whose rows are the same for all arguments.
		if _, err := b.exprs(c, x.Func.Args); err != nil {
			return nil, err
		}
		node = &plan.VirtualScan{Table: v}
	} else {
		e, err := b.expr(c, x.Func)
		if err != nil {
			return nil, err
		}
		node = &plan.Project{Child: plan.OneRow(), Values: []expr.Expr{e}, Cols: []types.Column{{Name: name, Type: e.Type()}}}
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

// functionScan binds a call of a set-returning function.
func (b *binder) functionScan(c *clause, f *ast.FuncCall) (*plan.FunctionScan, error) {
	args, err := b.exprs(c, f.Args)
	if err != nil {
		return nil, err
	}
	scan := &plan.FunctionScan{Function: f.Name.Name}
	col := func(name string, t types.Type) {
		scan.Columns = append(scan.Columns, types.Column{Name: name, Type: t})
	}
	cast := func(to ...types.OID) error {
		if len(args) != len(to) {
			return undefinedSet(f.Name.Name, args)
		}
		for i := range to {
			if args[i], err = expr.Cast(args[i], types.Of(to[i]), expr.Implicit); err != nil {
				return undefinedSet(f.Name.Name, args)
			}
		}
		return nil
	}
	switch f.Name.Name {
	case "generate_series":
		t, err := seriesTypes(args)
		if err != nil {
			return nil, err
		}
		col("generate_series", t)
	case "unnest", "generate_subscripts":
		if len(args) == 0 || !args[0].Type().OID.IsArray() {
			return nil, undefinedSet(f.Name.Name, args)
		}
		if f.Name.Name == "unnest" {
			return unnestScan(args)
		}
		if len(args) != 2 {
			return nil, undefinedSet(f.Name.Name, args)
		}
		if args[1], err = expr.Cast(args[1], types.Of(types.Int4), expr.Implicit); err != nil {
			return nil, undefinedSet(f.Name.Name, args)
		}
		col("generate_subscripts", types.Of(types.Int4))
	case "_pg_expandarray":
		if len(args) != 1 || !args[0].Type().OID.IsArray() {
			return nil, undefinedSet(f.Name.Name, args)
		}
		col("x", types.Of(args[0].Type().OID.Elem()))
		col("n", types.Of(types.Int4))
	case "regexp_split_to_table", "string_to_table":
		err = cast(types.Text, types.Text)
		col(f.Name.Name, types.Of(types.Text))
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "function %s is not supported", f.Name.Name)
	}
	scan.Args = args
	return scan, err
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
