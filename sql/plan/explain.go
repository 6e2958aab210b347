package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
)

// NodeStats is what EXPLAIN ANALYZE shows of a node.
type NodeStats struct {
	Rows, Loops int64
	Elapsed     time.Duration

	SortMethod  string // of a sort; "" of others
	Batches     int    // into how many parts hashed rows were split; 0: they were not
	MemoryBytes int64  // of a sort that stayed in memory
	DiskBytes   int64  // written to temporary files
}

// resources are the memory and disk that a node needed, as EXPLAIN ANALYZE shows them.
func (s *NodeStats) resources() []field {
	kilobytes := func(n int64) string { return fmt.Sprintf("%dkB", (n+1023)/1024) }
	switch {
	case s.SortMethod != "" && s.DiskBytes > 0:
		return []field{{"Sort Method", s.SortMethod + "  Disk: " + kilobytes(s.DiskBytes)}}
	case s.SortMethod != "":
		return []field{{"Sort Method", s.SortMethod + "  Memory: " + kilobytes(s.MemoryBytes)}}
	case s.Batches > 0:
		return []field{{"Batches", strconv.Itoa(s.Batches) + "  Disk Usage: " + kilobytes(s.DiskBytes)}}
	}
	return nil
}

// resourceValues are the same for EXPLAIN (FORMAT JSON).
func (s *NodeStats) resourceValues(out map[string]any) {
	switch {
	case s.SortMethod != "" && s.DiskBytes > 0:
		out["Sort Method"], out["Sort Space Used"], out["Sort Space Type"] = s.SortMethod, (s.DiskBytes+1023)/1024, "Disk"
	case s.SortMethod != "":
		out["Sort Method"], out["Sort Space Used"], out["Sort Space Type"] = s.SortMethod, (s.MemoryBytes+1023)/1024, "Memory"
	case s.Batches > 0:
		out["Batches"], out["Disk Usage"] = s.Batches, (s.DiskBytes+1023)/1024
	}
}

func (s *NodeStats) millis() float64 {
	return float64(s.Elapsed.Microseconds()) / 1000
}

func (s *NodeStats) text() string {
	if s.Loops == 0 {
		return " (never executed)"
	}
	return fmt.Sprintf(" (actual time=%.3f ms rows=%d loops=%d)", s.millis(), s.Rows, s.Loops)
}

// Explain returns the plan as text. stats may be nil; it returns nil for nodes
// that were not measured.
func Explain(n Node, stats func(Node) *NodeStats) string {
	var b strings.Builder
	describe(n, stats).appendText(&b, 0, true)
	return b.String()
}

// ExplainJSON returns the plan as EXPLAIN (FORMAT JSON) does.
func ExplainJSON(n Node, stats func(Node) *NodeStats) string {
	out, err := json.MarshalIndent([]any{map[string]any{"Plan": describe(n, stats).value("")}}, "", "  ")
	if err != nil {
		return "[]" // strings, numbers and maps of them always marshal
	}
	return string(out)
}

func describe(n Node, stats func(Node) *NodeStats) described {
	// A projection that only picks columns is not worth a line.
	if p, ok := n.(*Project); ok && picks(p) {
		return describe(p.Child, stats)
	}
	d := described{}
	d.title, d.fields = nodeText(n)
	if stats != nil {
		d.stats = stats(n)
	}
	for _, c := range n.Children() {
		d.children = append(d.children, describe(c, stats))
	}
	if a, ok := n.(*Apply); ok && a.Kind < ApplyLateral {
		label := "SubPlan"
		if len(a.Outer) == 0 {
			label = "InitPlan"
		}
		d.labels = []string{"", label}
	}
	return d
}

func picks(p *Project) bool {
	for _, e := range p.Values {
		switch e.(type) {
		case *expr.Column, *envelopeMerge:
		default:
			return false
		}
	}
	return true
}

