package bind

import (
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// call binds a function, an aggregate or a window function.
func (b *binder) call(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	name := f.Name.Name
	if s := f.Name.Schema; s != "" && s != "pg_catalog" && s != "public" && s != "information_schema" {
		if b.env.Snapshot != nil && !b.env.Snapshot.HasSchema(s) && s != "tally_catalog" {
			return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", s)
		}
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s.%s does not exist", s, name)
	}
	if f.Over != nil {
		return b.windowCall(c, f)
	}
	scalars := b.env.Registry.Scalars()
	// A name may be both: theta_union(s) aggregates, theta_union(s, t) does not.
	if name == "combine" || !f.SQLSyntax && b.env.Registry.Lookup(name) != nil && !scalars.Has(name, len(f.Args)) {
		return b.aggregate(c, f)
	}
	if hypotheticalSet[name] && f.WithinGroup {
		return b.hypothetical(c, f)
	}
	if windowOnly[name] {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "window function %s requires an OVER clause", name)
	}
	if f.Star || f.Distinct || f.Filter != nil || f.WithinGroup || len(f.OrderBy) > 0 {
		return nil, b.notAggregate(f)
	}
	switch name {
	case "tumble", "tumble_start", "tumble_end":
		return b.tumbleCall(c, f)
	}
	if !f.SQLSyntax && b.isSetFunction(name) {
		return b.setInExpr(c, f, "")
	}
	if f.SQLSyntax && name == "grouping" {
		return b.groupingCall(c, f)
	}
	if f.Variadic {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "VARIADIC arguments are not supported")
	}
	if f.SQLSyntax && name == "coalesce" {
		c = c.withoutSets("COALESCE")
	}
	args, err := b.callArgs(c, f)
	if err != nil {
		return nil, err
	}
	if f.SQLSyntax {
		if e, err := syntaxCall(name, args); e != nil || err != nil {
			return e, err
		}
	}
	e, err := expr.NewFunction(name, args, expr.WithLibrary(scalars), expr.WithNames(append(b.env.Registry.Names(), "combine", "tumble", "row_number", "rank", "dense_rank", "lag", "lead")))
	if err != nil {
		return nil, err
	}
	if lo, hi, ok := scalars.Bounds(e); ok {
		b.bounds[e] = interval{lo: lo, hi: hi}
	}
	return e, nil
}

// notAggregate reports aggregate syntax on something else.
func (b *binder) notAggregate(f *ast.FuncCall) error {
	if !expr.HasFunction(f.Name.Name) {
		_, err := expr.NewFunction(f.Name.Name, nil, expr.WithNames(b.env.Registry.Names()))
		if err != nil {
			return err
		}
	}
	what := "DISTINCT"
	switch {
	case f.Star:
		return sqlerr.New(sqlerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", f.Name.Name, f.Name.Name)
	case f.Filter != nil:
		what = "FILTER"
	case f.WithinGroup:
		what = "WITHIN GROUP"
	case len(f.OrderBy) > 0:
		what = "ORDER BY"
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, f.Name.Name)
}

// syntaxCall builds the forms that SQL gives a syntax of their own; nil where
// the name is an ordinary function.
func syntaxCall(name string, args []expr.Expr) (expr.Expr, error) {
	switch name {
	case "coalesce":
		return expr.NewCoalesce(args...)
	case "nullif":
		return expr.NewNullIf(args[0], args[1])
	case "greatest":
		return expr.NewGreatest(args...)
	case "least":
		return expr.NewLeast(args...)
	case "extract":
		if field, ok := literalText(args[0]); ok {
			return expr.NewExtract(strings.ToLower(field), args[1])
		}
	case "overlaps":
		return overlaps(args)
	case "timezone":
		return expr.NewAtTimeZone(args[1], args[0])
	}
	return nil, nil
}

// overlaps compares two periods, each given by its ends or by one and its length.
func overlaps(args []expr.Expr) (expr.Expr, error) {
	for i := 1; i < len(args); i += 2 {
		if args[i].Type().OID != types.Interval {
			continue
		}
		var err error
		if args[i], err = expr.NewOperator("+", args[i-1], args[i]); err != nil {
			return nil, err
		}
	}
	return expr.NewFunction("overlaps", args)
}

func literalText(e expr.Expr) (string, bool) {
	c, ok := e.(*expr.Const)
	if !ok || c.Datum.Null || c.Datum.Type.Kind() != types.KindBytes {
		return "", false
	}
	return string(c.Datum.Bytes), true
}

// tumbleCall binds tumble(t, size [, offset]) and its end.
func (b *binder) tumbleCall(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	if len(f.Args) < 2 || len(f.Args) > 3 {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s takes a time, a window size and an optional offset", f.Name.Name)
	}
	t, err := b.expr(c, f.Args[0])
	if err != nil {
		return nil, err
	}
	switch t.Type().OID {
	case types.Timestamptz, types.Timestamp:
	case types.Unknown, types.Date:
		if t, err = expr.Cast(t, types.Of(types.Timestamptz), expr.Explicit); err != nil {
			return nil, err
		}
	default:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "a window needs a timestamp, not a value of type %s", t.Type()).At(f.Args[0].Position())
	}
	size, offset, err := b.windowSize(f.Args[1:])
	if err != nil {
		return nil, err
	}
	return &plan.WindowBound{Time: t, Size: size, Offset: offset, End: f.Name.Name == "tumble_end"}, nil
}

// windowSize evaluates the size and the optional offset of a window.
func (b *binder) windowSize(args []ast.Expr) (size, offset eventtime.Duration, err error) {
	if size, err = b.duration(args[0]); err != nil {
		return 0, 0, err
	}
	if size <= 0 {
		return 0, 0, sqlerr.New(sqlerr.InvalidParameterValue, "window size must be greater than zero").At(args[0].Position())
	}
	if len(args) > 1 {
		if offset, err = b.duration(args[1]); err != nil {
			return 0, 0, err
		}
		offset %= size
	}
	return size, offset, nil
}

// duration evaluates a constant interval. Months have no fixed length.
func (b *binder) duration(e ast.Expr) (eventtime.Duration, error) {
	v, err := b.expr(&clause{s: &scope{node: plan.OneRow(), ctx: &context{}}, name: "a window"}, e)
	if err == nil {
		v, err = expr.Cast(v, types.Of(types.Interval), expr.Implicit)
	}
	if err != nil {
		return 0, sqlerr.From(err).At(e.Position())
	}
	d, err := expr.EvalConst(b.env.context(), v)
	if err != nil {
		return 0, sqlerr.From(err).At(e.Position())
	}
	if d.Null {
		return 0, sqlerr.New(sqlerr.NullValueNotAllowed, "window size and offset must not be null").At(e.Position())
	}
	s := types.DecodeSpan(d.Bytes)
	if s.Months != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "a window cannot have a size in months or years").
			WithHint("Months differ in length. Use days, or group by date_trunc('month', ...).").At(e.Position())
	}
	const maxDays = 1 << 20
	if s.Days > maxDays || s.Days < -maxDays {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "window size is out of range").At(e.Position())
	}
	return eventtime.Duration(s.Micros) + eventtime.Duration(s.Days)*eventtime.Day, nil
}
