package expr

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/types"
)

// rowFunc computes one row. Arguments have the declared types; in strict
// functions none is NULL.
type rowFunc func(ec *Context, a []types.Datum) (types.Datum, error)

// kernel computes all rows of a strict function into out, whose NULLs are set
// and whose Ints or Floats have n rows. Rows that are NULL may hold anything.
type kernel func(args []arg, n int, out *types.Vector) error

// arg is an evaluated operand: row i is v's row i&mask, so that a constant is
// one row under mask 0.
type arg struct {
	v    *types.Vector
	mask int
}

// overload is one entry of the registry: a function or an operator.
type overload struct {
	name     string
	args     []types.OID
	ret      types.OID
	variadic bool
	vol      Volatility
	nulls    bool // called on NULL input
	total    bool // never fails
	desc     string
	row      rowFunc
	vec      kernel
	// prepare returns a kernel for these operands, or nil where row has to do.
	prepare func(ec *Context, args []arg) kernel
}

// fn declares a function from its signature: "lpad(text,int4,text) text". The
// last argument of a variadic one begins with an ellipsis.
func fn(sig, desc string, row rowFunc) overload {
	name, rest, _ := strings.Cut(sig, "(")
	args, ret, _ := strings.Cut(rest, ")")
	f := overload{name: name, ret: typeNamed(strings.TrimSpace(ret)), desc: desc, row: row}
	for _, a := range strings.Split(args, ",") {
		if a = strings.TrimSpace(a); a == "" {
			continue
		}
		if s, ok := strings.CutPrefix(a, "..."); ok {
			f.variadic, a = true, s
		}
		f.args = append(f.args, typeNamed(a))
	}
	return f
}

func typeNamed(s string) types.OID {
	if s == `"char"` {
		return types.Char
	}
	t, err := types.ByName(s)
	if err != nil {
		panic("registry: " + err.Error())
	}
	return t.OID
}

func (f overload) stable() overload   { f.vol = Stable; return f }
func (f overload) volatile() overload { f.vol = Volatile; return f }
func (f overload) onNull() overload   { f.nulls = true; return f }

type registry map[string][]*overload

func register(families ...[]overload) registry {
	r := registry{}
	for _, fam := range families {
		for i := range fam {
			r[fam[i].name] = append(r[fam[i].name], &fam[i])
		}
	}
	return r
}

var functions = sync.OnceValue(func() registry {
	return register(textFunctions(), formatFunctions(), regexFunctions(), mathFunctions(), datetimeFunctions(),
		intervalFunctions(), jsonFunctions(), jsonEditFunctions(), jsonPathFunctions(), arrayFunctions(), moreArrayFunctions(), systemFunctions(), enumFunctions(), bytesFunctions(), bitFunctions())
})

var operators = sync.OnceValue(func() registry {
	return register(integerOperators(), numberOperators(), compareOperators(), datetimeOperators(), textOperators(),
		jsonOperators(), jsonEditOperators(), jsonPathOperators(), arrayOperators(), bitOperators())
})

// FunctionInfo describes one overload for pg_proc.
type FunctionInfo struct {
	Name        string
	Args        []types.Type // pseudo-types by OID: types.AnyElement, types.AnyArray, types.Any
	Result      types.Type
	Variadic    bool // the last argument repeats
	Volatility  Volatility
	Strict      bool // NULL in, NULL out
	Description string
}

// Functions lists every overload, by name.
func Functions() []FunctionInfo { return list(functions()) }

// Operators lists every operator; prefix operators have one argument.
func Operators() []FunctionInfo { return list(operators()) }

func list(r registry) []FunctionInfo {
	var out []FunctionInfo
	for _, fs := range r {
		for _, f := range fs {
			info := FunctionInfo{
				Name: f.name, Result: types.Of(f.ret), Variadic: f.variadic, Volatility: f.vol,
				Strict: !f.nulls, Description: f.desc,
			}
			for _, a := range f.args {
				info.Args = append(info.Args, types.Of(a))
			}
			out = append(out, info)
		}
	}
	slices.SortStableFunc(out, func(a, b FunctionInfo) int {
		if c := cmp.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return slices.CompareFunc(a.Args, b.Args, func(x, y types.Type) int { return cmp.Compare(x.OID, y.OID) })
	})
	return out
}

// HasFunction reports whether any overload has this name.
func HasFunction(name string) bool { return len(functions()[unqualified(name)]) > 0 }

func unqualified(name string) string { return strings.TrimPrefix(name, "pg_catalog.") }
