package bind

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// onConflict lets an INSERT go on where a unique key of a row is taken: the
// rows that have the keys of the proposed ones are looked up, and the proposed
// ones are dropped or become new versions of them.
func (b *binder) onConflict(m *plan.Modify, x *ast.Insert, access *plan.Access, ctx *context) error {
	rel := m.Target
	if rel.Kind != catalog.KindTable {
		return sqlerr.New(sqlerr.FeatureNotSupported, "ON CONFLICT is not supported for stream %q", rel.Name).
			WithHint("A stream with a dedup_key counts an event that comes again once.").At(x.OnConflict.Position())
	}
	if c := x.OnConflict; c.Constraint != "" || len(c.Target) > 0 {
		access.Want |= catalog.MaySelect
	}
	if len(x.OnConflict.Set) > 0 {
		access.Want |= catalog.MayUpdate
	}
	var err error
	if m.Arbiters, err = b.conflictTarget(rel, x.OnConflict); err != nil || len(m.Arbiters) == 0 {
		return err
	}
	m.OnConflict = plan.ConflictSkips
	s, err := b.conflictScope(m, x, access, ctx)
	if err != nil {
		return err
	}
	n := len(rel.Columns)
	values := make([]expr.Expr, n)
	for i := range values {
		values[i] = s.at(i)
	}
	isNew, err := expr.NewIsNull(s.at(n), false)
	if err != nil {
		return err
	}
	cond := isNew
	if len(x.OnConflict.Set) > 0 {
		m.OnConflict = plan.ConflictUpdates
		if cond, err = b.conflictWhere(s, x.OnConflict.Where, isNew); err != nil {
			return err
		}
		if err := b.conflictSet(rel, s, x.OnConflict.Set, isNew, values); err != nil {
			return err
		}
	}
	if cond != nil {
		s.node = &plan.Filter{Child: s.node, Cond: cond}
	}
	if err := b.attachAll(&s.node, values); err != nil {
		return err
	}
	p := &plan.Project{Child: s.node, Values: append([]expr.Expr{s.at(n)}, values...)}
	p.Cols = append(p.Cols, s.nodeSchema().Columns[n])
	p.Cols = append(p.Cols, rel.Columns...)
	m.Child = p
	return nil
}

// conflictTarget returns the unique indexes that the conflict may be about: those with
// the columns or the name that the statement gives, or all.
func (b *binder) conflictTarget(rel *catalog.Relation, c *ast.OnConflict) ([]catalog.Index, error) {
	want, err := b.conflictKeys(rel, c)
	if err != nil {
		return nil, err
	}
	var out []catalog.Index
	for _, x := range rel.Indexes() {
		fits := x.Unique
		switch {
		case c.Constraint != "":
			fits = fits && x.Constraint && x.Name == c.Constraint
		case len(c.Target) > 0:
			if fits = fits && want.fits(&x); fits && x.Where != "" {
				// PostgreSQL asks whether what is given implies what the index says.
				fits = c.TargetWhere != nil && ast.String(c.TargetWhere) == x.Where
			}
		}
		if fits {
			out = append(out, x)
		}
	}
	switch {
	case c.Constraint != "" && len(out) == 0:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", c.Constraint, rel.Name)
	case len(c.Target) > 0 && len(out) == 0:
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	case len(c.Set) > 0 && c.Constraint == "" && len(c.Target) == 0:
		return nil, sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name).").At(c.Position())
	}
	return out, nil
}

// conflictKeys are the columns and expressions of a conflict target, each once.
type conflictKeys struct {
	columns []int
	exprs   []string
}

func (b *binder) conflictKeys(rel *catalog.Relation, c *ast.OnConflict) (conflictKeys, error) {
	var out conflictKeys
	for _, k := range c.Target {
		if k.Expr != nil {
			if _, err := b.check(rel, k.Expr, "ON CONFLICT expression"); err != nil {
				return out, err
			}
			if text := ast.String(k.Expr); !slices.Contains(out.exprs, text) {
				out.exprs = append(out.exprs, text)
			}
			continue
		}
		i := rel.Column(k.Column.Name)
		if i < 0 {
			return out, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", k.Column.Name).At(k.Column.Position())
		}
		if !slices.Contains(out.columns, i) {
			out.columns = append(out.columns, i)
		}
	}
	if c.TargetWhere != nil {
		if _, err := b.check(rel, c.TargetWhere, "index predicate"); err != nil {
			return out, err
		}
	}
	slices.Sort(out.columns)
	slices.Sort(out.exprs)
	return out, nil
}

// fits reports whether an index has these columns and expressions.
func (k *conflictKeys) fits(x *catalog.Index) bool {
	var columns []int
	var exprs []string
	for _, c := range x.Columns {
		if c != catalog.IndexColumnExpr && !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	for _, e := range x.Exprs {
		exprs = append(exprs, e.SQL)
	}
	slices.Sort(columns)
	slices.Sort(exprs)
	return slices.Equal(columns, k.columns) && slices.Equal(slices.Compact(exprs), k.exprs)
}

// conflictScope looks the keys up. Its columns are those of the proposed row,
// which is named excluded, the identity of the row that has its key, and the
// columns of that.
func (b *binder) conflictScope(m *plan.Modify, x *ast.Insert, access *plan.Access, ctx *context) (*scope, error) {
	excluded, err := rowScope(m.Target, &ast.Alias{Name: "excluded"})
	if err != nil {
		return nil, err
	}
	existing, err := rowScope(m.Target, aliasOf(x.Alias))
	if err != nil {
		return nil, err
	}
	existing.watch(access)
	s := &scope{node: &plan.KeyLookup{Table: m.Target, Arbiters: m.Arbiters, Rules: m.Rules, Child: m.Child}, ctx: ctx}
	n := len(m.Target.Columns)
	for _, c := range existing.cols {
		c.index += n + 1
		s.cols = append(s.cols, c)
	}
	s.cols = append(s.cols, excluded.cols...)
	s.tables = append(existing.tables, excluded.tables...)
	return s, nil
}

// conflictWhere binds the WHERE of DO UPDATE, which is about taken keys only; nil
// where every row goes on.
func (b *binder) conflictWhere(s *scope, where ast.Expr, isNew expr.Expr) (expr.Expr, error) {
	if where == nil {
		return nil, nil
	}
	cond, err := b.boolExpr(&clause{s: s, name: "WHERE"}, where)
	if err != nil {
		return nil, err
	}
	if cond, err = b.attach(&s.node, cond); err != nil {
		return nil, err
	}
	return expr.NewCase(nil, []expr.When{{Cond: isNew, Result: expr.NewConst(types.BoolDatum(true))}}, cond)
}

// conflictSet makes the values of DO UPDATE out of the assignments: a new row is
// as proposed.
func (b *binder) conflictSet(rel *catalog.Relation, s *scope, sets []ast.Assignment, isNew expr.Expr, values []expr.Expr) error {
	n := len(rel.Columns)
	updated := make([]expr.Expr, n)
	for i := range updated {
		updated[i] = s.at(n + 1 + i)
	}
	if err := b.setAll(rel, s, sets, updated); err != nil {
		return err
	}
	for i := range values {
		var err error
		if values[i], err = expr.NewCase(nil, []expr.When{{Cond: isNew, Result: values[i]}}, updated[i]); err != nil {
			return err
		}
	}
	return nil
}
