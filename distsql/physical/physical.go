// Package physical places a query's leaves: which partitions a scan has to hear
// from, and what each of them is asked for. Pure.
package physical

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/routing"
)

// Partitions returns the partitions that a scan expects to hear from: all of the
// open epoch, or the one that the values of the partition key route to. Only
// equality on the partition key narrows the expected set.
func Partitions(stream *catalog.Relation, key []expr.Expr, ec *expr.Context) ([]id.Partition, error) {
	all := stream.Stream.Partitions()
	if len(key) == 0 {
		return all, nil
	}
	one := &types.Batch{Rows: 1}
	values := make([]types.Datum, len(key))
	for i, k := range key {
		v, err := k.Eval(ec, one)
		if err != nil {
			return nil, err
		}
		if values[i] = v.Datum(0); values[i].Null {
			return all, nil // key = NULL holds for no row; any answer is empty
		}
	}
	r := routing.New(stream.Stream)
	return []id.Partition{r.Partition(r.HashKey(values))}, nil
}

// NeededStates returns which states of a fold the needed aggregates read.
func NeededStates(f *plan.Fold, needed []bool) []bool {
	out := make([]bool, len(f.States))
	for i, a := range f.Aggs {
		if needed == nil || needed[i] {
			out[a.State] = true
		}
	}
	return out
}

// Streams returns the streams that the leaves of a plan read, each once, and how
// many leaves there are.
func Streams(root plan.Node) (streams []*catalog.Relation, leaves int) {
	var out []*catalog.Relation
	seen := map[id.Relation]bool{}
	add := func(r *catalog.Relation) {
		leaves++
		if !seen[r.ID] {
			seen[r.ID] = true
			out = append(out, r)
		}
	}
	var walk func(plan.Node)
	walk = func(n plan.Node) {
		switch x := n.(type) {
		case *plan.FoldScan:
			add(x.Fold.Stream)
		case *plan.StreamScan:
			add(x.Stream)
		case *plan.SideScan:
			add(x.Stream)
		}
		for _, c := range n.Children() {
			walk(c)
		}
	}
	walk(root)
	return out, leaves
}
