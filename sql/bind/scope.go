package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// column is a name that expressions may use, and where its value is.
type column struct {
	table   qualifier
	name    string
	typ     types.Type
	index   int // of the scope's node
	notNull bool
	role    types.Role
	status  bool          // the unmodified _status of its relation
	approx  *approx       // of an approximate column
	record  []recordPlace // of a record whose fields are known
	joined  bool          // stands for a column of USING: seen only with its table's name
	hidden  bool          // not in *
	origin  plan.Origin
	direct  bool         // it is the relation of its origin that FROM names
	access  *plan.Access // of a relation that is written: reading it needs SELECT
}

// approx says where the bounds and the state of an approximate column are; -1
// where there is none.
type approx struct {
	lo, hi, state int
	bound         *agg.Bound // what made it, for combine
	name          string
}

// table is one name of FROM.
type table struct {
	qualifier
	base     bool  // a stream or a continuous view: * shows the envelope
	optional bool  // an outer join has NULLs where it has no row
	key      []int // columns of the scope's node that identify a row, if known
	// present is the column of the scope's node that is NULL where an outer join has no
	// row, counted from 1; 0: there is none.
	present int
}

// qualifier names a table of FROM. A schema is part of the name of a relation that
// has no alias. The zero value names none.
type qualifier struct{ schema, name string }

// names reports whether a column so qualified may be one of the table.
func (q qualifier) names(t qualifier) bool {
	return q.name == t.name && (q.schema == "" || q.schema == t.schema || q.schema == catalog.TemporaryAlias && catalog.IsTemporary(t.schema))
}

// conflicts reports whether two tables may not stand in one FROM.
func (q qualifier) conflicts(t qualifier) bool {
	return q.name != "" && q.name == t.name && (q.schema == t.schema || q.schema == "" || t.schema == "")
}

// scope is the plan of FROM and the names it brings.
type scope struct {
	node   plan.Node
	cols   []column
	tables []table
	ctx    *context
	// fold describes the one stream that the rows come from, nil if it is not so.
	fold *foldSource
	// weight says that the rows are events that count as often as a column says.
	weight *rowWeight
	// window is what window_start and window_end mean after GROUP BY tumble(...).
	window *plan.WindowBound

	schema    *types.Schema // of schemaFor, which is node unless it has grown
	schemaFor plan.Node
}

// nodeSchema returns the schema of the scope's plan.
func (s *scope) nodeSchema() *types.Schema {
	if s.schemaFor != s.node {
		s.schema, s.schemaFor = s.node.Schema(), s.node
	}
	return s.schema
}

// context is what a query inherits from the query around it.
type context struct {
	frame *frame
	ctes  *cte
	// lateral is the border to the items of FROM before this one: only what is LATERAL
	// crosses it.
	lateral *frame
}

// after is the context of an item of FROM that may read the items of the frame's scope.
func (c *context) after(f *frame) *context {
	return &context{frame: c.frame, ctes: c.ctes, lateral: f}
}

// reaching is the context of an expression or a query that is LATERAL.
func (c *context) reaching() *context {
	if c.lateral == nil {
		return c
	}
	return &context{frame: c.lateral, ctes: c.ctes}
}

// frame is the border between a correlated subquery and the query around it:
// outer columns cross it as parameters.
type frame struct {
	parent *scope
	clause *clause // where the subquery stands; nil in FROM
	outer  []expr.Expr
	slots  []int
}

// cross returns the parameter that stands for an expression of the outer query.
func (b *binder) cross(f *frame, e expr.Expr) expr.Expr {
	for i, o := range f.outer {
		if o.String() == e.String() && o.Type() == e.Type() {
			return &expr.Param{N: f.slots[i], Typ: e.Type()}
		}
	}
	b.slots++
	f.outer, f.slots = append(f.outer, e), append(f.slots, b.base+b.slots)
	return &expr.Param{N: b.base + b.slots, Typ: e.Type()}
}

func (s *scope) envelope() int { return plan.EnvelopeAt(s.nodeSchema()) }

func (s *scope) at(i int) expr.Expr { return plan.NewColumn(s.nodeSchema(), i) }

