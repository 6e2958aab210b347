package bind

import (
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

// misspeltWindow explains err, which came of binding f as an ordinary function, if f
// looks like TUMBLE: its first argument is no column then.
func misspeltWindow(f *ast.FuncCall, err error) error {
	name := f.Name.Name
	if expr.HasFunction(name) || len(f.Args) < 3 || expr.NearestName(name, []string{"tumble"}) == "" {
		return err
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", name).
		WithHint("Perhaps you meant TUMBLE(stream, event-time column, window size).").At(f.Position())
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
	b.need(rel, catalog.MaySelect)
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
		s.fold, s.weight = &foldSource{stream: rel, values: p.Values}, weightOf(rel)
	}
	return s, err
}