func nodeText(n Node) (string, []field) {
	switch x := n.(type) {
	case *FoldScan:
		return foldText(x)
	case *StreamScan:
		f := append(optional("Filter", x.Filter), partitionField(x.Stream, x.Partition)...)
		if x.Limit > 0 {
			f = append(f, field{"Limit", fmt.Sprintf("%d rows a partition", x.Limit)})
		}
		return "Stream Scan on " + x.Stream.Name, f
	case *SideScan:
		return "Side Scan on " + x.Name(), optional("Filter", x.Filter)
	case *TableScan:
		if x.Key != nil {
			return "Index Scan using " + x.Key.Index.Name + " on " + x.Table.Name, optional("Index Cond", x.Filter)
		}
		return "Seq Scan on " + x.Table.Name, optional("Filter", x.Filter)
	case *VirtualScan:
		return "Virtual Scan on " + x.Table.Schema + "." + x.Table.Name, nil
	case *Values:
		if len(x.Rows) == 1 && len(x.Columns) == 0 {
			return "Result", nil
		}
		return "Values Scan", []field{{"Rows", strconv.Itoa(len(x.Rows))}}
	case *FunctionScan:
		calls := []string{x.Function + "(" + exprList(x.Args) + ")"}
		for i, z := range x.Zip {
			calls = append(calls[:i], z.Function+"("+exprList(z.Args)+")")
		}
		return "Function Scan on " + x.Function, []field{{"Function Call", strings.Join(calls, ", ")}}
	case *Shared:
		return "CTE Scan on " + x.Name, nil
	case *Filter:
		return "Filter", []field{{"Filter", x.Cond.String()}}
	case *Project:
		return "Project", []field{{"Output", exprList(visible(x))}}
	case *Sort:
		return "Sort", []field{{"Sort Key", sortText(x.Keys)}}
	case *Limit:
		return "Limit", append(optional("Count", x.Count), optional("Offset", x.Offset)...)
	case *DistinctOn:
		return "Unique", []field{{"Unique Key", exprList(x.Keys)}}
	}
	return compoundText(n)
}

func compoundText(n Node) (string, []field) {
	switch x := n.(type) {
	case *RecursiveUnion:
		return "Recursive Union", nil
	case *WorkTable:
		return "WorkTable Scan on " + x.Name, nil
	case *Repeat:
		return "Repeat", []field{{"Times", x.Times.String()}}
	case *Append:
		return "Append", nil
	case *Aggregate:
		title := "Aggregate"
		var f []field
		switch {
		case len(x.Sets) > 0:
			title = "MixedAggregate"
			f = append(f, field{"Grouping Sets", x.setsText()})
		case len(x.Keys) > 0:
			title = "HashAggregate"
			f = append(f, field{"Group Key", exprList(x.Keys)})
		}
		if len(x.Aggs) > 0 {
			f = append(f, field{"Aggregates", callList(x.Aggs)})
		}
		return title, f
	case *Join:
		return joinText(x)
	case *Apply:
		return applyText(x), nil
	case *Window:
		var calls, f []string
		for i := range x.Calls {
			calls = append(calls, x.Calls[i].text())
		}
		out := []field{{"Functions", strings.Join(append(f, calls...), ", ")}}
		if len(x.PartitionBy) > 0 {
			out = append(out, field{"Partition By", exprList(x.PartitionBy)})
		}
		if len(x.OrderBy) > 0 {
			out = append(out, field{"Order By", sortText(x.OrderBy)})
		}
		return "WindowAgg", out
	case *Modify:
		var f []field
		if x.OnConflict != ConflictFails {
			f = append(f, field{"Conflict Resolution", x.OnConflict.String()})
		}
		return x.Kind.String() + " on " + x.Target.Name, f
	case *Merge:
		return "Merge on " + x.Target.Name, nil
	case *With:
		return "With", nil
	case *KeyLookup:
		return "Key Lookup on " + x.Table.Name, nil
	}
	return fmt.Sprintf("%T", n), nil
}

func joinText(j *Join) (string, []field) {
	if len(j.LeftKeys) == 0 {
		return "Nested Loop" + j.Kind.String() + map[bool]string{true: " Join"}[j.Kind != InnerJoin], optional("Join Filter", j.On)
	}
	var conds []string
	for i := range j.LeftKeys {
		conds = append(conds, fmt.Sprintf("(%s = %s)", j.LeftKeys[i], j.RightKeys[i]))
	}
	f := []field{{"Hash Cond", strings.Join(conds, " AND ")}}
	return "Hash" + j.Kind.String() + " Join", append(f, optional("Join Filter", j.On)...)
}

