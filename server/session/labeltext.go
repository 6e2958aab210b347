package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// relabel makes the texts that are kept say the new name of a label of an enum. It looks
// at them twice: before the label is renamed at what they mean, and then at what has to
// be written to mean that.
type relabel struct {
	s       *Session
	t       *catalog.Type
	was, is string
	meant   map[string]string // by the text and what it is of
}

// everywhere changes the texts of tables and domains. A view keeps its text, so what one
// says cannot be renamed.
func (l *relabel) everywhere() error {
	for _, d := range l.s.snapshot().Types {
		if err := l.domain(d); err != nil {
			return err
		}
	}
	for _, r := range l.s.snapshot().Relations() {
		body, path := l.s.bodyOf(r)
		switch {
		case body != nil && hasLabel(body, l.was) && l.s.readsType(r, body, path, l.t):
			return l.refuse(fmt.Sprintf("%s %s", r.Kind, r.Name))
		case body != nil:
			continue
		}
		if err := l.relation(r); err != nil {
			return err
		}
	}
	return nil
}

func (l *relabel) refuse(what string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "label \"%s\" of enum %s cannot be renamed because %s says it", l.was, l.t.Shown(), what).
		WithHint("Drop that, rename the label, and create it again.")
}

// text returns what a stored text of what becomes, whose expression bound returns: in
// the place of every string that is the label there stands its new name.
func (l *relabel) text(text, what string, bound func(string) (expr.Expr, error)) (string, error) {
	e, err := storedExpr(text)
	if err != nil {
		return "", err
	}
	key := what + "\x00" + text
	before, seen := l.meant[key]
	if !seen {
		b, err := bound(text)
		if err == nil {
			l.meant[key] = l.meaning(b)
		}
		return text, err
	}
	literals := l.literals(e)
	same := func() bool {
		after, err := bound(ast.String(e))
		return err == nil && l.meaning(after) == before
	}
	for _, x := range literals {
		x.Text = l.literal(x.Text)
	}
	if !same() { // some are texts of their own
		l.tellApart(literals, same, func() bool {
			_, err := bound(ast.String(e))
			return err == nil
		})
		if !same() {
			return "", l.refuse(what)
		}
	}
	if len(literals) == 0 {
		return text, nil
	}
	return ast.String(e), nil
}

// literals returns the strings under a node that may be the label, or arrays with it.
func (l *relabel) literals(n ast.Node) []*ast.Literal {
	var out []*ast.Literal
	ast.Walk(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.Literal); ok && x.Kind == ast.StringLiteral && l.literal(x.Text) != x.Text {
			out = append(out, x)
		}
		return true
	})
	return out
}

// tellApart gives the new name to those literals only that are labels. Where the old name
// still means the label, that is what changes nothing; where it means nothing, because
// this transaction has given it, what cannot stay.
func (l *relabel) tellApart(literals []*ast.Literal, same, binds func() bool) {
	_, err := types.Parse(types.Of(l.t.OID), []byte(l.was), nil)
	forgotten := err != nil
	old := &relabel{was: l.is, is: l.was}
	if !forgotten {
		for _, x := range literals {
			x.Text = old.literal(x.Text)
		}
	}
	for _, x := range literals {
		text := x.Text
		if forgotten {
			if x.Text = old.literal(text); !binds() {
				x.Text = text
			}
		} else if x.Text = l.literal(text); !same() {
			x.Text = text
		}
	}
}

// meaning is an expression as text with positions for labels.
func (l *relabel) meaning(e expr.Expr) string {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Const)
		if !ok || !holds(c.Datum.Type, l.t) {
			return x
		}
		d := c.Datum
		d.Type = types.Of(types.Int8)
		if c.Datum.Type.OID.IsArray() {
			d.Type = types.Of(types.Int8Array)
		}
		return expr.NewConst(d)
	}).String()
}

// literal returns the text of a literal with the new name of the label, where it is the
// label or an array with it.
func (l *relabel) literal(text string) string {
	if text == l.was {
		return l.is
	}
	d, err := types.Parse(types.Of(types.TextArray), []byte(text), nil)
	if err != nil {
		return text
	}
	a, err := types.ArrayDatum(d)
	if err != nil {
		return text
	}
	changed := false
	for i := range a.Items {
		if item := &a.Items[i]; !item.Null && string(item.Bytes) == l.was {
			item.Bytes, changed = []byte(l.is), true
		}
	}
	if !changed {
		return text
	}
	return types.FormatDatum(a.Datum(), nil)
}

