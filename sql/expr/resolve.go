package expr

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// candidate is an overload with its variadic argument expanded to a call.
type candidate struct {
	fn   *overload
	args []types.OID
}

func candidates(fs []*overload, n int) []candidate {
	var out []candidate
	for _, f := range fs {
		switch {
		case !f.variadic && len(f.args) == n:
			out = append(out, candidate{f, f.args})
		case f.variadic && n >= len(f.args):
			args := slices.Clone(f.args)
			for len(args) < n {
				args = append(args, f.args[len(f.args)-1])
			}
			out = append(out, candidate{f, args})
		}
	}
	return out
}

func isPseudo(o types.OID) bool {
	switch o {
	case types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum, types.AnyCompatible, types.AnyCompatibleArray:
		return true
	}
	return false
}

// canCoerce reports whether an argument may be passed implicitly.
func canCoerce(from, to types.OID) bool {
	switch {
	case from == to || from == types.Unknown:
		return true
	case to == types.AnyArray || to == types.AnyCompatibleArray:
		return from.IsArray()
	case to == types.AnyNonArray:
		return !from.IsArray()
	case to == types.AnyEnum:
		return from.IsEnum()
	case isPseudo(to):
		return true
	}
	return CanCast(types.Of(from), types.Of(to), Implicit)
}

// resolve picks the candidate that PostgreSQL picks (its func_select_candidate).
func resolve(cands []candidate, in []types.OID) (chosen candidate, found, ambiguous bool) {
	for _, c := range cands {
		if slices.Equal(c.args, in) {
			return c, true, false
		}
	}
	cands = slices.DeleteFunc(slices.Clone(cands), func(c candidate) bool {
		for i, t := range in {
			if !canCoerce(t, c.args[i]) {
				return true
			}
		}
		return !consistent(c, in)
	})
	if len(cands) > 1 {
		cands = keepBest(cands, in, func(have, want types.OID) bool { return have == want })
	}
	if len(cands) > 1 {
		cands = keepBest(cands, in, func(have, want types.OID) bool {
			return have == want || want.Preferred() && have.Category() == want.Category()
		})
	}
	if len(cands) > 1 && slices.Contains(in, types.Unknown) {
		cands = byCategory(cands, in)
	}
	if len(cands) > 1 {
		cands = sameAsKnown(cands, in)
	}
	switch len(cands) {
	case 0:
		return candidate{}, false, false
	case 1:
		return cands[0], true, false
	}
	return candidate{}, true, true
}

// consistent reports whether the polymorphic arguments agree on one element type.
func consistent(c candidate, in []types.OID) bool {
	var exact types.OID
	var loose []Expr
	enum := false
	for i, want := range c.args {
		t := in[i]
		enum = enum || want == types.AnyEnum
		if t == types.Unknown {
			continue
		}
		if want == types.AnyArray || want == types.AnyCompatibleArray {
			t = t.Elem()
		}
		switch want {
		case types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum:
			if exact != 0 && exact != t {
				return false
			}
			exact = t
		case types.AnyCompatible, types.AnyCompatibleArray:
			loose = append(loose, &Column{Typ: types.Of(t)})
		}
	}
	_, err := CommonType("argument", loose...)
	return err == nil && (!enum || exact.IsEnum())
}

// keepBest keeps the candidates with the most matching arguments.
func keepBest(cands []candidate, in []types.OID, match func(have, want types.OID) bool) []candidate {
	best, kept := -1, cands[:0:0]
	for _, c := range cands {
		n := 0
		for i, t := range in {
			if t != types.Unknown && match(t, c.args[i]) {
				n++
			}
		}
		if n > best {
			best, kept = n, kept[:0]
		}
		if n == best {
			kept = append(kept, c)
		}
	}
	return kept
}

