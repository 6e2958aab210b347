package bind

import (
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// result is a bound query: a plan, and its visible columns.
type result struct {
	node   plan.Node
	cols   []output
	weight *rowWeight // of the rows
}

// output is one column of a query.
type output struct {
	name    string
	typ     types.Type
	index   int // of the node
	notNull bool
	role    types.Role
	status  bool // the unmodified _status of the result
	literal bool // an untyped literal that became text for want of better
	approx  *approx
	record  []recordPlace
	origin  plan.Origin
}

// visible returns a plan whose first columns are the visible ones, followed by
// the envelope if there is one.
func (r *result) visible() plan.Node {
	plain := true
	for i, c := range r.cols {
		plain = plain && c.index == i
	}
	if plain {
		return r.node
	}
	values, cols := r.values()
	return plan.NewProject(r.node, values, cols)
}

func (r *result) values() ([]expr.Expr, []types.Column) {
	s := r.node.Schema()
	values := make([]expr.Expr, len(r.cols))
	cols := make([]types.Column, len(r.cols))
	for i, c := range r.cols {
		values[i] = plan.NewColumn(s, c.index)
		cols[i] = types.Column{Name: c.name, Type: c.typ, NotNull: c.notNull}
	}
	return values, cols
}

// moved returns the result after its node became part of a join, whose columns to
// tells, shift being those of the other side before it.
func (r *result) moved(node plan.Node, to []int, shift int) *result {
	out := &result{node: node}
	if r.weight != nil {
		out.weight = r.weight.at(to[r.weight.index+shift])
	}
	for _, c := range r.cols {
		c.index = to[c.index+shift]
		c.approx, c.record = c.approx.moved(to, shift), movedRecord(c.record, to, shift)
		out.cols = append(out.cols, c)
	}
	return out
}

// moved returns where bounds and state are after a join.
func (a *approx) moved(to []int, shift int) *approx {
	if a == nil {
		return nil
	}
	m := *a
	for _, p := range []*int{&m.lo, &m.hi, &m.state} {
		if *p >= 0 {
			*p = to[*p+shift]
		}
	}
	return &m
}

func movedRecord(record []recordPlace, to []int, shift int) []recordPlace {
	record = slices.Clone(record)
	for i := range record {
		record[i].index = to[record[i].index+shift]
	}
	return record
}

// sample stands for column i where a type is resolved.
func (r *result) sample(i int) expr.Expr {
	if r.cols[i].literal {
		return expr.NewLiteral("")
	}
	return plan.NewColumn(r.node.Schema(), r.cols[i].index)
}

// coerce casts the columns to types. mismatch makes the error where a cast does
// not exist in ctx; nil leaves the error of the cast.
func (b *binder) coerce(r *result, to []types.Type, ctx expr.CastContext, mismatch func(i int) error) (*result, error) {
	same := true
	for i := range r.cols {
		same = same && r.cols[i].typ == to[i]
	}
	if same {
		return r, nil
	}
	values, cols := r.values()
	out := &result{weight: r.weight.without("a set operation")}
	for i := range values {
		v, err := expr.Cast(values[i], to[i], ctx)
		if err != nil {
			if mismatch != nil && sqlerr.CodeOf(err) != sqlerr.InvalidTextRepresentation {
				return nil, mismatch(i)
			}
			return nil, err
		}
		values[i] = v
		cols[i].Type = to[i]
		c := r.cols[i]
		c.index, c.typ = i, to[i]
		c.status = c.status && r.cols[i].typ == to[i]
		c.approx, c.record = noBounds(c.approx), nil
		out.cols = append(out.cols, c)
	}
	out.node = plan.NewProject(r.node, values, cols)
	return out, nil
}
