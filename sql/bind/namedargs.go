package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// callArgs binds the arguments of a function in the order of its parameters; those
// that the call names may stand in any order, and may be missing if they have a
// default.
func (b *binder) callArgs(c *clause, f *ast.FuncCall) ([]expr.Expr, error) {
	first := slices.IndexFunc(f.Args, func(e ast.Expr) bool { _, named := e.(*ast.NamedArg); return named })
	known := b.parameters(f.Name.Name)
	if first < 0 {
		args, err := b.exprs(c, f.Args)
		// The forms of other functions have fewer arguments.
		set := b.env.Registry.Scalars().SetFunction(f.Name.Name) != nil
		for i := len(args); err == nil && set && i < len(known) && known[i].Default != nil; i++ {
			args = append(args, known[i].Default)
		}
		return args, err
	}
	args, err := b.exprs(c, f.Args[:first])
	if err != nil {
		return nil, err
	}
	given := map[string]expr.Expr{}
	signature := make([]string, 0, len(f.Args))
	for _, a := range args {
		signature = append(signature, a.Type().String())
	}
	undefined := len(args) > len(known)
	for _, a := range f.Args[first:] {
		named, ok := a.(*ast.NamedArg)
		if !ok {
			return nil, sqlerr.New(sqlerr.SyntaxError, "positional argument cannot follow named argument").At(a.Position())
		}
		if given[named.Name] != nil {
			return nil, sqlerr.New(sqlerr.SyntaxError, "argument name %q used more than once", named.Name).At(named.Position())
		}
		if given[named.Name], err = b.expr(c, named.Arg); err != nil {
			return nil, err
		}
		signature = append(signature, named.Name+" => "+given[named.Name].Type().String())
		at := slices.IndexFunc(known, func(p expr.Parameter) bool { return p.Name == named.Name })
		undefined = undefined || at < len(args)
	}
	for i := len(args); i < len(known) && !undefined; i++ {
		v := given[known[i].Name]
		if v == nil {
			v = known[i].Default
		}
		undefined = v == nil
		args = append(args, v)
	}
	if undefined {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", f.Name.Name, strings.Join(signature, ", ")).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	return args, nil
}
