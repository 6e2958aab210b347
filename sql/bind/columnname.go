package bind

import "github.com/tallydb/tallydb/sql/ast"

// ColumnName returns the name that PostgreSQL's FigureColname gives the column of an
// expression.
func ColumnName(e ast.Expr) string {
	if name, _ := figureName(e); name != "" {
		return name
	}
	return "?column?"
}

// figureName returns a name and how good it is: 2 for a column or function, 1
// for a type.
func figureName(e ast.Expr) (string, int) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		return x.Name(), 2
	case *ast.FuncCall:
		if x.SQLSyntax {
			switch x.Name.Name {
			case "user", "current_role", "session_user", "current_catalog":
				return x.Name.Name, 2
			}
		}
		return x.Name.Name, 2
	case *ast.Subscript:
		return figureName(x.Arg)
	case *ast.FieldSelect:
		return x.Field, 2
	case *ast.Collate:
		return figureName(x.Arg)
	case *ast.Cast:
		if name, strength := figureName(x.Arg); strength == 2 {
			return name, 2
		}
		return x.Type.Name.Name, 1
	case *ast.Case:
		if x.Else != nil {
			if name, strength := figureName(x.Else); strength == 2 {
				return name, 2
			}
		}
		return "case", 1
	case *ast.Array:
		return "array", 2
	case *ast.Row:
		return "row", 2
	case *ast.Subquery:
		return subqueryName(x)
	case *ast.Literal:
		if x.Kind == ast.BoolLiteral {
			return "bool", 1
		}
	}
	return "", 0
}

func subqueryName(x *ast.Subquery) (string, int) {
	switch x.Kind {
	case ast.ExistsSubquery:
		return "exists", 2
	case ast.ArraySubquery:
		return "array", 2
	}
	if c, ok := x.Query.Body.(*ast.SelectCore); ok && len(c.Targets) > 0 {
		if c.Targets[0].Alias != "" {
			return c.Targets[0].Alias, 2
		}
		return figureName(c.Targets[0].Expr)
	}
	return "", 0
}
