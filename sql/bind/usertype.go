package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// UserType finds a type that a user defined by its name, or the name of its arrays; nil
// if there is none. The types of pg_catalog come first, unless the path lists it.
func UserType(snapshot *catalog.Snapshot, path []string, n ast.ObjectName) (t *catalog.Type, array bool) {
	if snapshot == nil || len(snapshot.Types) == 0 || n.Schema == "pg_catalog" {
		return nil, false
	}
	if n.Schema != "" {
		return snapshot.TypeByName(n.Schema, n.Name)
	}
	if !slices.Contains(path, "pg_catalog") && isBuiltin(n.Name) {
		return nil, false
	}
	for _, schema := range path {
		if schema == "pg_catalog" && isBuiltin(n.Name) {
			return nil, false
		}
		if t, array = snapshot.TypeByName(schema, n.Name); t != nil {
			return t, array
		}
	}
	return nil, false
}

// isBuiltin reports whether a name is that of a type in pg_catalog. Capitals were
// quoted, and those types have none.
func isBuiltin(name string) bool {
	if name != strings.ToLower(name) {
		return false
	}
	_, err := types.ByName(name)
	return err == nil
}

func userType(n *ast.TypeName, t *catalog.Type, array bool) (types.Type, error) {
	if len(n.Modifiers) > 0 {
		return types.Type{}, sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type %q", n.Name.Name)
	}
	switch {
	case t.Domain != nil:
		return t.Values(), nil
	case array:
		return types.Of(t.OID.ArrayOf()), nil
	}
	return types.Of(t.OID), nil
}

// fixNames makes names of relations without a schema in such text mean those of public, and
// only others where that has none, whatever temporary ones the session has.
func (b *binder) fixNames(e expr.Expr) expr.Expr {
	return expr.FixNames(e, b.env.context(), append([]string{catalog.PublicSchema}, b.env.SearchPath...))
}

// storedText makes types without a schema mean those of public, as in text that is kept
// with a table; the result ends that.
func (b *binder) storedText() (end func()) {
	outer := b.viewPath
	b.viewPath = []string{catalog.PublicSchema}
	return func() { b.viewPath = outer }
}
