package ast

func (p *printer) withPrefix(w *With) {
	if w != nil {
		p.with(w)
		p.write(" ")
	}
}

func (p *printer) insert(x *Insert) {
	p.withPrefix(x.With)
	p.write("INSERT INTO ")
	p.name(x.Table)
	if x.Alias != "" {
		p.write(" AS ")
		p.ident(x.Alias)
	}
	p.insertRow(x)
	if x.OnConflict != nil {
		p.onConflict(x.OnConflict)
	}
	p.returning(x.Returning)
}

// insertRow writes the columns and what they get.
func (p *printer) insertRow(x *Insert) {
	if len(x.Columns) > 0 {
		p.write(" ")
		p.idents(x.Columns)
	}
	if x.Overriding != "" {
		p.write(" OVERRIDING ", x.Overriding, " VALUE")
	}
	if x.Source == nil {
		p.write(" DEFAULT VALUES")
	} else {
		p.write(" ")
		p.query(x.Source)
	}
}

func (p *printer) onConflict(c *OnConflict) {
	p.write(" ON CONFLICT")
	if len(c.Target) > 0 {
		p.write(" ")
		p.indexKeys(c.Target)
		p.where(" WHERE ", c.TargetWhere)
	}
	if c.Constraint != "" {
		p.write(" ON CONSTRAINT ")
		p.ident(c.Constraint)
	}
	if len(c.Set) == 0 {
		p.write(" DO NOTHING")
		return
	}
	p.write(" DO UPDATE")
	p.set(c.Set)
	p.where(" WHERE ", c.Where)
}

func (p *printer) set(list []Assignment) {
	p.write(" SET ")
	p.list(len(list), func(i int) {
		if list[i].Multi {
			p.idents(list[i].Columns)
		} else {
			p.ident(list[i].Columns[0].Name)
		}
		if f := list[i].Field; f != "" {
			p.write(".")
			p.ident(f)
		}
		p.write(" = ")
		p.expr(list[i].Value)
	})
}

func (p *printer) returning(list []Target) {
	if len(list) > 0 {
		p.write(" RETURNING ")
		p.targets(list)
	}
}

func (p *printer) update(x *Update) {
	p.withPrefix(x.With)
	p.write("UPDATE ")
	p.fromItem(&x.Table)
	p.set(x.Set)
	p.fromClause(" FROM ", x.From)
	p.where(" WHERE ", x.Where)
	p.returning(x.Returning)
}

func (p *printer) delete(x *Delete) {
	p.withPrefix(x.With)
	p.write("DELETE FROM ")
	p.fromItem(&x.Table)
	p.fromClause(" USING ", x.Using)
	p.where(" WHERE ", x.Where)
	p.returning(x.Returning)
}

func (p *printer) merge(x *Merge) {
	p.withPrefix(x.With)
	p.write("MERGE INTO ")
	p.fromItem(&x.Table)
	p.write(" USING ")
	p.fromItem(x.Source)
	p.write(" ON ")
	p.expr(x.On)
	for i := range x.When {
		w := &x.When[i]
		p.write(" WHEN ", map[bool]string{true: "MATCHED", false: "NOT MATCHED"}[w.Matched])
		p.where(" AND ", w.Cond)
		p.write(" THEN ", []string{"DO NOTHING", "UPDATE", "DELETE", "INSERT"}[w.Action])
		switch w.Action {
		case MergeUpdate:
			p.set(w.Set)
		case MergeInsert:
			p.insertRow(w.Insert)
		}
	}
}

func (p *printer) truncate(x *Truncate) {
	p.write("TRUNCATE ")
	p.list(len(x.Names), func(i int) { p.name(x.Names[i]) })
	if x.Restart {
		p.write(" RESTART IDENTITY")
	}
	p.cascade(x.Cascade)
}

func (p *printer) cascade(is bool) {
	if is {
		p.write(" CASCADE")
	}
}

func (p *printer) copy(x *Copy) {
	p.write("COPY ")
	if x.Query != nil {
		p.write("(")
		p.node(x.Query)
		p.write(")")
	} else {
		p.name(x.Table)
		if len(x.Columns) > 0 {
			p.write(" ")
			p.idents(x.Columns)
		}
	}
	end := "STDOUT"
	if x.From {
		p.write(" FROM ")
		end = "STDIN"
	} else {
		p.write(" TO ")
	}
	if x.File != "" {
		end = QuoteString(x.File)
	}
	p.write(end)
	if len(x.Options) > 0 {
		p.write(" (")
		p.bareOptions(x.Options)
		p.write(")")
	}
	p.where(" WHERE ", x.Where)
}
