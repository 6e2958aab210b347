package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

const (
	// maxGroupingSets limits what GROUP BY may expand to, as in PostgreSQL.
	maxGroupingSets = 4096
	// maxCube limits the elements of a CUBE, as in PostgreSQL.
	maxCube = 12
	// maxGroupingArgs is how many arguments GROUPING may have: its value is an int4.
	maxGroupingArgs = 31
)

// keySet is a grouping set: numbers of keys, ascending.
type keySet []int

func (s keySet) with(keys ...int) keySet {
	out := append(slices.Clone(s), keys...)
	slices.Sort(out)
	return slices.Compact(out)
}

// hasGroupingSets reports whether GROUP BY has more than plain keys.
func hasGroupingSets(items []ast.Expr) bool {
	return slices.ContainsFunc(items, func(e ast.Expr) bool {
		_, ok := e.(*ast.GroupingSet)
		return ok
	})
}

// bindGroupingSets expands GROUP BY into grouping sets: the sets of its items,
// each with each.
func (q *selecting) bindGroupingSets() error {
	sets := []keySet{{}}
	for _, item := range q.core.GroupBy {
		of, err := q.setsOf(item)
		if err != nil {
			return err
		}
		if len(sets)*len(of) > maxGroupingSets {
			return tooManySets()
		}
		var crossed []keySet
		for _, a := range sets {
			for _, b := range of {
				crossed = append(crossed, a.with(b...))
			}
		}
		sets = crossed
	}
	if q.core.GroupDistinct {
		var distinct []keySet
		for _, s := range sets {
			if !slices.ContainsFunc(distinct, func(d keySet) bool { return slices.Equal(s, d) }) {
				distinct = append(distinct, s)
			}
		}
		sets = distinct
	}
	q.group.sets = sets
	return nil
}

func tooManySets() error {
	return sqlerr.New(sqlerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxGroupingSets)
}

// setsOf returns the sets of one item of GROUP BY.
func (q *selecting) setsOf(item ast.Expr) ([]keySet, error) {
	g, ok := item.(*ast.GroupingSet)
	if !ok {
		keys, err := q.itemKeys(item)
		return []keySet{keySet{}.with(keys...)}, err
	}
	switch g.Kind {
	case ast.EmptyGroupingSet:
		return []keySet{{}}, nil
	case ast.GroupingSets:
		var out []keySet
		for _, inner := range g.Items {
			sets, err := q.setsOf(inner)
			if err != nil {
				return nil, err
			}
			if out = append(out, sets...); len(out) > maxGroupingSets {
				return nil, tooManySets()
			}
		}
		return out, nil
	}
	elements := make([][]int, len(g.Items))
	for i, inner := range g.Items {
		var err error
		if elements[i], err = q.itemKeys(inner); err != nil {
			return nil, err
		}
	}
	if g.Kind == ast.Rollup {
		return rollup(elements)
	}
	return cube(elements, g.Position())
}

// rollup returns the prefixes of a list of elements, the longest first.
func rollup(elements [][]int) ([]keySet, error) {
	if len(elements) >= maxGroupingSets {
		return nil, tooManySets()
	}
	out := make([]keySet, len(elements)+1)
	for i := range out {
		for _, e := range elements[:len(elements)-i] {
			out[i] = out[i].with(e...)
		}
	}
	return out, nil
}

// cube returns all subsets of a list of elements, larger numbers of sets first.
func cube(elements [][]int, pos int) ([]keySet, error) {
	if len(elements) > maxCube {
		return nil, sqlerr.New(sqlerr.TooManyColumns, "CUBE is limited to %d elements", maxCube).At(pos)
	}
	var out []keySet
	for mask := 1<<len(elements) - 1; mask >= 0; mask-- {
		set := keySet{}
		for i, e := range elements {
			if mask>>(len(elements)-1-i)&1 == 1 {
				set = set.with(e...)
			}
		}
		out = append(out, set)
	}
	return out, nil
}

// itemKeys adds the keys of a plain item, which (a, b) is too, and returns their
// numbers.
func (q *selecting) itemKeys(item ast.Expr) ([]int, error) {
	items := []ast.Expr{item}
	switch x := item.(type) {
	case *ast.Row:
		if !x.Explicit {
			items = x.Elems
		}
	case *ast.GroupingSet:
		if x.Kind == ast.EmptyGroupingSet {
			return nil, nil
		}
		return nil, q.notElement(x)
	}
	var keys []int
	for _, e := range items {
		k, err := q.groupKey(e)
		if err != nil {
			return nil, err
		}
		keys = append(append(keys, q.addKey(k)), q.pairWindow(k)...)
	}
	return keys, nil
}

// everywhere reports whether key k is in every set.
func (g *grouping) everywhere(k int) bool {
	for _, s := range g.sets {
		if !slices.Contains(s, k) {
			return false
		}
	}
	return true
}

// addEverywhere puts a key into every set.
func (g *grouping) addEverywhere(k int) {
	for i := range g.sets {
		g.sets[i] = g.sets[i].with(k)
	}
}

