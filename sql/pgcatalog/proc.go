package pgcatalog

import (
	"slices"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// function is a row of pg_proc.
type function struct {
	oid         uint32
	name        string
	kind        string // prokind
	args        []types.OID
	result      types.OID
	variadic    bool
	strict      bool
	volatility  string
	source      string
	description string
	aggregate   *agg.Function
	set         *expr.SetFunction
}

var volatilities = map[expr.Volatility]string{expr.Immutable: "i", expr.Stable: "s", expr.Volatile: "v"}

// scalarFunctions are the functions of expressions and those that types name.
var scalarFunctions = sync.OnceValue(func() []*function {
	var out []*function
	taken := numbering{}
	for _, f := range expr.Functions() {
		p := &function{
			name: f.Name, kind: "f", result: f.Result.OID, variadic: f.Variadic,
			strict: f.Strict, volatility: volatilities[f.Volatility], source: f.Name, description: f.Description,
		}
		for _, a := range f.Args {
			p.args = append(p.args, a.OID)
		}
		p.oid = taken.number(p.kind, p.name, p.args)
		out = append(out, p)
	}
	return append(out, ioFunctions()...)
})

func ioFunctions() []*function {
	seen := map[uint32]bool{0: true}
	var out []*function
	for _, io := range typeIOs() {
		for _, f := range io {
			if seen[f.oid] {
				continue
			}
			seen[f.oid] = true
			// Text stands for cstring and bytea for internal.
			args, result := []types.OID{types.Text}, f.typ
			switch f.use {
			case 1:
				args, result = []types.OID{f.typ}, types.Text
			case 2:
				args = []types.OID{types.Bytea}
			case 3:
				args, result = []types.OID{f.typ}, types.Bytea
			}
			out = append(out, &function{
				oid: f.oid, name: f.name, kind: "f", args: args, result: result, strict: true, volatility: "s", source: f.name,
			})
		}
	}
	slices.SortFunc(out, func(a, b *function) int { return int(a.oid) - int(b.oid) })
	return out
}

// functionByOID and functionByName serve regproc.
var functionByOID = sync.OnceValue(func() map[uint32]*function {
	m := map[uint32]*function{}
	for _, f := range scalarFunctions() {
		m[f.oid] = f
	}
	return m
})

// registeredCache holds the functions of a registry, which is only read.
var registeredCache sync.Map // *agg.Registry → []*function

// registered returns the aggregates of the registry and the functions that come
// with them.
func (c *Catalog) registered() []*function {
	r := c.cfg.Registry
	if r == nil {
		return nil
	}
	if list, ok := registeredCache.Load(r); ok {
		return list.([]*function) //nolint:forcetypeassert // nothing else is stored
	}
	out := libraryFunctions(r.Scalars())
	for _, name := range r.Names() {
		f := r.Lookup(name)
		for _, s := range signatures(f) {
			out = append(out, &function{
				name: name, kind: "a", args: s.args, result: s.result, volatility: "i",
				source: "aggregate_dummy", description: f.Signature, aggregate: f,
			})
		}
	}
	taken := numbering{}
	for _, f := range scalarFunctions() {
		taken[f.oid] = true
	}
	for _, f := range out {
		f.oid = taken.number(f.kind, f.name, f.args)
	}
	registeredCache.Store(r, out)
	return out
}

func libraryFunctions(l *expr.Library) []*function {
	var out []*function
	for _, f := range l.Functions() {
		p := &function{
			name: f.Name, kind: "f", result: f.Result.OID, strict: f.Strict, volatility: volatilities[f.Volatility],
			source: f.Name, description: f.Description,
		}
		for _, a := range f.Args {
			p.args = append(p.args, a.OID)
		}
		out = append(out, p)
	}
	for _, f := range l.SetFunctions() {
		result := types.Record
		if len(f.Columns) == 1 {
			result = f.Columns[0].Type.OID
		}
		out = append(out, &function{name: f.Name, kind: "f", args: f.Args, result: result, strict: !f.Nulls, volatility: "i", source: f.Name, description: f.Description, set: f})
	}
	return out
}

type signature struct {
	args   []types.OID
	result types.OID
}

// probes are the argument types that aggregates are asked for.
var probes = []types.OID{
	types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Text, types.Varchar, types.Bool,
	types.Date, types.Timestamp, types.Timestamptz, types.Interval, types.UUID, types.Bytea, types.JSONB,
}

// signatures finds out by asking which arguments an aggregate takes: none, one
// value, and one value with a parameter.
func signatures(f *agg.Function) []signature {
	for _, p := range probes { // two columns, not a column and a parameter
		if _, ok := bindAs(f, []types.OID{p, p}, make([]*types.Datum, 2)); ok && f.Family != "exact" {
			return []signature{documented(f)}
		}
	}
	half, five := types.FloatDatum(0.5), types.IntDatum(types.Int4, 5)
	comma := types.TextDatum(",")
	tails := []*types.Datum{nil, &half, &five, &comma}
	var out []signature
	if s, ok := bindAs(f, nil, nil); ok {
		out = append(out, s)
	}
	for _, tail := range tails {
		var found []signature
		for _, p := range probes {
			args, consts := []types.OID{p}, []*types.Datum{nil}
			if tail != nil {
				args, consts = append(args, tail.Type.OID), append(consts, tail)
			}
			if s, ok := bindAs(f, args, consts); ok {
				found = append(found, s)
			}
		}
		out = append(out, general(found)...)
		if len(found) > 0 {
			return out
		}
	}
	if len(out) == 0 {
		out = append(out, documented(f))
	}
	return out
}

// documented reads the arguments that are needed and the result from the text of a
// signature, "f(x float8[], id any type with equality [, k int4]) → sketch"; what
// names no type stands for any.
func documented(f *agg.Function) signature {
	typeOf := func(text string) types.OID {
		if t, err := types.ByName(strings.TrimSpace(text)); err == nil {
			return t.OID
		}
		return types.Any
	}
	call, result, _ := strings.Cut(f.Signature, " → ")
	_, call, _ = strings.Cut(call, "(")
	call, _, _ = strings.Cut(strings.TrimSuffix(call, ")"), " [,")
	out := signature{result: typeOf(result)}
	for _, arg := range strings.Split(call, ", ") {
		_, t, _ := strings.Cut(arg, " ")
		out.args = append(out.args, typeOf(t))
	}
	return out
}

func bindAs(f *agg.Function, args []types.OID, consts []*types.Datum) (signature, bool) {
	in := make([]types.Type, len(args))
	for i, a := range args {
		in[i] = types.Of(a)
	}
	b, err := f.Bind(in, consts)
	if err != nil || b.Final == nil {
		return signature{}, false
	}
	return signature{args, b.Final.Type().OID}, true
}

// general replaces signatures for all types that have one result by one for any.
func general(found []signature) []signature {
	if len(found) < len(probes) {
		return found
	}
	for _, s := range found {
		if s.result != found[0].result {
			return found
		}
	}
	args := slices.Clone(found[0].args)
	args[0] = types.Any
	return []signature{{args, found[0].result}}
}

const procColumns = `oid proname pronargs prorettype proargtypes provariadic prokind proisstrict provolatile prosrc prolang`

func startFunctions(w *writer) {
	w.columns(procColumns)
	w.always("pronamespace", pgCatalogOID, "proowner", ownerOID, "procost", 1.0, "proparallel", "s")
}

func addFunction(w *writer, f *function) {
	args := make([]int64, len(f.args))
	for i, a := range f.args {
		args[i] = int64(a)
	}
	variadic := types.OID(0)
	if f.variadic && len(f.args) > 0 {
		variadic = f.args[len(f.args)-1]
	}
	w.add(f.oid, f.name, len(f.args), f.result, args, variadic, f.kind, f.strict, f.volatility, f.source, internalLanguageOID)
}

func fillFunctions(w *writer) {
	startFunctions(w)
	for _, f := range scalarFunctions() {
		addFunction(w, f)
	}
}

func fillAggregates(c *Catalog, w *writer) {
	startFunctions(w)
	for _, f := range c.registered() {
		addFunction(w, f)
	}
}

func fillAggregateDetails(c *Catalog, w *writer) {
	w.columns("aggfnoid aggtranstype aggkind")
	for _, f := range c.registered() {
		if f.aggregate == nil {
			continue
		}
		kind := "n"
		if strings.Contains(f.description, "WITHIN GROUP") {
			kind = "o"
		}
		w.add(f.oid, types.Sketch, kind)
	}
}

// arguments is pg_get_function_arguments' text.
func (f *function) arguments() string {
	if f.aggregate != nil && len(f.args) == 0 {
		return "*"
	}
	parts := make([]string, len(f.args))
	for i, a := range f.args {
		parts[i] = types.Of(a).String()
		if f.set != nil && i < len(f.set.Params) {
			parts[i] = f.set.Params[i].Name + " " + parts[i]
		}
		if f.variadic && i == len(f.args)-1 {
			parts[i] = "VARIADIC " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}

// function returns a function by number.
func (c *Catalog) function(oid uint32) *function {
	if f := functionByOID()[oid]; f != nil {
		return f
	}
	for _, f := range c.registered() {
		if f.oid == oid {
			return f
		}
	}
	return nil
}
