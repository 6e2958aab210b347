package ast

// subquery writes (query).
func (p *printer) subquery(q *Select) {
	p.write("(")
	p.query(q)
	p.write(")")
}

func (p *printer) query(q *Select) {
	if q.With != nil {
		p.with(q.With)
		p.write(" ")
	}
	switch b := q.Body.(type) {
	case *SelectCore:
		p.core(b)
	case *Values:
		p.values(b)
	case *SetOp:
		p.setOp(b)
	}
	if len(q.OrderBy) > 0 {
		p.write(" ")
		p.orderBy(q.OrderBy)
	}
	if q.Limit != nil {
		p.limit(q)
	}
	if q.Offset != nil {
		p.write(" OFFSET ")
		p.operand(q.Offset)
	}
	for _, l := range q.Locking {
		p.locking(l)
	}
}

func (p *printer) limit(q *Select) {
	if !q.WithTies {
		p.write(" LIMIT ")
		p.operand(q.Limit)
		return
	}
	p.write(" FETCH FIRST (")
	p.expr(q.Limit)
	p.write(") ROWS WITH TIES")
}

func (p *printer) locking(l Locking) {
	p.write(" ", l.Strength.String())
	if len(l.Of) > 0 {
		p.write(" OF ")
		p.list(len(l.Of), func(i int) { p.name(l.Of[i]) })
	}
	p.write([]string{"", " NOWAIT", " SKIP LOCKED"}[l.Wait])
}

func (p *printer) with(w *With) {
	p.write("WITH ")
	if w.Recursive {
		p.write("RECURSIVE ")
	}
	p.list(len(w.CTEs), func(i int) {
		c := w.CTEs[i]
		p.ident(c.Name)
		p.idents(c.Columns)
		p.write(" AS ", []string{"", "MATERIALIZED ", "NOT MATERIALIZED "}[c.Materialized])
		if c.Modify != nil {
			p.write("(")
			p.node(c.Modify)
			p.write(")")
			return
		}
		p.subquery(c.Query)
	})
}

func (p *printer) values(v *Values) {
	p.write("VALUES ")
	p.list(len(v.Rows), func(i int) {
		p.write("(")
		p.exprs(v.Rows[i])
		p.write(")")
	})
}

// setOp writes both sides in parentheses where they are more than a plain SELECT. The
// left side may be a chain of the same operation without them.
func (p *printer) setOp(s *SetOp) {
	p.side(s.Left, s, true)
	p.write([]string{"", " UNION ", " INTERSECT ", " EXCEPT "}[s.Op])
	if s.All {
		p.write("ALL ")
	}
	p.side(s.Right, s, false)
}

func (p *printer) side(q *Select, of *SetOp, left bool) {
	bare := q.With == nil && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil && len(q.Locking) == 0
	if inner, ok := q.Body.(*SetOp); ok {
		bare = bare && left && inner.Op == of.Op
	}
	if bare {
		p.query(q)
	} else {
		p.subquery(q)
	}
}

func (p *printer) core(c *SelectCore) {
	p.write("SELECT")
	if len(c.DistinctOn) > 0 {
		p.write(" DISTINCT ON (")
		p.exprs(c.DistinctOn)
		p.write(")")
	} else if c.Distinct {
		p.write(" DISTINCT")
	}
	if len(c.Targets) > 0 {
		p.write(" ")
		p.targets(c.Targets)
	}
	p.fromClause(" FROM ", c.From)
	p.where(" WHERE ", c.Where)
	if len(c.GroupBy) > 0 {
		p.write(" GROUP BY ")
		if c.GroupDistinct {
			p.write("DISTINCT ")
		}
		p.exprs(c.GroupBy)
	}
	p.where(" HAVING ", c.Having)
	if len(c.Windows) > 0 {
		p.write(" WINDOW ")
		p.list(len(c.Windows), func(i int) {
			p.ident(c.Windows[i].Name)
			p.write(" AS ")
			p.windowSpec(c.Windows[i].Spec)
		})
	}
}

func (p *printer) where(keyword string, e Expr) {
	if e != nil {
		p.write(keyword)
		p.expr(e)
	}
}

func (p *printer) targets(list []Target) {
	p.list(len(list), func(i int) {
		p.expr(list[i].Expr)
		if list[i].Alias != "" {
			p.write(" AS ")
			p.ident(list[i].Alias)
		}
	})
}

func (p *printer) fromClause(keyword string, items []FromItem) {
	if len(items) == 0 {
		return
	}
	p.write(keyword)
	p.list(len(items), func(i int) { p.fromItem(items[i]) })
}

func (p *printer) fromItem(f FromItem) {
	switch x := f.(type) {
	case *TableRef:
		if x.Only {
			p.write("ONLY ")
		}
		p.name(x.Name)
		p.alias(x.Alias)
	case *SubqueryRef:
		p.lateral(x.Lateral)
		p.subquery(x.Query)
		p.alias(x.Alias)
	case *FuncRef:
		p.lateral(x.Lateral)
		p.expr(x.Func)
		if x.Ordinality {
			p.write(" WITH ORDINALITY")
		}
		p.alias(x.Alias)
	case *Join:
		p.join(x)
	}
}

func (p *printer) lateral(is bool) {
	if is {
		p.write("LATERAL ")
	}
}

func (p *printer) alias(a *Alias) {
	if a == nil {
		return
	}
	p.write(" AS ")
	if a.Name != "" {
		p.ident(a.Name)
	}
	if len(a.Columns) == 0 {
		return
	}
	p.write("(")
	p.list(len(a.Columns), func(i int) {
		p.ident(a.Columns[i].Name)
		if a.Columns[i].Type != nil {
			p.write(" ")
			p.typeName(a.Columns[i].Type)
		}
	})
	p.write(")")
}

func (p *printer) join(j *Join) {
	if j.Alias != nil {
		p.write("(")
		plain := *j
		plain.Alias = nil
		p.join(&plain)
		p.write(")")
		p.alias(j.Alias)
		return
	}
	p.fromItem(j.Left)
	p.write(" ")
	if j.Natural {
		p.write("NATURAL ")
	}
	p.write([]string{"", "CROSS", "INNER", "LEFT", "RIGHT", "FULL"}[j.Kind], " JOIN ")
	if right, ok := j.Right.(*Join); ok && right.Alias == nil {
		p.write("(")
		p.join(right)
		p.write(")")
	} else {
		p.fromItem(j.Right)
	}
	p.where(" ON ", j.On)
	if len(j.Using) > 0 {
		p.write(" USING ")
		p.idents(j.Using)
	}
}
