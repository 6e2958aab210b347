package bind

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// VirtualTables finds tables that are computed when they are read.
type VirtualTables interface {
	// Lookup returns the table of this schema and name, or nil.
	Lookup(schema, name string) *plan.VirtualTable
	// Names returns all names, for hints.
	Names() []string
}

// Env is what a statement is bound against. It is only read.
type Env struct {
	Snapshot *catalog.Snapshot
	Registry *agg.Registry
	Virtual  VirtualTables // may be nil
	// Parse parses the body of a view or the expression of a default, written as
	// a SELECT.
	Parse func(sql string) (*ast.Select, error)
	// SearchPath are the schemas of unqualified names; pg_catalog comes first
	// unless it is listed. Nil means public.
	SearchPath []string
	// Usable reports whether relations in a schema may be named; nil: in all.
	Usable func(schema string) bool
	// HideEnvelope is SET envelope = off: SELECT * has no envelope columns.
	HideEnvelope bool
	// Expr is used to fold constants; nil stands for one with nothing set.
	Expr *expr.Context
	// Names, if set, is told what the names in a query mean.
	Names *Names
}

// Names says what names in a query mean: those of relations in FROM, and those of columns
// that come from such a relation and not by way of a subquery.
type Names struct {
	Relations map[*ast.TableRef]id.Relation
	Columns   map[*ast.ColumnRef]plan.Origin
	// Schemas are those that names in FROM were found in, of system tables too.
	Schemas map[*ast.TableRef]string
	// Stars are the columns that * in a target list stands for, where it does not show the
	// envelope of a stream.
	Stars map[*ast.Star][]ast.Target
}

// NewNames returns one that knows nothing yet.
func NewNames() *Names {
	return &Names{
		Relations: map[*ast.TableRef]id.Relation{}, Columns: map[*ast.ColumnRef]plan.Origin{},
		Schemas: map[*ast.TableRef]string{}, Stars: map[*ast.Star][]ast.Target{},
	}
}

func (e *Env) context() *expr.Context {
	if e.Expr != nil {
		return e.Expr
	}
	return &expr.Context{}
}

// Bind binds a SELECT, VALUES, INSERT, UPDATE or DELETE. params are the types that
// the client declared for $1, $2, …; a zero or unknown one is inferred.
func Bind(env *Env, stmt ast.Statement, params []types.Type) (*plan.Query, error) {
	b := newBinder(env, params, slotBase)
	q, err := b.statement(stmt)
	if err != nil {
		return nil, err
	}
	fixed, err := b.paramTypes(q.Root)
	if err != nil {
		return nil, err
	}
	if len(fixed) > 0 || b.slots > 0 {
		// Bind again, now that the types of all parameters are known and the numbers
		// of the hidden ones can follow them.
		b = newBinder(env, fixed, len(fixed))
		if q, err = b.statement(stmt); err != nil {
			return nil, err
		}
	}
	q.Params, q.Slots = fixed, b.slots
	q.Relations, q.Access, q.StreamDerived = b.relations, b.needs(), b.streamDerived
	if err := guarded(q.Root, q.Access, map[int]bool{}); err != nil {
		return nil, err
	}
	return plan.Optimize(q, env.context()), nil
}

// slotBase numbers hidden parameters until the number of the user's is known.
const slotBase = 1 << 20

// maxDepth limits how deep queries and views nest.
const maxDepth = 64

type binder struct {
	env           *Env
	params        []types.Type
	base          int // hidden parameters are numbered from base+1
	maxParam      int
	slots         int
	nextShared    int
	sizes         map[int]int // of the shared plans, by number
	depth         int
	relations     []plan.RelationVersion
	reading       *ast.SelectCore // whose FROM is bound
	found         plan.Origin     // of the column that a name meant last, where FROM names its relation
	used          map[id.Relation]bool
	access        []*plan.Access
	checkAs       string // the owner of the view whose body is bound
	streamDerived bool
	// forView is set while the body of a continuous view is bound.
	forView bool
	bounds  map[expr.Expr]interval
	records map[expr.Expr][]recordField
	written map[id.Relation]*plan.Rules // of the tables that the statement may write
	// top is the WITH of the statement itself, whose parts may write; parts are those
	// that do.
	top   *ast.With
	parts []plan.Node
	// domains are those that the statement casts to, with their constraints.
	domains map[types.OID]*expr.Domain
	// viewPath replaces the search path in the body of a view.
	viewPath []string
}

func newBinder(env *Env, params []types.Type, base int) *binder {
	return &binder{env: env, params: params, base: base, used: map[id.Relation]bool{}, written: map[id.Relation]*plan.Rules{}, sizes: map[int]int{}, bounds: map[expr.Expr]interval{}, records: map[expr.Expr][]recordField{}, domains: map[types.OID]*expr.Domain{}}
}

func (b *binder) enter() error {
	if b.depth++; b.depth > maxDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "queries and views nest deeper than %d levels", maxDepth)
	}
	return nil
}

func (b *binder) leave() { b.depth-- }

func (b *binder) statement(stmt ast.Statement) (*plan.Query, error) {
	if s, ok := stmt.(*ast.Select); ok {
		b.top = s.With
		q, err := b.query(s)
		return b.withParts(q), err
	}
	q, err := b.dml(stmt, &context{}, true)
	return b.withParts(q), err
}

// dml binds a statement that writes; top where it is not in the WITH of another.
func (b *binder) dml(stmt ast.Statement, ctx *context, top bool) (*plan.Query, error) {
	var with *ast.With
	var bind func(ctx *context) (*plan.Query, error)
	switch s := stmt.(type) {
	case *ast.Insert:
		with, bind = s.With, func(ctx *context) (*plan.Query, error) { return b.insert(s, ctx) }
	case *ast.Update:
		with, bind = s.With, func(ctx *context) (*plan.Query, error) { return b.update(s, ctx) }
	case *ast.Delete:
		with, bind = s.With, func(ctx *context) (*plan.Query, error) { return b.delete(s, ctx) }
	case *ast.Merge:
		with, bind = s.With, func(ctx *context) (*plan.Query, error) { return b.merge(s, ctx) }
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this statement has no plan").
			WithHint("SELECT, VALUES, INSERT, UPDATE, DELETE and MERGE have one.")
	}
	if top {
		b.top = with
	}
	ctx, err := b.with(with, stmt, ctx)
	if err != nil {
		return nil, err
	}
	return bind(ctx)
}

func (b *binder) query(s *ast.Select) (*plan.Query, error) {
	r, err := b.selectStmt(s, &context{})
	if err != nil {
		return nil, err
	}
	q := &plan.Query{Root: r.node}
	reorder := false
	for i, c := range r.cols {
		reorder = reorder || c.index != i
		q.Output = append(q.Output, types.Column{Name: c.name, Type: c.typ, NotNull: c.notNull, Role: c.role})
		q.Origins = append(q.Origins, c.origin)
		if c.status {
			q.StatusShown = true
			q.StatusColumns = append(q.StatusColumns, i)
		}
	}
	if reorder {
		p := &plan.Project{Child: r.node}
		for i, c := range r.cols {
			p.Values = append(p.Values, plan.NewColumn(r.node.Schema(), c.index))
			p.Cols = append(p.Cols, q.Output[i])
		}
		q.Root = p
	}
	return q, nil
}