// byCategory decides what category unknown literals belong to.
func byCategory(cands []candidate, in []types.OID) []candidate {
	for i, t := range in {
		if t != types.Unknown {
			continue
		}
		category, conflict, preferred := byte(0), false, false
		for _, c := range cands {
			k := c.args[i].Category()
			switch {
			case category == 0:
				category = k
			case k == category:
			case k == 'S':
				category, conflict, preferred = 'S', false, false
			case category != 'S':
				conflict = true
			}
			if k == category && c.args[i].Preferred() {
				preferred = true
			}
		}
		if conflict {
			return cands
		}
		kept := slices.DeleteFunc(slices.Clone(cands), func(c candidate) bool {
			return c.args[i].Category() != category || preferred && !c.args[i].Preferred()
		})
		if len(kept) > 0 {
			cands = kept
		}
	}
	return cands
}

// sameAsKnown takes unknown arguments for the type that all known ones share.
func sameAsKnown(cands []candidate, in []types.OID) []candidate {
	known := types.OID(0)
	for _, t := range in {
		if t == types.Unknown {
			continue
		}
		if known != 0 && known != t {
			return cands
		}
		known = t
	}
	if known == 0 || !slices.Contains(in, types.Unknown) {
		return cands
	}
	same := slices.Repeat([]types.OID{known}, len(in))
	kept := slices.DeleteFunc(slices.Clone(cands), func(c candidate) bool {
		return slices.ContainsFunc(c.args, func(want types.OID) bool { return !canCoerce(known, want) }) || !consistent(c, same)
	})
	if len(kept) == 1 {
		return kept
	}
	return cands
}

func exprOIDs(args []Expr) []types.OID {
	in := make([]types.OID, len(args))
	for i, a := range args {
		in[i] = a.Type().OID
	}
	return in
}

// bindCall casts the arguments and fixes polymorphic types.
func bindCall(c candidate, args []Expr, op bool) (Expr, error) {
	if c.fn.name == "pg_typeof" && args[0].Type().Domain() != 0 {
		return NewConst(types.IntDatum(types.Regtype, int64(args[0].Type().Domain()))), nil
	}
	elem, err := polymorphicElem(c, args)
	if err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		want := types.Of(c.args[i])
		switch c.args[i] {
		case types.Any:
			if want = a.Type(); want.OID == types.Unknown {
				if _, literal := a.(*Const); literal {
					out[i] = a
					continue
				}
				want = types.Of(types.Text)
			}
		case types.AnyElement, types.AnyNonArray, types.AnyEnum, types.AnyCompatible:
			want = elem
		case types.AnyArray, types.AnyCompatibleArray:
			want = types.Of(elem.OID.ArrayOf())
		}
		if out[i], err = Cast(a, want, Implicit); err != nil {
			return nil, err
		}
	}
	ret := types.Of(c.fn.ret)
	switch c.fn.ret {
	case types.AnyElement, types.AnyEnum, types.AnyCompatible:
		ret = elem
	case types.AnyArray, types.AnyCompatibleArray:
		ret = types.Of(elem.OID.ArrayOf())
	}
	return &call{fn: c.fn, args: out, typ: ret, op: op}, nil
}

// polymorphicElem returns the element type that the polymorphic arguments share.
func polymorphicElem(c candidate, args []Expr) (types.Type, error) {
	var elems []Expr
	poly := false
	for i, a := range args {
		t := a.Type()
		switch c.args[i] {
		case types.AnyArray, types.AnyCompatibleArray:
			poly = true
			if t.OID != types.Unknown {
				elems = append(elems, &Column{Typ: types.Of(t.OID.Elem())})
			}
		case types.AnyElement, types.AnyNonArray, types.AnyEnum, types.AnyCompatible:
			poly = true
			if t.OID != types.Unknown {
				elems = append(elems, &Column{Typ: types.Of(t.OID)})
			}
		}
	}
	if !poly {
		return types.Type{}, nil
	}
	if len(elems) == 0 {
		if slices.Contains(c.args, types.AnyCompatible) {
			return types.Of(types.Text), nil
		}
		return types.Type{}, sqlerr.New(sqlerr.DatatypeMismatch,
			"could not determine polymorphic type because input has type unknown")
	}
	t, err := CommonType("argument", elems...)
	if err != nil {
		return t, undefined(c.fn.name, args)
	}
	if t.OID.ArrayOf() == 0 && (slices.Contains(c.args, types.AnyArray) || c.fn.ret == types.AnyArray) {
		return t, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s", t)
	}
	return t, nil
}

