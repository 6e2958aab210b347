package bind

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// parameter is an argument that a call may name.
type parameter struct {
	names      []string
	optional   bool      // a call may end before it
	defaulting expr.Expr // where a call leaves it out between others; nil: it cannot
}

// parameters returns the arguments of a function that calls may name, nil where they
// have no names. full says that its forms have all of them: fewer in a call are filled up.
func (b *binder) parameters(name string) (list []parameter, full bool) {
	known := expr.Parameters(name)
	if f := b.env.Registry.Scalars().SetFunction(name); f != nil {
		known, full = f.Params, true
	}
	for _, p := range known {
		list = append(list, parameter{[]string{p.Name}, false, p.Default})
	}
	fn := b.env.Registry.Lookup(name)
	if len(list) > 0 || fn == nil {
		return list, full
	}
	for _, a := range fn.Arguments() {
		p := parameter{names: a.Names, optional: a.Optional}
		if d, ok := fn.Parameter(a.Names[0]); ok && a.Optional {
			p.defaulting = expr.NewConst(types.FloatDatum(d.Default))
		}
		list = append(list, p)
	}
	return list, full
}

// callArgs binds the arguments of a function in the order of its parameters; those
// that the call names may stand in any order, and may be missing if they have a
// default.
func (b *binder) callArgs(c *clause, f *ast.FuncCall) ([]expr.Expr, error) {
	first := slices.IndexFunc(f.Args, func(e ast.Expr) bool { _, named := e.(*ast.NamedArg); return named })
	known, full := b.parameters(f.Name.Name)
	if first < 0 {
		args, err := b.exprs(c, f.Args)
		// The forms of other functions have fewer arguments.
		for i := len(args); err == nil && full && i < len(known) && known[i].defaulting != nil; i++ {
			args = append(args, known[i].defaulting)
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
	}
	args, ok := arrange(args, given, known)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", f.Name.Name, strings.Join(signature, ", ")).
			WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	return args, nil
}

// arrange puts arguments that were given by name behind the others. Those that may be
// missing are left out from the end, and stand for their defaults elsewhere; ok is false
// if one that is not known was given, or one that is needed was not.
func arrange(args []expr.Expr, given map[string]expr.Expr, known []parameter) (out []expr.Expr, ok bool) {
	used, last := 0, len(args)
	if last > len(known) {
		return nil, false
	}
	out = args
	for _, p := range known[len(args):] {
		v, before := p.defaulting, used
		for _, name := range p.names {
			if given[name] != nil {
				v = given[name]
				used++
			}
		}
		out = append(out, v)
		if used > before+1 {
			return nil, false
		}
		if used > before || !p.optional {
			last = len(out)
		}
	}
	out = out[:last]
	return out, used == len(given) && !slices.Contains(out, nil)
}