func applyText(a *Apply) string {
	switch a.Kind {
	case ApplyLateral:
		return "Nested Loop (lateral)"
	case ApplyLateralLeft:
		return "Nested Loop Left Join (lateral)"
	case ApplyExists:
		return "Apply (exists)"
	case ApplyIn:
		return "Apply (in)"
	case ApplyArray:
		return "Apply (array)"
	default:
		return "Apply (scalar)"
	}
}

func foldText(s *FoldScan) (string, []field) {
	var f []field
	fold := s.Fold
	name := fold.Stream.Name
	if s.View != nil {
		name = s.View.Name
	}
	f = append(f, optional("Filter", s.readableFilter())...)
	f = append(f, optional("Event Filter", fold.Filter)...)
	f = append(f, partitionField(fold.Stream, s.Partition)...)
	if fold.Window.Kind != NoWindow {
		w := fmt.Sprintf("tumbling %s", time.Duration(fold.Window.Size)*time.Microsecond)
		if fold.Window.Offset != 0 {
			w += fmt.Sprintf(" offset %s", time.Duration(fold.Window.Offset)*time.Microsecond)
		}
		f = append(f, field{"Window", w})
	}
	if len(fold.Keys) > 0 {
		f = append(f, field{"Group Key", exprList(fold.Keys)})
	}
	used := map[int]bool{}
	var finals []string
	for i, a := range fold.Aggs {
		if s.Needed[i] {
			used[a.State] = true
			finals = append(finals, a.Final.String())
		}
	}
	var partials []string
	for i, st := range fold.States {
		if used[i] {
			partials = append(partials, st.Spec.Identity()+" of "+inputsText(st))
		}
	}
	if len(partials) > 0 {
		f = append(f, field{"Partial", strings.Join(partials, "; ")}, field{"Final", strings.Join(finals, ", ")})
	}
	if s.Accuracy != nil {
		f = append(f, field{"Accuracy", fmt.Sprintf("an error of %v, else %s", s.Accuracy.MaxError, s.Accuracy.OnExceeded)})
	}
	return "Fold Scan on " + name, f
}

// readableFilter shows keys as the expressions that they are.
func (s *FoldScan) readableFilter() expr.Expr {
	l := s.Layout()
	return mapColumns(s.KeyFilter, func(c *expr.Column) expr.Expr {
		if k := c.Index - l.Keys; k >= 0 && k < len(s.Fold.Keys) {
			return s.Fold.Keys[k]
		}
		return c
	})
}

func partitionField(stream *catalog.Relation, values []expr.Expr) []field {
	if len(values) == 0 {
		return []field{{"Partitions", fmt.Sprintf("all %d", len(stream.Stream.Partitions()))}}
	}
	var parts []string
	for i, v := range values {
		parts = append(parts, stream.Columns[stream.Stream.Options.PartitionKey[i]].Name+" = "+v.String())
	}
	return []field{{"Partitions", "one, of " + strings.Join(parts, " AND ")}}
}

func optional(name string, e expr.Expr) []field {
	if e == nil {
		return nil
	}
	return []field{{name, e.String()}}
}

func exprList(list []expr.Expr) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, ", ")
}

// visible are the values of a projection that a reader of EXPLAIN cares for.
func visible(p *Project) []expr.Expr {
	var out []expr.Expr
	for _, e := range p.Values {
		if _, ok := e.(*envelopeMerge); !ok {
			out = append(out, e)
		}
	}
	return out
}

func callList(calls []AggCall) string {
	var parts []string
	for i := range calls {
		parts = append(parts, calls[i].String())
	}
	return strings.Join(parts, ", ")
}

func sortText(keys []SortKey) string {
	var parts []string
	for _, k := range keys {
		t := k.Value.String()
		if k.Descending {
			t += " DESC"
		}
		if k.NullsFirst != k.Descending {
			t += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ", ")
}
