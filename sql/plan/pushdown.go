package plan

import (
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// PushFilters moves filters toward the leaves, turns equalities across a join
// into its keys, and lets leaves filter.
func PushFilters(n Node) Node { return push(n, nil) }

// push applies conds, which are over n's columns, at n or below.
func push(n Node, conds []expr.Expr) Node {
	switch x := n.(type) {
	case *Filter:
		return push(x.Child, append(Conjuncts(x.Cond), conds...))
	case *Project:
		below, here := split(conds, func(e expr.Expr) bool { return projectAllows(x, e) })
		for i := range below {
			below[i] = Substitute(below[i], x.Values)
		}
		return filtered(x.WithChildren([]Node{push(x.Child, below)}), here)
	case *Sort:
		return x.WithChildren([]Node{push(x.Child, conds)})
	case *Append:
		inputs := make([]Node, len(x.Inputs))
		for i, in := range x.Inputs {
			inputs[i] = push(in, conds)
		}
		return x.WithChildren(inputs)
	case *Aggregate:
		below, here := split(conds, func(e expr.Expr) bool {
			return len(x.Keys) > 0 && len(x.Sets) == 0 && readsOnly(e, 0, len(x.Keys)) && pure(e)
		})
		for i := range below {
			below[i] = Substitute(below[i], x.Keys)
		}
		return filtered(x.WithChildren([]Node{push(x.Child, below)}), here)
	case *Join:
		return pushJoin(x, conds)
	case *Apply:
		if joined, rest, ok := unnest(x, conds); ok {
			return push(joined, rest)
		}
		width := len(x.Child.Schema().Columns)
		below, here := split(conds, func(e expr.Expr) bool { return readsOnly(e, 0, width) })
		return filtered(x.WithChildren([]Node{push(x.Child, below), push(x.Subplan, nil)}), here)
	case *FoldScan, *StreamScan, *TableScan, *SideScan:
		return pushLeaf(n, conds)
	}
	children := n.Children()
	if len(children) > 0 {
		pushed := make([]Node, len(children))
		for i, c := range children {
			pushed[i] = push(c, nil)
		}
		n = n.WithChildren(pushed)
	}
	return filtered(n, conds)
}

func filtered(n Node, conds []expr.Expr) Node {
	if e := And(conds); e != nil {
		return &Filter{Child: n, Cond: e}
	}
	return n
}

// And joins conditions; nil for none.
func And(conds []expr.Expr) expr.Expr {
	switch len(conds) {
	case 0:
		return nil
	case 1:
		return conds[0]
	}
	e, err := expr.NewAnd(conds...)
	if err != nil {
		return nil // conditions are boolean, so this cannot happen
	}
	return e
}

func split(conds []expr.Expr, to func(expr.Expr) bool) (yes, no []expr.Expr) {
	for _, c := range conds {
		if to(c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

func pure(e expr.Expr) bool { return e.Volatility() != expr.Volatile }

func readsOnly(e expr.Expr, from, to int) bool {
	for c := range Columns(e) {
		if c < from || c >= to {
			return false
		}
	}
	return true
}

// projectAllows reports whether e may be computed below p: what it reads must
// not be volatile.
func projectAllows(p *Project, e expr.Expr) bool {
	for c := range Columns(e) {
		if !pure(p.Values[c]) {
			return false
		}
	}
	return true
}

// pushJoin gives each side of a join what concerns it alone. Conditions of WHERE
// may move to a side that the join does not extend with NULLs, conditions of ON
// to a side whose rows it does not keep.
func pushJoin(j *Join, conds []expr.Expr) Node {
	nl := len(j.Left.Schema().Columns)
	nr := len(j.Right.Schema().Columns)
	keepsLeft := j.Kind == LeftJoin || j.Kind == FullJoin || j.Kind == AntiJoin
	keepsRight := j.Kind == RightJoin || j.Kind == FullJoin
	on := Conjuncts(j.On)
	if j.Kind == InnerJoin {
		on, conds = append(on, conds...), nil
	}
	left := func(e expr.Expr) bool { return readsOnly(e, 0, nl) && pure(e) }
	right := func(e expr.Expr) bool { return readsOnly(e, nl, nl+nr) && pure(e) && len(Columns(e)) > 0 }
	var toLeft, toRight, more []expr.Expr
	if !keepsRight {
		toLeft, conds = split(conds, left)
	}
	if !keepsLeft {
		toRight, conds = split(conds, right)
		more, on = split(on, left)
		toLeft = append(toLeft, more...)
	}
	if !keepsRight {
		more, on = split(on, right)
		toRight = append(toRight, more...)
	}
	n := *j
	var rest []expr.Expr
	n.LeftKeys, n.RightKeys, rest = hashKeys(on, nl)
	n.LeftKeys = append(append([]expr.Expr(nil), j.LeftKeys...), n.LeftKeys...)
	n.RightKeys = append(append([]expr.Expr(nil), j.RightKeys...), n.RightKeys...)
	n.On = And(rest)
	for i := range toRight {
		toRight[i] = Remap(toRight[i], func(c int) int { return c - nl })
	}
	n.Left, n.Right = push(j.Left, toLeft), push(j.Right, toRight)
	return filtered(&n, conds)
}

// sameKeys casts the sides of an equality of numbers to the type that holds both,
// so that they are equal exactly where their keys are.
func sameKeys(a, b expr.Expr) (l, r expr.Expr, ok bool) {
	to, from := a.Type().OID, b.Type().OID
	if to == from {
		return a, b, true
	}
	if keyRank[to] < keyRank[from] {
		to, from = from, to
	}
	if keyRank[from] == 0 || keyRank[to] > 3 != (keyRank[from] > 3) {
		return nil, nil, false
	}
	l, errLeft := expr.Cast(a, types.Of(to), expr.Implicit)
	r, errRight := expr.Cast(b, types.Of(to), expr.Implicit)
	return l, r, errLeft == nil && errRight == nil
}

// keyRank orders the exact numbers, then the floats: a type holds all values of
// those of its kind before it. An integer is not compared as a float.
var keyRank = map[types.OID]int{types.Int2: 1, types.Int4: 2, types.Int8: 3, types.Float4: 4, types.Float8: 5}

// hashKeys takes the equalities between the sides out of on.
func hashKeys(on []expr.Expr, nl int) (l, r, rest []expr.Expr) {
	for _, e := range on {
		a, b, ok := Equality(e)
		if ok {
			a, b, ok = sameKeys(a, b)
		}
		if !ok || len(Columns(a)) == 0 || len(Columns(b)) == 0 {
			rest = append(rest, e)
			continue
		}
		const whole = int(^uint(0) >> 1)
		switch {
		case readsOnly(a, 0, nl) && readsOnly(b, nl, whole):
		case readsOnly(b, 0, nl) && readsOnly(a, nl, whole):
			a, b = b, a
		default:
			rest = append(rest, e)
			continue
		}
		l = append(l, a)
		r = append(r, Remap(b, func(c int) int { return c - nl }))
	}
	return l, r, rest
}

// pushLeaf hands conditions to a scan that can apply them.
func pushLeaf(n Node, conds []expr.Expr) Node {
	merge := func(have expr.Expr, columns []int, more []expr.Expr) expr.Expr {
		all := Conjuncts(have)
		for _, e := range more {
			all = append(all, Remap(e, func(c int) int { return columns[c] }))
		}
		return And(all)
	}
	limited := func(columns []int, to int) (yes, no []expr.Expr) {
		return split(conds, func(e expr.Expr) bool {
			for c := range Columns(e) {
				if columns[c] >= to {
					return false
				}
			}
			return pure(e)
		})
	}
	switch s := n.(type) {
	case *FoldScan:
		c := *s
		if len(s.Fold.Keys) == 0 && s.Fold.Window.Kind == NoWindow {
			c.Partition = foldPartition(&c)
			return filtered(&c, conds) // the one row exists whatever the filter says
		}
		yes, no := limited(s.Columns, s.Layout().Aggs)
		c.KeyFilter = merge(s.KeyFilter, s.Columns, yes)
		c.Partition = foldPartition(&c)
		return filtered(&c, no)
	case *StreamScan:
		yes, no := limited(s.Columns, len(s.Stream.Columns))
		c := *s
		c.Filter = merge(s.Filter, s.Columns, yes)
		c.Partition = partitionValues(s.Stream, Conjuncts(c.Filter))
		return filtered(&c, no)
	case *TableScan:
		yes, no := limited(s.Columns, len(s.Table.Columns))
		c := *s
		c.Filter = merge(s.Filter, s.Columns, yes)
		c.Key = keyOf(s.Table, Conjuncts(c.Filter))
		return filtered(&c, no)
	case *SideScan:
		yes, no := limited(s.Columns, len(SideSchema(s.Kind, s.Stream).Columns))
		c := *s
		c.Filter = merge(s.Filter, s.Columns, yes)
		return filtered(&c, no)
	}
	return filtered(n, conds)
}
