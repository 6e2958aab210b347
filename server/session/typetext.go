package session

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Text that is kept with a table (defaults, checks) names types of users and sequences with
// their schemas, but for those in public; views keep theirs with the search path.
var storedPath = []string{catalog.PublicSchema}

// storedText returns an expression as text that means the same for every session.
func (s *Session) storedText(e ast.Expr) string {
	path := s.path()
	ast.Walk(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.TypeName); ok && name.Name.Schema == "" {
			if t, _ := bind.UserType(s.snapshot(), path, name.Name); t != nil && t.Schema != catalog.PublicSchema {
				name.Name.Schema = t.Schema
			}
		}
		if l := relationLiteral(n); l != nil {
			l.Text = s.storedName(l.Text)
		}
		return true
	})
	return ast.String(e)
}

// relationLiteral returns the literal in an expression that names a relation: of a cast to
// regclass, or of a function of sequences; nil if it is neither.
func relationLiteral(n ast.Node) *ast.Literal {
	var arg ast.Expr
	switch x := n.(type) {
	case *ast.Cast:
		if x.Type.Name.Name == "regclass" && len(x.Type.ArrayBounds) == 0 {
			arg = x.Arg
		}
	case *ast.FuncCall:
		if len(x.Args) > 0 && slices.Contains([]string{"nextval", "currval", "setval"}, x.Name.Name) {
			arg = x.Args[0]
		}
	}
	if l, ok := arg.(*ast.Literal); ok && l.Kind == ast.StringLiteral {
		return l
	}
	return nil
}

// storedName returns the name of a relation with its schema, but for one in public.
func (s *Session) storedName(text string) string {
	rel := s.relationNamed(text)
	if rel == nil {
		return text
	}
	return sequenceName(rel.Schema, rel.Name)
}

// relationNamed returns the relation that a literal names; nil if there is none.
func (s *Session) relationNamed(text string) *catalog.Relation {
	return s.relationOn(text, s.usablePath())
}

// relationOn is relationNamed by another search path.
func (s *Session) relationOn(text string, path []string) *catalog.Relation {
	oid, ok := (&systemCatalog{s: s}).RelationOID(text, path)
	if !ok {
		return nil
	}
	return s.snapshot().ByID(id.Relation(oid))
}

// storedExpr parses stored text.
func storedExpr(text string) (ast.Expr, error) {
	if text == "" {
		return nil, sqlerr.New(sqlerr.InternalError, "there is no text")
	}
	body, err := parseSelect("SELECT " + text)
	if err != nil {
		return nil, err
	}
	core, ok := body.Body.(*ast.SelectCore)
	if !ok || len(core.Targets) != 1 {
		return nil, sqlerr.New(sqlerr.InternalError, "stored text %q is not an expression", text)
	}
	return core.Targets[0].Expr, nil
}

// typeNames calls visit with the names under n that mean a type, or its arrays.
func (s *Session) typeNames(n ast.Node, path []string, t *catalog.Type, visit func(*ast.TypeName)) {
	ast.Walk(n, func(n ast.Node) bool {
		if name, ok := n.(*ast.TypeName); ok {
			if found, _ := bind.UserType(s.snapshot(), path, name.Name); found == t {
				visit(name)
			}
		}
		return true
	})
}

// namesType reports whether a text that is kept names a type.
func (s *Session) namesType(n ast.Node, path []string, t *catalog.Type) (found bool) {
	s.typeNames(n, path, t, func(*ast.TypeName) { found = true })
	return found
}

// bodyOf returns the query of a view of any kind, and the search path of its names; nil
// of other relations.
func (s *Session) bodyOf(r *catalog.Relation) (*ast.Select, []string) {
	text, path := "", []string{r.Schema}
	switch {
	case r.ContinuousView != nil:
		text = r.ContinuousView.SQL
		if stream := s.snapshot().ByID(r.ContinuousView.Stream); stream != nil {
			path = []string{stream.Schema}
		}
	case r.Body() != nil:
		text = r.Body().SQL
		if r.Body().Path != nil {
			path = r.Body().Path
		}
	default:
		return nil, nil
	}
	body, err := parseSelect(text)
	if err != nil {
		return nil, nil
	}
	return body, path
}