func signature(name string, args []Expr) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = types.Of(a.Type().OID).String()
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

const castHint = "No function matches the given name and argument types. You might need to add explicit type casts."

func undefined(name string, args []Expr) *sqlerr.Error {
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", signature(name, args)).WithHint(castHint)
}

// Option adjusts NewFunction.
type Option func(*options)

type options struct {
	extraNames []string
	library    *Library
}

// overloads returns those of a name, here and in the library.
func (o *options) overloads(name string) []*overload {
	fs := functions()[name]
	if o.library == nil || len(o.library.functions[name]) == 0 {
		return fs
	}
	return append(slices.Clone(fs), o.library.functions[name]...)
}

// WithNames adds names (aggregates, window functions) that a hint may suggest.
func WithNames(names []string) Option { return func(o *options) { o.extraNames = names } }

// NewFunction resolves a call by PostgreSQL's overload rules. name is folded to
// lower case already and may be qualified with pg_catalog.
func NewFunction(name string, args []Expr, opts ...Option) (Expr, error) {
	name = unqualified(name)
	var o options
	for _, f := range opts {
		f(&o)
	}
	fs := o.overloads(name)
	if c, found, ambiguous := resolve(candidates(fs, len(args)), exprOIDs(args)); found {
		if ambiguous {
			return nil, sqlerr.New(sqlerr.AmbiguousFunction, "function %s is not unique", signature(name, args)).
				WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
		}
		return bindCall(c, args, false)
	}
	if len(args) == 1 {
		if t, err := types.ByName(name); err == nil && !isPseudo(t.OID) && CanCast(args[0].Type(), t, Explicit) {
			return Cast(args[0], types.Of(t.OID), Explicit)
		}
	}
	err := undefined(name, args)
	if len(fs) == 0 {
		names := slices.Clone(o.extraNames)
		for n := range functions() {
			names = append(names, n)
		}
		for _, f := range o.library.Functions() {
			names = append(names, f.Name)
		}
		if near := NearestName(name, names); near != "" {
			err = err.WithHint("Perhaps you meant %q.", near)
		}
	}
	return nil, err
}

// NewOperator resolves an operator; left is nil for a prefix operator.
func NewOperator(op string, left, right Expr) (Expr, error) {
	if op == "!=" {
		op = "<>"
	}
	args := []Expr{right}
	if left != nil {
		args = []Expr{left, right}
	}
	in := exprOIDs(args)
	cands := candidates(operators()[op], len(args))
	exact := slices.Clone(in)
	if left != nil && in[0] != in[1] {
		if in[0] == types.Unknown {
			exact[0] = in[1]
		} else if in[1] == types.Unknown {
			exact[1] = in[0]
		}
	}
	for _, c := range cands {
		if slices.Equal(c.args, exact) {
			return bindCall(c, args, true)
		}
	}
	c, found, ambiguous := resolve(cands, in)
	switch {
	case ambiguous:
		return nil, sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", operatorText(op, args)).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	case !found:
		return nil, undefinedOperator(op, args)
	}
	e, err := bindCall(c, args, true)
	if sqlerr.CodeOf(err) == sqlerr.UndefinedFunction {
		return nil, undefinedOperator(op, args)
	}
	return e, err
}

func undefinedOperator(op string, args []Expr) error {
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", operatorText(op, args)).
		WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

func operatorText(op string, args []Expr) string {
	if len(args) == 1 {
		return op + " " + types.Of(args[0].Type().OID).String()
	}
	return types.Of(args[0].Type().OID).String() + " " + op + " " + types.Of(args[1].Type().OID).String()
}

// NearestName returns the candidate that is a likely misspelling's target, or "".
func NearestName(name string, names []string) string {
	best, limit := "", max(1, len(name)/3)+1
	for _, c := range names {
		if abs(len(c)-len(name)) >= limit {
			continue
		}
		if d := editDistance(name, c); d < limit || d == limit-1 && c < best {
			best, limit = c, d
		}
	}
	return best
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// editDistance is the least number of letters changed, added, left out or exchanged
// with their neighbours (optimal string alignment; Damerau 1964).
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := last[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