// read returns the value of a column, and notes its bounds.
func (b *binder) read(s *scope, c *column) expr.Expr {
	e := s.at(c.index)
	if c.access != nil {
		c.access.Want |= catalog.MaySelect
	}
	for _, f := range c.record {
		b.records[e] = append(b.records[e], recordField{f.name, s.at(f.index)})
	}
	if c.approx != nil {
		b.bounds[e] = interval{lo: s.boundAt(c.approx.lo, c.typ), hi: s.boundAt(c.approx.hi, c.typ), state: s.stateAt(c.approx), bound: c.approx.bound}
	}
	return e
}

func (s *scope) boundAt(i int, t types.Type) expr.Expr {
	if i < 0 {
		return &expr.Const{Datum: types.NullOf(t)}
	}
	return s.at(i)
}

func (s *scope) stateAt(a *approx) expr.Expr {
	if a.state < 0 {
		return nil
	}
	return s.at(a.state)
}

// resolve binds a column reference in this scope or one around it.
func (b *binder) resolve(s *scope, ref *ast.ColumnRef) (expr.Expr, error) {
	of, name, err := splitRef(b.env.Snapshot.Database, ref)
	if err != nil {
		return nil, err
	}
	b.found = plan.Origin{}
	e, err := b.find(s, of, name, ref)
	if err != nil || e != nil {
		if b.env.Names != nil && b.found.Relation != 0 {
			b.env.Names.Columns[ref] = b.found
		}
		return e, err
	}
	if ref.Pos != 0 {
		return nil, b.undefinedColumn(s, of, ref).At(ref.Position())
	}
	return nil, b.undefinedColumn(s, of, ref)
}

// splitRef takes a reference apart.
func splitRef(database string, ref *ast.ColumnRef) (of qualifier, name string, err error) {
	p := ref.Parts
	if len(p) == 4 && p[0] == database {
		p = p[1:]
	}
	if n := len(p) - 1; n <= 2 {
		return qualified(p[:n]), p[n], nil
	}
	return qualifier{}, "", sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %s", strings.Join(ref.Parts, ".")).At(ref.Position())
}

// qualified makes a qualifier of the parts before a column's name or a star.
func qualified(parts []string) qualifier {
	switch n := len(parts); n {
	case 0:
		return qualifier{}
	case 1:
		return qualifier{name: parts[0]}
	default:
		return qualifier{schema: parts[n-2], name: parts[n-1]}
	}
}

// find looks a name up, level by level; nil where no level has it.
func (b *binder) find(s *scope, of qualifier, name string, ref *ast.ColumnRef) (expr.Expr, error) {
	e, err := b.findHere(s, of, name)
	if err != nil {
		return nil, sqlerr.From(err).At(ref.Position())
	}
	if e != nil || s.ctx == nil || s.ctx.frame == nil {
		return e, nil
	}
	if s.hasTable(of) {
		return nil, nil
	}
	outer, err := b.find(s.ctx.frame.parent, of, name, ref)
	if err != nil || outer == nil {
		return nil, err
	}
	e = b.cross(s.ctx.frame, outer)
	if b.readsApproximate(outer) {
		b.unbounded(e)
	}
	return e, nil
}

func (s *scope) hasTable(of qualifier) bool {
	return slices.ContainsFunc(s.tables, func(t table) bool { return t.name != "" && of.names(t.qualifier) })
}

// checkTable refuses a name that two tables have, of different schemas.
func (s *scope) checkTable(of qualifier) error {
	found := false
	for _, t := range s.tables {
		if of.name == "" || !of.names(t.qualifier) {
			continue
		}
		if found {
			return sqlerr.New(sqlerr.AmbiguousAlias, "table reference %q is ambiguous", of.name)
		}
		found = true
	}
	return nil
}

// has reports whether a reference may mean the column.
func (c *column) has(of qualifier, name string) bool {
	if of.name == "" {
		return c.name == name && !c.joined
	}
	return c.name == name && of.names(c.table)
}

