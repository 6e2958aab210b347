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

// Leaves are what a plan reads of streams.
type Leaves struct {
	Streams []*catalog.Relation // each once
	Count   int                 // scans
	// Together are the scans of views that have to be of one moment, by stream: where
	// it is read more than once. Scans that run for each row of another input are
	// not among them.
	Together map[id.Relation][]*plan.FoldScan
}

// LeavesOf returns the leaves of a plan.
func LeavesOf(root plan.Node) Leaves {
	var l Leaves
	var scans map[id.Relation]int
	var seen map[*plan.Shared]bool // what several read, such as a WITH query, runs once
	add := func(r *catalog.Relation) {
		if l.Count == 0 {
			l.Together, scans = map[id.Relation][]*plan.FoldScan{}, map[id.Relation]int{}
		}
		l.Count++
		if scans[r.ID]++; scans[r.ID] == 1 {
			l.Streams = append(l.Streams, r)
		}
	}
	var walk func(n plan.Node, repeated bool)
	walk = func(n plan.Node, repeated bool) {
		switch x := n.(type) {
		case *plan.Shared:
			if seen[x] {
				return
			}
			if seen == nil {
				seen = map[*plan.Shared]bool{}
			}
			seen[x] = true
		case *plan.FoldScan:
			add(x.Fold.Stream)
			if x.View != nil && !repeated {
				l.Together[x.Fold.Stream.ID] = append(l.Together[x.Fold.Stream.ID], x)
			}
		case *plan.StreamScan:
			add(x.Stream)
		case *plan.SideScan:
			add(x.Stream)
		case *plan.Apply:
			walk(x.Child, repeated)
			walk(x.Subplan, repeated || len(x.Outer) > 0)
			return
		}
		for _, c := range n.Children() {
			walk(c, repeated)
		}
	}
	walk(root, false)
	for stream, n := range scans {
		if n == 1 {
			delete(l.Together, stream)
		}
	}
	return l
}