// groupingCall binds GROUPING(a, b): which of its arguments, keys of the grouping,
// are not in the set that a row stands for, as bits, the last argument the lowest.
func (b *binder) groupingCall(c *clause, f *ast.FuncCall) (expr.Expr, error) {
	if c.group == nil {
		return nil, sqlerr.New(sqlerr.GroupingError, "grouping operations are not allowed in %s", c.name)
	}
	if len(f.Args) == 0 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "GROUPING needs an argument").At(f.Position())
	}
	if len(f.Args) > maxGroupingArgs {
		return nil, sqlerr.New(sqlerr.Code("54023"), "GROUPING must have fewer than %d arguments", maxGroupingArgs+1)
	}
	args, err := b.exprs(&clause{s: c.s, name: "GROUPING", inAgg: true}, f.Args)
	if err != nil {
		return nil, err
	}
	c.group.asked = f.Args[0].Position()
	p := &placeholder{kind: groupingPlaceholder, typ: types.Of(types.Int4), args: args}
	p.text = p.call() // what tells it from other calls
	for _, a := range f.Args {
		p.places = append(p.places, a.Position())
	}
	return p, nil
}

// notKey is the error about an argument of GROUPING.
func notKey(pos int) error {
	return sqlerr.New(sqlerr.GroupingError, "arguments to GROUPING must be grouping expressions of the associated query level").At(pos)
}

// groupingValue returns what a call of GROUPING is over the groups; set returns
// the number of a group's set, where there are several.
func (g *grouping) groupingValue(p *placeholder, set func() expr.Expr) (expr.Expr, error) {
	keys := make([]int, len(p.args))
	for i, a := range p.args {
		keys[i] = slices.IndexFunc(g.keys, func(k expr.Expr) bool { return expr.Equal(k, a) && k.Type() == a.Type() })
		if keys[i] < 0 {
			return nil, notKey(p.places[i])
		}
	}
	if g.sets == nil {
		return expr.NewConst(types.IntDatum(types.Int4, 0)), nil
	}
	masks := make([]types.Datum, len(g.sets))
	for s := range g.sets {
		mask := int64(0)
		for _, k := range keys {
			mask <<= 1
			if !slices.Contains(g.sets[s], k) {
				mask |= 1
			}
		}
		masks[s] = types.IntDatum(types.Int4, mask)
	}
	return expr.NewSubscript(expr.NewConst(types.NewArray(types.Of(types.Int4), masks).Datum()), []expr.Expr{set()})
}

// planSets makes the sets of the plan: each key or a NULL, and last the number of
// the set, from 1.
func (g *grouping) planSets(keys []expr.Expr) []plan.GroupingSet {
	out := make([]plan.GroupingSet, len(g.sets))
	for i, set := range g.sets {
		s := plan.GroupingSet{Keys: make([]expr.Expr, len(keys)+1), Total: len(set) == 0}
		for k, e := range keys {
			if s.Keys[k] = e; !slices.Contains(set, k) {
				s.Keys[k] = expr.NewConst(types.NullOf(e.Type()))
			}
		}
		s.Keys[len(keys)] = setNumber(i)
		out[i] = s
	}
	return out
}

// computeVolatile computes what the aggregates read and is volatile below the grouping,
// so that a row has one value in all sets that it counts in.
func (g *grouping) computeVolatile(s *scope) {
	values, cols := passAll(s.node)
	for i := range g.calls {
		c := &g.calls[i]
		places := append(pointers(c.Args), &c.Filter)
		for k := range c.OrderBy {
			places = append(places, &c.OrderBy[k].Value)
		}
		for _, e := range places {
			if *e == nil || (*e).Volatility() != expr.Volatile {
				continue
			}
			column := types.Column{Name: "volatile", Type: (*e).Type(), Hidden: true}
			values, cols = append(values, *e), append(cols, column)
			*e = &expr.Column{Index: len(values) - 1, Typ: column.Type, Name: column.Name}
		}
	}
	if len(values) > len(s.nodeSchema().Columns) {
		s.node = &plan.Project{Child: s.node, Values: values, Cols: cols}
	}
}

func setNumber(i int) expr.Expr { return expr.NewConst(types.IntDatum(types.Int4, int64(i+1))) }

// setColumn is the key that tells groups of different sets apart.
var setColumn = types.Column{Name: "grouping set", Type: types.Of(types.Int4), Hidden: true}

// notElement is the error about grouping sets as elements of ROLLUP or CUBE, where
// PostgreSQL takes ROLLUP and CUBE for functions.
func (q *selecting) notElement(x *ast.GroupingSet) error {
	if x.Kind == ast.GroupingSets {
		return sqlerr.New(sqlerr.SyntaxError, "grouping sets cannot be elements of ROLLUP or CUBE").
			WithHint("Nest them in GROUPING SETS.").At(x.Position())
	}
	args, err := q.b.exprs(&clause{s: q.s, name: "GROUP BY"}, x.Items)
	if err != nil {
		return err
	}
	name := map[ast.GroupingKind]string{ast.Rollup: "rollup", ast.Cube: "cube"}[x.Kind]
	return undefinedSet(name, args)
}