func (b *binder) findHere(s *scope, of qualifier, name string) (expr.Expr, error) {
	if err := s.checkTable(of); err != nil {
		return nil, err
	}
	var found *column
	for i := range s.cols {
		c := &s.cols[i]
		if !c.has(of, name) {
			continue
		}
		if found != nil {
			return nil, sqlerr.New(sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
		}
		found = c
	}
	if found != nil {
		if found.direct {
			b.found = found.origin
		}
		return b.read(s, found), nil
	}
	if of.name != "" && !s.hasTable(of) {
		return nil, nil
	}
	if env := s.envelope(); env >= 0 {
		for i, c := range plan.EnvelopeColumns() {
			if c.Name == name {
				return s.at(env + i), nil
			}
		}
	}
	if w := s.window; w != nil && of.name == "" && (name == windowStart || name == windowEnd) {
		c := *w
		c.End = name == windowEnd
		return &c, nil
	}
	if e, err := s.findBound(of, name); e != nil || err != nil {
		return e, err
	}
	if whole := (qualifier{name: name}); of.name == "" && s.hasTable(whole) {
		return b.wholeRow(s, whole)
	}
	return nil, nil
}

// wholeRow is a table's name where a value may stand: its row.
func (b *binder) wholeRow(s *scope, of qualifier) (expr.Expr, error) {
	if err := s.checkTable(of); err != nil {
		return nil, err
	}
	var fields []recordField
	for i := range s.cols {
		if c := &s.cols[i]; of.names(c.table) && !c.hidden {
			fields = append(fields, recordField{c.name, b.read(s, c)})
		}
	}
	row, err := b.record(fields)
	if err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		if t.optional && of.names(t.qualifier) {
			return b.orNoRow(s, t, row)
		}
	}
	return row, nil
}

// orNoRow makes a row that an outer join may lack NULL where it does. Without a column
// that tells, one that is there and has nothing but NULLs is taken for missing.
func (b *binder) orNoRow(s *scope, t table, row expr.Expr) (expr.Expr, error) {
	fields := b.fieldsOf(row)
	if t.present > 0 {
		fields = []expr.Expr{s.at(t.present - 1)}
	}
	missing, err := fieldsAreNull(fields, false)
	if err != nil {
		return nil, err
	}
	out, err := expr.NewCase(nil, []expr.When{{Cond: missing, Result: &expr.Const{Datum: types.NullOf(row.Type())}}}, row)
	b.records[out] = b.records[row]
	return out, err
}

const (
	windowStart = "window_start"
	windowEnd   = "window_end"
)

// findBound resolves <column>_lo, <column>_hi and <column>__state.
func (s *scope) findBound(of qualifier, name string) (expr.Expr, error) {
	for _, suffix := range []string{"__state", "_lo", "_hi"} {
		base, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		var found expr.Expr
		for i := range s.cols {
			c := &s.cols[i]
			if c.approx == nil || !c.has(of, base) {
				continue
			}
			if found != nil {
				return nil, sqlerr.New(sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name)
			}
			switch suffix {
			case "_lo":
				found = s.boundAt(c.approx.lo, c.typ)
			case "_hi":
				found = s.boundAt(c.approx.hi, c.typ)
			default:
				found = s.boundAt(c.approx.state, types.Of(types.Sketch))
			}
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, nil
}

func (b *binder) undefinedColumn(s *scope, of qualifier, ref *ast.ColumnRef) *sqlerr.Error {
	known := false
	for x := s; x != nil; x = outerScope(x) {
		known = known || x.hasTable(of)
	}
	if of.name != "" && !known {
		err := sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", of.name)
		var names []string
		for x := s; x != nil; x = outerScope(x) {
			for _, t := range x.tables {
				names = append(names, t.name)
			}
		}
		if near := expr.NearestName(of.name, names); near != "" {
			err = err.WithHint("Perhaps you meant to reference the table alias %q.", near)
		}
		return err
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %s does not exist", quoteRef(ref))
	var names []string
	owner := map[string]string{}
	for x := s; x != nil; x = outerScope(x) {
		for _, c := range x.cols {
			names = append(names, c.name)
			if owner[c.name] == "" {
				owner[c.name] = c.table.name
			}
		}
	}
	if near := expr.NearestName(ref.Name(), names); near != "" {
		if t := owner[near]; t != "" {
			near = t + "." + near
		}
		err = err.WithHint("Perhaps you meant to reference the column %q.", near)
	}
	return err
}

func outerScope(s *scope) *scope {
	if s.ctx == nil || s.ctx.frame == nil {
		return nil
	}
	return s.ctx.frame.parent
}

func quoteRef(ref *ast.ColumnRef) string {
	if len(ref.Parts) == 1 {
		return `"` + ref.Parts[0] + `"`
	}
	return strings.Join(ref.Parts, ".")
}
