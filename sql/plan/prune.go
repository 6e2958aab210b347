package plan

import (
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Prune removes columns that nothing reads, and with them aggregates and
// envelope columns. The first keep columns of n are those the statement yields.
func Prune(n Node, keep int) Node {
	need := make([]bool, len(n.Schema().Columns))
	for i := range min(keep, len(need)) {
		need[i] = true
	}
	return exactly(n, need)
}

// exactly prunes n to the needed columns in their order, and nothing else.
func exactly(n Node, need []bool) Node {
	pruned, to := prune(n, need)
	s := pruned.Schema()
	p := &Project{Child: pruned}
	same := true
	for i := range need {
		if need[i] {
			same = same && to[i] == len(p.Values)
			p.Values = append(p.Values, NewColumn(s, to[i]))
			p.Cols = append(p.Cols, s.Columns[to[i]])
		}
	}
	if same && len(p.Values) == len(s.Columns) {
		return pruned
	}
	if inner, ok := pruned.(*Project); ok {
		for i := range p.Values {
			p.Values[i] = Substitute(p.Values[i], inner.Values)
		}
		p.Child = inner.Child
	}
	return p
}

// need is a set of columns that grows.
type need []bool

func (n need) add(exprs ...expr.Expr) need {
	for c := range Columns(exprs...) {
		n[c] = true
	}
	return n
}

func copyNeed(n []bool) need { return append(need(nil), n...) }

// prune returns a node that yields at least the needed columns, and where each
// column of n is in it (-1: gone).
func prune(n Node, wanted []bool) (Node, []int) {
	switch x := n.(type) {
	case *FoldScan:
		return pruneFold(x, wanted)
	case *StreamScan:
		c := *x
		var to []int
		c.Columns, to = keep(x.Columns, wanted)
		return &c, to
	case *SideScan:
		c := *x
		var to []int
		c.Columns, to = keep(x.Columns, wanted)
		return &c, to
	case *TableScan:
		c := *x
		var to []int
		c.Columns, to = keep(x.Columns, wanted)
		return &c, to
	case *Filter, *Sort, *DistinctOn, *Limit, *Repeat:
		child, to := prune(n.Children()[0], copyNeed(wanted).add(n.Exprs()...))
		return remapped(n.WithChildren([]Node{child}), to), to
	case *Project:
		return pruneProject(x, wanted)
	case *Append:
		inputs := make([]Node, len(x.Inputs))
		for i, in := range x.Inputs {
			inputs[i] = exactly(in, wanted)
		}
		_, to := keep(all(len(wanted)), wanted)
		return x.WithChildren(inputs), to
	case *Aggregate:
		return pruneAggregate(x, wanted)
	case *Join:
		return pruneJoin(x, wanted)
	case *Apply:
		return pruneApply(x, wanted)
	case *Window:
		return pruneWindow(x, wanted)
	}
	return pruneOther(n)
}

// pruneOther keeps all columns of a node and of its inputs.
func pruneOther(n Node) (Node, []int) {
	children := n.Children()
	if len(children) > 0 {
		out := make([]Node, len(children))
		for i, c := range children {
			out[i] = Prune(c, len(c.Schema().Columns))
		}
		n = n.WithChildren(out)
	}
	return n, all(len(n.Schema().Columns))
}

// keep returns the wanted entries of list, and where each went.
func keep(list []int, wanted []bool) (kept, to []int) {
	to = make([]int, len(list))
	for i, c := range list {
		to[i] = -1
		if wanted[i] {
			to[i] = len(kept)
			kept = append(kept, c)
		}
	}
	return kept, to
}

func remapAll(exprs []expr.Expr, to []int) []expr.Expr {
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = Remap(e, func(c int) int { return to[c] })
	}
	return out
}

func remapped(n Node, to []int) Node { return n.WithExprs(remapAll(n.Exprs(), to)) }

