package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// cte is a common table expression in reach, and those before it.
type cte struct {
	def    *ast.CTE
	ctx    *context // where it was defined
	next   *cte
	shared *result // bound once, where it is read several times
	many   bool
	first  *result // for the first reference, where it was bound ahead of it
	// A recursive expression reads itself through work while its step is bound.
	recursive bool
	work      *result
}

// with brings the common table expressions of a statement into reach.
func (b *binder) with(w *ast.With, stmt ast.Node, ctx *context) (*context, error) {
	out := &context{frame: ctx.frame, ctes: ctx.ctes}
	if w == nil {
		return out, nil
	}
	seen := map[string]bool{}
	refs := tableNames(stmt)
	for i := range w.CTEs {
		def := &w.CTEs[i]
		if seen[def.Name] {
			return nil, sqlerr.New(sqlerr.DuplicateAlias, "WITH query name %q specified more than once", def.Name).At(def.Position())
		}
		seen[def.Name] = true
		if def.Modify != nil {
			next, err := b.part(w, def, &context{frame: ctx.frame, ctes: out.ctes})
			if err != nil {
				return nil, err
			}
			next.next = out.ctes
			out = &context{frame: ctx.frame, ctes: next}
			continue
		}
		recursive := w.Recursive && len(readersOf(def.Query, def.Name)) > 0
		many := refs[def.Name] > 1 && def.Materialized != ast.NotMaterialized || def.Materialized == ast.Materialized
		out = &context{frame: ctx.frame, ctes: &cte{
			def: def, ctx: &context{frame: ctx.frame, ctes: out.ctes}, next: out.ctes, many: many, recursive: recursive,
		}}
		// One that nothing reads is not run, but has to be right. The others are bound
		// here too, for else each that reads the one before it would nest in its reader.
		r, err := b.cteResult(out.ctes)
		if err != nil {
			return nil, err
		}
		out.ctes.first = r
	}
	return out, nil
}

// tableNames counts the references to each unqualified name.
func tableNames(n ast.Node) map[string]int {
	out := map[string]int{}
	ast.Walk(n, func(x ast.Node) bool {
		if t, ok := x.(*ast.TableRef); ok && t.Name.Schema == "" {
			out[t.Name.Name]++
		}
		return true
	})
	return out
}

// readersOf returns the references in n to what an unqualified name means around n: not
// those to a common table expression of n that hides it.
func readersOf(n ast.Node, name string) []*ast.TableRef {
	var out []*ast.TableRef
	ast.Walk(n, func(x ast.Node) bool {
		if t, ok := x.(*ast.TableRef); ok && t.Name.Schema == "" && t.Name.Name == name {
			out = append(out, t)
		}
		w := withOf(x)
		if !hides(w, name) {
			return true
		}
		// The name means something else from there on; in WITH RECURSIVE everywhere.
		for i := 0; !w.Recursive; i++ {
			out = append(out, readersOf(definition(&w.CTEs[i]), name)...)
			if w.CTEs[i].Name == name {
				break
			}
		}
		return false
	})
	return out
}

func definition(c *ast.CTE) ast.Node {
	if c.Modify != nil {
		return c.Modify
	}
	return c.Query
}

// hides reports whether a name means one of these common table expressions.
func hides(w *ast.With, name string) bool {
	return w != nil && slices.ContainsFunc(w.CTEs, func(c ast.CTE) bool { return c.Name == name })
}

func withOf(n ast.Node) *ast.With {
	switch x := n.(type) {
	case *ast.Select:
		return x.With
	case *ast.Insert:
		return x.With
	case *ast.Update:
		return x.With
	case *ast.Delete:
		return x.With
	case *ast.Merge:
		return x.With
	}
	return nil
}

// cteRef reads a common table expression.
func (b *binder) cteRef(c *cte, x *ast.TableRef, ctx *context) (*scope, error) {
	if c.def.Modify != nil && len(c.shared.cols) == 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "WITH query %q does not have a RETURNING clause", c.def.Name).At(x.Position())
	}
	r, err := b.cteResult(c)
	if err != nil {
		return nil, err
	}
	if len(c.def.Columns) > len(r.cols) {
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "WITH query %q has %d columns available but %d columns specified", c.def.Name, len(r.cols), len(c.def.Columns)).At(c.def.Position())
	}
	named := &result{node: r.node, weight: r.weight, cols: append([]output(nil), r.cols...)}
	for i, n := range c.def.Columns {
		named.cols[i].name = n.Name
	}
	return derived(named, c.def.Name, x.Alias, ctx)
}

func (b *binder) cteResult(c *cte) (*result, error) {
	if c.work != nil {
		return c.work, nil
	}
	if c.shared != nil {
		return c.shared, nil
	}
	if r := c.first; r != nil {
		c.first = nil
		return r, nil
	}
	bind := b.selectStmt
	if c.recursive {
		bind = func(s *ast.Select, ctx *context) (*result, error) { return b.recursive(c, s, ctx) }
	}
	r, err := bind(c.def.Query, c.ctx)
	if err != nil || !c.many || b.correlated(r.node) {
		return r, err
	}
	shared := b.share(c.def.Name, r.node)
	if b.planSize(shared) > maxShared {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "WITH query %q reads others so often that its plan has more than %d operators", c.def.Name, maxShared).At(c.def.Position())
	}
	c.shared = &result{node: shared, cols: r.cols, weight: r.weight}
	return c.shared, nil
}

// share makes a plan that runs once, however often it is read.
func (b *binder) share(name string, n plan.Node) *plan.Shared {
	b.nextShared++
	b.sizes[b.nextShared] = b.planSize(n)
	return &plan.Shared{Name: name, ID: b.nextShared, Child: n}
}

// maxShared limits the plan of a common table expression that is read several
// times, where those that it reads count as often as they are read: whatever
// walks the plan does so too, and each that reads the one before it twice
// doubles it.
const maxShared = 1 << 17

func (b *binder) planSize(n plan.Node) int {
	if s, ok := n.(*plan.Shared); ok {
		return b.sizes[s.ID]
	}
	size := 1
	for _, c := range n.Children() {
		size += b.planSize(c)
	}
	return size
}

// correlated reports whether a plan reads parameters that an Apply sets.
func (b *binder) correlated(n plan.Node) bool {
	found := false
	for _, e := range n.Exprs() {
		if e == nil {
			continue
		}
		expr.Walk(e, func(y expr.Expr) bool {
			p, ok := y.(*expr.Param)
			found = found || ok && p.N > b.base
			return !found
		})
	}
	if _, ok := n.(*plan.Shared); ok {
		return found // what is shared is not correlated
	}
	for _, c := range n.Children() {
		found = found || b.correlated(c)
	}
	return found
}