// concerns reports whether the texts that are kept with columns may say labels.
func (l *relabel) concerns(r *catalog.Relation, text string) bool {
	e, err := storedExpr(text)
	return err == nil && hasLabel(e, l.was) && (hasColumnsOf(r, l.t) || l.s.namesType(e, storedPath, l.t))
}

func (l *relabel) relation(r *catalog.Relation) error {
	env := l.s.bindEnv(l.s.exprContext())
	defaults := map[int]string{}
	for i, col := range r.Columns {
		if !l.concerns(r, r.Default(i)) {
			continue
		}
		what := fmt.Sprintf("the default of column %s of %s %s", col.Name, r.Kind, r.Name)
		if r.Stream != nil {
			return l.refuse(what)
		}
		to, err := l.text(r.Default(i), what, func(text string) (expr.Expr, error) {
			return bind.StoredDefault(env, text, col.Type)
		})
		if err != nil {
			return err
		}
		defaults[i] = to
	}
	if r.Table == nil {
		return nil
	}
	next := copyTable(r)
	maps.Copy(next.Table.Defaults, defaults)
	over := func(text string) (expr.Expr, error) { return bind.StoredExpr(env, r, text) }
	for i := range next.Table.Checks {
		check := &next.Table.Checks[i]
		if !l.concerns(r, check.SQL) {
			continue
		}
		to, err := l.text(check.SQL, fmt.Sprintf("constraint %s of table %s", check.Name, r.Name), over)
		if err != nil {
			return err
		}
		check.SQL = to
	}
	if err := l.indexes(next, over); err != nil {
		return err
	}
	if !textsDiffer(r.Table, next.Table) {
		return nil
	}
	return l.s.catalog().Update(r.ID, func(r *catalog.Relation) error {
		*r = *next
		return nil
	})
}

func (l *relabel) indexes(r *catalog.Relation, over func(string) (expr.Expr, error)) error {
	for i := range r.Table.Indexes {
		x := &r.Table.Indexes[i]
		x.Exprs = slices.Clone(x.Exprs)
		texts := []*string{&x.Where}
		for n := range x.Exprs {
			texts = append(texts, &x.Exprs[n].SQL)
		}
		for _, text := range texts {
			if !l.concerns(r, *text) {
				continue
			}
			to, err := l.text(*text, "index "+x.Name, over)
			if err != nil {
				return err
			}
			*text = to
		}
	}
	return nil
}

// textsDiffer reports whether tables that are alike but for their texts differ in them.
func textsDiffer(a, b *catalog.Table) bool {
	return !maps.Equal(a.Defaults, b.Defaults) || !slices.Equal(a.Checks, b.Checks) ||
		!slices.EqualFunc(a.Indexes, b.Indexes, func(x, y catalog.Index) bool { return x.Where == y.Where && slices.Equal(x.Exprs, y.Exprs) })
}

// domain changes the texts of a domain that is over the enum or casts to it.
func (l *relabel) domain(t *catalog.Type) error {
	if t.Domain == nil {
		return nil
	}
	env := l.s.bindEnv(l.s.exprContext())
	value := bind.ValueOf(t.Domain.Of)
	next, domain := *t, *t.Domain
	next.Domain = &domain
	domain.Checks = slices.Clone(domain.Checks)
	var err error
	if l.concerns(value, domain.Default) {
		domain.Default, err = l.text(domain.Default, "domain "+t.Name, func(text string) (expr.Expr, error) {
			return bind.StoredDefault(env, text, t.Domain.Of.Base())
		})
		if err != nil {
			return err
		}
	}
	for i := range domain.Checks {
		check := &domain.Checks[i]
		if !l.concerns(value, check.SQL) {
			continue
		}
		check.SQL, err = l.text(check.SQL, "domain "+t.Name, func(text string) (expr.Expr, error) { return bind.StoredExpr(env, value, text) })
		if err != nil {
			return err
		}
	}
	if domain.Default != t.Domain.Default || !slices.Equal(domain.Checks, t.Domain.Checks) {
		l.s.catalog().SetType(&next)
	}
	return nil
}
