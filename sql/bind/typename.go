package bind

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TypeOf resolves a type as written, which may be a domain.
func TypeOf(env *Env, n *ast.TypeName) (types.Type, error) { return newBinder(env, nil, 0).typeOf(n) }

// plainType resolves a type where domains are not supported.
func (b *binder) plainType(n *ast.TypeName, what string) (types.Type, error) {
	t, err := b.typeOf(n)
	if err == nil && t.Domain() != 0 {
		err = sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be of a domain", what).WithHint("Use the type that the domain is over.").At(n.Position())
	}
	return t, err
}

func (b *binder) typeOf(n *ast.TypeName) (types.Type, error) {
	t, err := b.elementType(n)
	if err != nil {
		return t, sqlerr.From(err).At(n.Position())
	}
	if len(n.ArrayBounds) == 0 || t.OID.IsArray() && t.Domain() == 0 { // an array of arrays is one of more dimensions
		return t, nil
	}
	if t.Domain() != 0 {
		return t, sqlerr.New(sqlerr.FeatureNotSupported, "arrays of domains are not supported").
			WithHint("Use an array of the type that the domain is over.").At(n.Position())
	}
	a := t.OID.ArrayOf()
	if a == 0 {
		return t, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s", t).At(n.Position())
	}
	return types.Of(a).WithModifier(t.Modifier()), nil
}

func (b *binder) elementType(n *ast.TypeName) (types.Type, error) {
	if t, array := UserType(b.env.Snapshot, b.searchPath(), n.Name); t != nil {
		if err := b.unusable(n.Name); err != nil {
			return types.Type{}, err
		}
		return userType(n, t, array)
	}
	if s := n.Name.Schema; s != "" && s != "pg_catalog" && s != "public" {
		if b.env.Snapshot != nil && !b.env.Snapshot.HasSchema(s) {
			return types.Type{}, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", s)
		}
		return types.Type{}, sqlerr.New(sqlerr.UndefinedObject, "type \"%s.%s\" does not exist", s, n.Name.Name)
	}
	if _, err := types.ByName(n.Name.Name); len(n.Modifiers) > 0 && sqlerr.CodeOf(err) == sqlerr.UndefinedObject {
		return types.Type{}, err
	}
	var mods []int32
	for _, m := range n.Modifiers {
		l, ok := m.(*ast.Literal)
		u, neg := m.(*ast.Unary)
		if neg && u.Op.Name == "-" {
			l, ok = u.Arg.(*ast.Literal)
		}
		if !ok || l == nil || l.Kind != ast.IntegerLiteral {
			return types.Type{}, sqlerr.New(sqlerr.SyntaxError, "type modifiers must be simple constants or identifiers")
		}
		v, err := strconv.ParseInt(l.Text, 10, 32)
		if err != nil {
			return types.Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
		}
		if neg {
			v = -v
		}
		mods = append(mods, int32(v))
	}
	if n.Name.Name == "interval" && (n.IntervalFields != "" || len(mods) > 0) {
		precision := -1
		if len(mods) > 0 {
			precision = int(mods[0])
		}
		return types.IntervalType(n.IntervalFields, precision)
	}
	if n.Name.Name == "char" && len(mods) == 0 { // quoted: the word char has become bpchar
		return types.Of(types.Char), nil
	}
	return types.ByName(n.Name.Name, mods...)
}
