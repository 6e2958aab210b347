package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// rowWeight says that rows are events of a stream with deletes, so that each counts as
// often as a column says; aggregates over the rows take that into account, or are
// refused.
type rowWeight struct {
	stream *catalog.Relation
	index  int    // of the node
	lost   string // what made other rows of the events, so that no weight is theirs
}

// weightOf returns the weight of the events of a stream, whose columns are those of the
// node; nil where each counts once.
func weightOf(stream *catalog.Relation) *rowWeight {
	if c := stream.Stream.WeightColumn(); c >= 0 {
		return &rowWeight{stream: stream, index: c}
	}
	return nil
}

// without returns the weight of rows that something was made of; nil stays nil.
func (w *rowWeight) without(what string) *rowWeight {
	if w == nil || w.lost != "" {
		return w
	}
	return &rowWeight{stream: w.stream, lost: what}
}

// at returns the weight at another place.
func (w *rowWeight) at(index int) *rowWeight {
	if w == nil || w.lost != "" {
		return w
	}
	return &rowWeight{stream: w.stream, index: index}
}

// pairWeights is the weight of the rows of a join: that of the side that has one, as
// long as there is a row of that side in each.
func pairWeights(left, right *rowWeight, to []int, width int) *rowWeight {
	switch {
	case left != nil && right != nil:
		return left.without("a join of two streams with deletes")
	case left != nil:
		return left.at(to[left.index])
	case right != nil:
		return right.at(to[right.index+width])
	}
	return nil
}

// optional says of a join that rows of a side may be missing.
func (s *scope) optional(left, right *scope, kind plan.JoinKind) {
	if kind == plan.InnerJoin {
		return
	}
	if left.weight != nil && (kind == plan.RightJoin || kind == plan.FullJoin) || right.weight != nil && (kind == plan.LeftJoin || kind == plan.FullJoin) {
		s.weight = s.weight.without("the optional side of an outer join")
	}
	for i := range s.tables {
		if i < len(left.tables) && kind != plan.LeftJoin || i >= len(left.tables) && kind != plan.RightJoin {
			s.tables[i].optional = true
		}
	}
}

// pass returns the place of the weight among the values of a projection.
func (q *selecting) passWeight(add func(expr.Expr, types.Column) int) *rowWeight {
	w := q.s.weight
	switch {
	case w == nil || q.group.used():
		return nil
	case q.core.Distinct:
		return w.without("DISTINCT")
	case w.lost != "":
		return w
	}
	return w.at(add(plan.NewColumn(q.node.Schema(), w.index), types.Column{Name: "weight", Hidden: true}))
}

// bindCall finds the form of an aggregate's call over the rows of a scope, and casts
// its inputs.
func (b *binder) bindCall(s *scope, f *ast.FuncCall, fn *agg.Function, args []expr.Expr) (agg.Bound, []expr.Expr, error) {
	w := s.weight
	if w == nil {
		return b.bindAggregate(fn, args)
	}
	bound, inputs, err := b.bindWeighted(s, f, fn, args)
	if err != nil {
		return bound, inputs, sqlerr.From(err).At(f.Position())
	}
	return bound, inputs, nil
}

func (b *binder) bindWeighted(s *scope, f *ast.FuncCall, fn *agg.Function, args []expr.Expr) (agg.Bound, []expr.Expr, error) {
	w := s.weight
	if w.lost != "" {
		return agg.Bound{}, nil, sqlerr.New(sqlerr.FeatureNotSupported, "aggregates over %s are not supported where events of stream %q have weights", w.lost, w.stream.Name).
			WithHint("Aggregate the stream in a subquery first: GROUP BY takes the deletes into account.")
	}
	present := f.Distinct && (fn.Name == "count" || fn.Name == "exact_count_distinct")
	if kind := w.stream.Stream.Options.StreamKind; !fn.Takes(agg.StreamModel(kind)) || f.Distinct && !present {
		return agg.Bound{}, nil, b.cannotSubtract(w.stream, f, fn)
	}
	weight := s.at(w.index)
	for i, a := range args {
		at, plain := plan.ColumnIndex(a)
		own := plain && at == w.index
		if i+1 == fn.Weight && own {
			continue
		}
		if slices.ContainsFunc(columnsOf(a), func(c int) bool { return c == w.index }) {
			return agg.Bound{}, nil, sqlerr.New(sqlerr.FeatureNotSupported, "aggregate %s would count weight %q of stream %q twice", fn.Name, w.stream.Columns[w.stream.Stream.WeightColumn()].Name, w.stream.Name).
				WithHint("Aggregates of this stream weigh their rows already: count(*) is the sum of the weights.")
		}
	}
	w8, err := expr.Cast(weight, types.Of(types.Int8), expr.Implicit)
	if err != nil {
		return agg.Bound{}, nil, err
	}
	strict := w.stream.Stream.Options.StreamKind == catalog.StrictTurnstileStream
	switch {
	case fn.Weight > len(args):
		return b.bindAggregate(fn, append(slices.Clone(args), w8))
	case fn.Weight > 0:
		args = slices.Clone(args)
		if i, ok := plan.ColumnIndex(args[fn.Weight-1]); !ok || i != w.index {
			if args[fn.Weight-1], err = expr.NewOperator("*", args[fn.Weight-1], w8); err != nil {
				return agg.Bound{}, nil, err
			}
		}
		return b.bindAggregate(fn, args)
	case present:
		return b.bindForm(func(t []types.Type, c []*types.Datum) (agg.Bound, error) { return agg.BindPresent(t, c, strict) }, append(slices.Clone(args), w8))
	}
	return b.bindForm(func(t []types.Type, c []*types.Datum) (agg.Bound, error) { return fn.Weighted(t, c, strict) }, append(slices.Clone(args), w8))
}

// countedRows refuses what asks which rows a query has, where they are events that others
// may take back; instead is what tells.
func countedRows(r *result, what, instead string, pos int) error {
	if r.weight == nil {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s over events of stream %q is not supported, because they have weights", what, r.weight.stream.Name).
		WithDetail("The events that bring a row and those that take it away are all among them.").WithHint("%s", instead).At(pos)
}

const groupedRows = "Group the events, which takes the deletes into account: SELECT x FROM stream GROUP BY x HAVING count(*) > 0. A continuous view keeps the counts."

func columnsOf(e expr.Expr) []int {
	var out []int
	for c := range plan.Columns(e) {
		out = append(out, c)
	}
	return out
}

// cannotSubtract refuses an aggregate whose states keep what a stream deletes, and says
// which do not.
func (b *binder) cannotSubtract(stream *catalog.Relation, f *ast.FuncCall, fn *agg.Function) error {
	kind := stream.Stream.Options.StreamKind
	name := f.Name.Name
	if f.Distinct {
		name += "(DISTINCT)"
	}
	var others []string
	for _, n := range b.env.Registry.Names() {
		if o := b.env.Registry.Lookup(n); o.Name == n && o.Takes(agg.StreamModel(kind)) {
			others = append(others, n)
		}
	}
	hint := fmt.Sprintf("Those that can: %s.", strings.Join(others, ", "))
	if fn.Subtracting != "" && !f.Distinct {
		hint = fmt.Sprintf("Use %s. ", fn.Subtracting) + hint
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "aggregate %s cannot take back what stream %q deletes", name, stream.Name).
		WithDetail("The stream is of kind %s; the aggregate's model is %s.", kind, fn.StreamModel).WithHint("%s", hint)
}