func pruneFold(s *FoldScan, wanted []bool) (Node, []int) {
	c := *s
	var to []int
	c.Columns, to = keep(s.Columns, wanted)
	l := s.Layout()
	read := map[int]bool{}
	for _, col := range c.Columns {
		read[col] = true
	}
	c.Needed = make([]bool, len(s.Fold.Aggs))
	for i := range c.Needed {
		c.Needed[i] = read[l.Aggs+i] || l.Lo[i] >= 0 && (read[l.Lo[i]] || read[l.Hi[i]] || read[l.State[i]])
	}
	return &c, to
}

func pruneProject(p *Project, wanted []bool) (Node, []int) {
	out := &Project{}
	to := make([]int, len(p.Values))
	for i := range p.Values {
		to[i] = -1
		if wanted[i] {
			to[i] = len(out.Values)
			out.Values = append(out.Values, p.Values[i])
			out.Cols = append(out.Cols, p.Cols[i])
		}
	}
	child, moved := prune(p.Child, make(need, len(p.Child.Schema().Columns)).add(out.Values...))
	out.Child, out.Values = child, remapAll(out.Values, moved)
	if inner, ok := child.(*Project); ok && mergeable(out, inner) {
		for i := range out.Values {
			out.Values[i] = Substitute(out.Values[i], inner.Values)
		}
		out.Child = inner.Child
	}
	return out, to
}

// mergeable reports whether the outer projection may compute over the inner's
// input: nothing costly is computed twice, nothing volatile moves.
func mergeable(outer, inner *Project) bool {
	uses := map[int]int{}
	for _, e := range outer.Values {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Column); ok {
				uses[c.Index]++
			}
			return true
		})
	}
	for i, e := range inner.Values {
		_, plain := ColumnIndex(e)
		if !pure(e) || !plain && uses[i] > 1 {
			return false
		}
	}
	return true
}

func pruneAggregate(a *Aggregate, wanted []bool) (Node, []int) {
	n := *a
	n.Aggs, n.Envelope = nil, nil
	to := make([]int, len(wanted))
	for i := range to {
		to[i] = -1
	}
	for i := range a.Keys {
		to[i] = i
	}
	var kept []int
	for i := range a.Aggs {
		col := len(a.Keys) + i
		used := wanted[col]
		for _, c := range a.Bounds(i) {
			used = used || c >= 0 && wanted[c]
		}
		if used {
			to[col] = len(a.Keys) + len(kept)
			kept = append(kept, i)
			call := a.Aggs[i]
			if state := a.Bounds(i)[2]; state >= 0 {
				call.StateUnread = !wanted[state]
			}
			n.Aggs = append(n.Aggs, call)
		}
	}
	for j, i := range kept {
		for k, c := range a.Bounds(i) {
			if c >= 0 {
				to[c] = n.Bounds(j)[k]
			}
		}
	}
	at, next := len(wanted)-len(a.Envelope), len(n.Schema().Columns)
	for i := range a.Envelope {
		if wanted[at+i] {
			to[at+i] = next
			next++
			n.Envelope = append(n.Envelope, a.Envelope[i])
		}
	}
	child, moved := prune(a.Child, make(need, len(a.Child.Schema().Columns)).add(n.Exprs()...))
	n.Child = child
	return remapped(&n, moved), to
}

func pruneJoin(j *Join, wanted []bool) (Node, []int) {
	nl, nr := len(j.Left.Schema().Columns), len(j.Right.Schema().Columns)
	both := make(need, nl+nr)
	copy(both, wanted)
	both.add(j.On)
	left, lto := prune(j.Left, both[:nl].add(j.LeftKeys...))
	right, rto := prune(j.Right, both[nl:].add(j.RightKeys...))
	width := len(left.Schema().Columns)
	to := append([]int(nil), lto...)
	for _, c := range rto {
		if c >= 0 {
			c += width
		}
		to = append(to, c)
	}
	n := *j
	n.Left, n.Right = left, right
	n.LeftKeys, n.RightKeys = remapAll(j.LeftKeys, lto), remapAll(j.RightKeys, rto)
	n.On = Remap(j.On, func(c int) int { return to[c] })
	return &n, to[:len(wanted)]
}