// hasLabel reports whether a string literal under n has a label in it.
func hasLabel(n ast.Node, label string) (found bool) {
	ast.Walk(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.Literal); ok && strings.Contains(l.Text, label) {
			found = true
		}
		return true
	})
	return found
}

// hasColumnsOf reports whether a relation has columns of a type or of its arrays.
func hasColumnsOf(r *catalog.Relation, t *catalog.Type) bool {
	return slices.ContainsFunc(r.Columns, func(c types.Column) bool { return ofType(c.Type, t) || holds(c.Type, t) })
}

// holds reports whether values of a column are labels of an enum, or have them.
func holds(c types.Type, t *catalog.Type) bool {
	return t.Domain == nil && (c.OID == t.OID || c.OID == t.OID.ArrayOf())
}

// ofType reports whether a type depends on one of a user: is that, or its arrays.
func ofType(c types.Type, t *catalog.Type) bool {
	if t.Domain != nil {
		return c.Domain() == t.OID
	}
	return c.Domain() == 0 && holds(c, t)
}

// readsType reports whether the query of a view may have to do with a type.
func (s *Session) readsType(view *catalog.Relation, body *ast.Select, path []string, t *catalog.Type) bool {
	if s.namesType(body, path, t) || hasColumnsOf(view, t) {
		return true
	}
	if view.ContinuousView != nil {
		stream := s.snapshot().ByID(view.ContinuousView.Stream)
		return stream != nil && hasColumnsOf(stream, t)
	}
	q, err := bind.Bind(s.bodyEnv(path), body, nil)
	if err != nil {
		return false // it reads something that is gone
	}
	for _, v := range q.Relations {
		if r := s.snapshot().ByID(v.ID); r != nil && hasColumnsOf(r, t) {
			return true
		}
	}
	return false
}

// domainTexts returns the texts that are kept with a domain.
func domainTexts(t *catalog.Type) []string {
	if t.Domain == nil {
		return nil
	}
	var out []string
	if t.Domain.Default != "" {
		out = append(out, t.Domain.Default)
	}
	for _, c := range t.Domain.Checks {
		out = append(out, c.SQL)
	}
	return out
}

// renameTypeIn renames a type in a stored expression, and reports whether it is there.
func (s *Session) renameTypeIn(e ast.Expr, t, next *catalog.Type) (found bool) {
	s.typeNames(e, storedPath, t, func(name *ast.TypeName) {
		found = true
		name.Name.Schema = next.Schema
		if name.Name.Name == t.Array {
			name.Name.Name = next.Array
		} else {
			name.Name.Name = next.Name
		}
	})
	return found
}

// indexTextsHave reports whether one of the texts of an index is such.
func indexTextsHave(x *catalog.Index, such func(ast.Expr) bool) (bool, error) {
	found := false
	err := changeIndexTexts(&catalog.Table{Indexes: []catalog.Index{*x}}, func(e ast.Expr) bool {
		found = found || such(e)
		return true
	})
	return found, err
}

// renameInDomain replaces the texts of a domain by what renamed makes of them.
func (s *Session) renameInDomain(t *catalog.Type, renamed func(string) (string, bool, error)) error {
	if t.Domain == nil {
		return nil
	}
	next, domain, changed := *t, *t.Domain, false
	next.Domain = &domain
	domain.Checks = slices.Clone(domain.Checks)
	replace := func(text *string) error {
		if *text == "" {
			return nil
		}
		to, found, err := renamed(*text)
		if found {
			*text, changed = to, true
		}
		return err
	}
	if err := replace(&domain.Default); err != nil {
		return err
	}
	for i := range domain.Checks {
		if err := replace(&domain.Checks[i].SQL); err != nil {
			return err
		}
	}
	if changed {
		s.catalog().SetType(&next)
	}
	return nil
}

