package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// partitionValues returns the values that equalities among conds, which are over
// the stream's columns, give to every column of its partition key; nil unless
// all have one.
func partitionValues(stream *catalog.Relation, conds []expr.Expr) []expr.Expr {
	key := stream.Stream.Options.PartitionKey
	if len(key) == 0 {
		return nil
	}
	out := make([]expr.Expr, len(key))
	for i, column := range key {
		for _, e := range conds {
			if v := pinned(e, func(x expr.Expr) bool { c, ok := ColumnIndex(x); return ok && c == column }, sameType); v != nil {
				out[i] = v
				break
			}
		}
		if out[i] == nil {
			return nil
		}
	}
	return out
}

func sameType(a, b types.Type) bool { return a == b }

// pinned returns v where e says x = v for the x that is meant, v reads no column, and their
// types are alike.
func pinned(e expr.Expr, is func(expr.Expr) bool, alike func(x, v types.Type) bool) expr.Expr {
	a, b, ok := Equality(e)
	if !ok {
		return nil
	}
	if is(b) {
		a, b = b, a
	}
	if !is(a) || len(Columns(b)) > 0 || !pure(b) || !alike(a.Type(), b.Type()) {
		return nil
	}
	return b
}

// foldPartition finds the partition of a fold scan: pinned by the fold's own
// filter, or by the filter over keys that are columns of the stream.
func foldPartition(s *FoldScan) []expr.Expr {
	f := s.Fold
	conds := Conjuncts(f.Filter)
	first := s.Layout().Keys
	for _, e := range Conjuncts(s.KeyFilter) {
		ok := true
		moved := mapColumns(e, func(c *expr.Column) expr.Expr {
			if c.Index < first || c.Index >= first+len(f.Keys) {
				ok = false
				return c
			}
			return f.Keys[c.Index-first]
		})
		if ok {
			conds = append(conds, moved)
		}
	}
	return partitionValues(f.Stream, conds)
}