func pruneApply(a *Apply, wanted []bool) (Node, []int) {
	nc := len(a.Child.Schema().Columns)
	child, to := prune(a.Child, copyNeed(wanted[:nc]).add(a.Exprs()...))
	n := *a
	n.Child = child
	n = *remapped(&n, to).(*Apply)
	width := len(child.Schema().Columns)
	to = append([]int(nil), to...)
	if a.Kind >= ApplyLateral {
		sub, sto := prune(a.Subplan, wanted[nc:])
		n.Subplan = sub
		for _, c := range sto {
			if c >= 0 {
				c += width
			}
			to = append(to, c)
		}
		return &n, to
	}
	to = append(to, width)
	n.Envelope = nil
	subNeed := make(need, len(a.Subplan.Schema().Columns))
	for i := range min(max(1, len(a.Args)), len(subNeed)) {
		subNeed[i] = true // the value
	}
	for i := range a.Envelope {
		at := -1
		if wanted[nc+1+i] {
			at = width + 1 + len(n.Envelope)
			n.Envelope = append(n.Envelope, a.Envelope[i])
			subNeed.add(a.Envelope[i].Args...)
		}
		to = append(to, at)
	}
	n.Subplan = exactly(a.Subplan, subNeed)
	_, moved := keep(all(len(subNeed)), subNeed)
	n.Envelope, _ = withCallExprs(n.Envelope, remapAll(callExprs(n.Envelope), moved))
	return &n, to
}

func pruneWindow(w *Window, wanted []bool) (Node, []int) {
	nc := len(w.Child.Schema().Columns)
	n := *w
	n.Calls = nil
	tail := make([]int, len(w.Calls))
	for i := range w.Calls {
		tail[i] = -1
		if wanted[nc+i] {
			tail[i] = len(n.Calls)
			n.Calls = append(n.Calls, w.Calls[i])
		}
	}
	child, to := prune(w.Child, copyNeed(wanted[:nc]).add(n.Exprs()...))
	n.Child = child
	width := len(child.Schema().Columns)
	out := append([]int(nil), to...)
	for _, c := range tail {
		if c >= 0 {
			c += width
		}
		out = append(out, c)
	}
	return remapped(&n, to), out
}

// Optimize runs every rewrite.
func Optimize(q *Query, ec *expr.Context) *Query {
	n := *q
	n.Root = MapExprs(q.Root, func(e expr.Expr) expr.Expr { return expr.Fold(e, ec) })
	n.Root = PushFilters(n.Root)
	n.Root = Prune(n.Root, len(q.Output))
	if repeats(n.Root) { // where nobody reads the envelope of a subquery, it may be a join after all
		n.Root = Prune(PushFilters(n.Root), len(q.Output))
	}
	n.Root = pushLimit(n.Root)
	return &n
}

// repeats reports whether a subplan runs for each row of another input.
func repeats(n Node) bool {
	a, ok := n.(*Apply)
	return ok && len(a.Outer) > 0 || slices.ContainsFunc(n.Children(), repeats)
}

// pushLimit tells stream scans how many rows are enough.
func pushLimit(n Node) Node {
	children := n.Children()
	if len(children) > 0 {
		out := make([]Node, len(children))
		for i, c := range children {
			out[i] = pushLimit(c)
		}
		n = n.WithChildren(out)
	}
	l, ok := n.(*Limit)
	if !ok || l.Ties != nil {
		return n
	}
	rows, ok := constantInt(l.Count)
	skip, known := constantInt(l.Offset)
	if !ok || !known && l.Offset != nil {
		return n
	}
	scan, rebuild := l.Child, func(c Node) Node { return c }
	if p, isProject := scan.(*Project); isProject {
		scan, rebuild = p.Child, func(c Node) Node { return p.WithChildren([]Node{c}) }
	}
	s, isStream := scan.(*StreamScan)
	if !isStream || rows <= 0 || skip < 0 || rows+skip < rows {
		return n
	}
	c := *s
	c.Limit = rows + skip
	return l.WithChildren([]Node{rebuild(&c)})
}

func constantInt(e expr.Expr) (int64, bool) {
	c, ok := e.(*expr.Const)
	if !ok || c.Datum.Null || c.Datum.Type.Kind() != types.KindInt {
		return 0, false
	}
	return c.Datum.Int, true
}