// renameTypeInTexts makes texts that are kept with tables name a type as it is called
// from now on. What a view names is not renamed, for it keeps the text of its query.
func (s *Session) renameTypeInTexts(t, next *catalog.Type) error {
	renamed := func(text string) (string, bool, error) {
		e, err := storedExpr(text)
		if err != nil {
			return "", false, err
		}
		found := s.renameTypeIn(e, t, next)
		return ast.String(e), found, nil
	}
	for _, d := range s.snapshot().Types {
		if err := s.renameInDomain(d, renamed); err != nil {
			return err
		}
	}
	for _, r := range s.snapshot().Relations() {
		body, path := s.bodyOf(r)
		switch {
		case body != nil && r.ContinuousView != nil && s.readsType(r, body, path, t), body != nil && s.namesType(body, path, t):
			return errRead(t.Name, r.Name)
		case r.Stream != nil && slices.ContainsFunc(slices.Collect(maps.Values(r.Stream.Defaults)), func(text string) bool {
			_, found, err := renamed(text)
			return err != nil || found
		}):
			return sqlerr.New(sqlerr.FeatureNotSupported, "%q cannot be changed because a default of stream %q names it", t.Name, r.Name)
		case r.Table == nil:
			continue
		}
		defaults, checks := maps.Clone(r.Table.Defaults), slices.Clone(r.Table.Checks)
		changed := false
		for i, text := range defaults {
			to, found, err := renamed(text)
			if err != nil {
				return err
			}
			if found {
				defaults[i], changed = to, true
			}
		}
		for i := range checks {
			to, found, err := renamed(checks[i].SQL)
			if err != nil {
				return err
			}
			if found {
				checks[i].SQL, changed = to, true
			}
		}
		table := *r.Table
		err := changeIndexTexts(&table, func(e ast.Expr) bool {
			changed = s.renameTypeIn(e, t, next) || changed
			return true
		})
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		err = s.catalog().Update(r.ID, func(r *catalog.Relation) error {
			r.Table.Defaults, r.Table.Checks, r.Table.Indexes = defaults, checks, table.Indexes
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// typeDependents returns what uses a type.
func (s *Session) typeDependents(t *catalog.Type) []textDependent {
	list := s.textDependents(
		func(n ast.Node, path []string) bool { return s.namesType(n, path, t) },
		func(of types.Type) bool { return ofType(of, t) },
	)
	return slices.DeleteFunc(list, func(d textDependent) bool { return d.domain != nil && d.domain.OID == t.OID })
}

// dropTypes runs DROP TYPE.
func (s *Session) dropTypes(ctx context.Context, x *ast.Drop, out *sink) error {
	for _, n := range x.Names {
		t, err := s.lookupType(n, func(shown string) error {
			if x.Kind == ast.DomainObject {
				return notADomain(`"` + n.Name + `"`)
			}
			return s.errTypeRequired(n, shown)
		})
		if err == nil && x.Kind == ast.DomainObject && t.Domain == nil {
			err = notADomain(`"` + t.Name + `"`)
		}
		switch code := sqlerr.CodeOf(err); {
		case err != nil && x.IfExists && code == sqlerr.InvalidSchemaName:
			err = out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "schema %q does not exist, skipping", n.Schema))
		case err != nil && x.IfExists && code == sqlerr.UndefinedObject:
			err = out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "type %q does not exist, skipping", strings.Join(n.Parts(), ".")))
		case err == nil && s.mayDropType(t) != nil:
			err = s.mayDropType(t)
		case err == nil:
			err = s.dropType(ctx, t, x.Cascade, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errTypeRequired says why a type cannot be dropped.
func (s *Session) errTypeRequired(n ast.ObjectName, shown string) error {
	if rel, err := s.lookup(n); err == nil {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop type %s because %s %s requires it", rel.Name, rel.Kind, rel.Name).
			WithHint("You can drop %s %s instead.", rel.Kind, rel.Name)
	}
	if t, array := bind.UserType(s.snapshot(), s.path(), n); array {
		return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop type %s because type %s requires it", shown, t.Shown()).
			WithHint("You can drop type %s instead.", t.Shown())
	}
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop type %s because it is required by the database system", shown)
}

func (s *Session) dropType(ctx context.Context, t *catalog.Type, cascade bool, out *sink) error {
	list := s.typeDependents(t)
	if len(list) > 0 && !cascade {
		return errDependOn("type "+t.Shown(), dependentLines(list, "type "+t.Shown()))
	}
	if err := s.dropTextDependents(ctx, list, out); err != nil {
		return err
	}
	s.catalog().DropType(t.OID)
	return nil
}
