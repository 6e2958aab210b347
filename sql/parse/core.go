package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// selectCore rewrites SELECT ... up to WINDOW. Its first field for TiDB is a form that
// holds the node with all that TiDB does not see, and DISTINCT ON's expressions.
func (p *parser) selectCore() error {
	t := p.next()
	core := &ast.SelectCore{Pos: ast.Pos(t.char)}
	p.emit("SELECT", t.char)
	if err := p.distinctClause(core); err != nil {
		return err
	}
	if core.Distinct || !p.endsTargets() { // DISTINCT needs a target
		p.emit(",", p.cur().char)
		if err := p.targetList(); err != nil {
			return err
		}
	}
	if p.isWord("into") {
		if err := p.intoClause(core); err != nil {
			return err
		}
	}
	if p.isWord("from") {
		p.emit("FROM", p.next().char)
		if err := p.fromList(); err != nil {
			return err
		}
	} else if p.isWord("where", "group", "having", "window") {
		p.emit("FROM `0`", t.char) // MySQL's grammar wants a table here
	}
	if err := p.conditionClause("where", "WHERE"); err != nil {
		return err
	}
	if err := p.groupClause(core); err != nil {
		return err
	}
	if err := p.conditionClause("having", "HAVING"); err != nil {
		return err
	}
	return p.windowClause()
}

// distinctClause reads ALL, DISTINCT or DISTINCT ON (...) and emits the core's form.
func (p *parser) distinctClause(core *ast.SelectCore) error {
	p.openForm(core, int32(core.Pos))
	if !p.acceptWord("all") && p.acceptWord("distinct") {
		core.Distinct = true
		if p.acceptWord("on") {
			if err := p.expectPunct("("); err != nil {
				return err
			}
			p.emit(",", p.cur().char)
			if err := p.exprList(); err != nil {
				return err
			}
			if err := p.expectPunct(")"); err != nil {
				return err
			}
		}
	}
	p.closeForm()
	return nil
}

// endsTargets tells whether the list of targets is empty.
func (p *parser) endsTargets() bool {
	return p.atEnd() || p.isPunct(")") || p.startsEmit() ||
		p.isWord("from", "where", "group", "having", "window", "union", "intersect", "except",
			"order", "limit", "offset", "fetch", "for", "into")
}

func (p *parser) conditionClause(word, keyword string) error {
	if !p.isWord(word) {
		return nil
	}
	p.emit(keyword, p.next().char)
	_, err := p.expr(0)
	return err
}

// emitList calls item for each element of a list, with commas in the output.
func (p *parser) emitList(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		if !p.isPunct(",") {
			return nil
		}
		p.emit(",", p.next().char)
	}
}

func (p *parser) exprList() error {
	return p.emitList(func() error {
		_, err := p.expr(0)
		return err
	})
}

func (p *parser) targetList() error { return p.emitList(p.target) }

// target rewrites one entry of a SELECT list. An alias goes to the side table.
func (p *parser) target() error {
	if star := p.starTarget(); star != nil {
		p.leaf(star)
		return nil
	}
	if _, err := p.expr(0); err != nil {
		return err
	}
	t := p.cur()
	switch {
	case t.isWord("as"):
		p.at++
		name, err := p.label()
		if err != nil {
			return err
		}
		p.emit("AS `"+p.keep(name)+"`", t.char)
	case t.isBareLabel() && !p.startsEmit():
		p.at++
		p.emit("AS `"+p.keep(t.text)+"`", t.char)
	}
	return nil
}

// starTarget reads * or a.b.*, or returns nil.
func (p *parser) starTarget() *ast.Star {
	t := p.cur()
	if t.isOp("*") {
		p.at++
		return &ast.Star{Pos: ast.Pos(t.char)}
	}
	n := p.dottedLength()
	if n == 0 || !t.isColumnID() || !p.peek(n).isPunct(".") || !p.peek(n+1).isOp("*") {
		return nil
	}
	star := &ast.Star{Pos: ast.Pos(t.char)}
	for i := 0; i < n; i += 2 {
		star.Qualifier = append(star.Qualifier, p.peek(i).text)
	}
	p.at += n + 2
	return star
}

// groupClause rewrites GROUP BY.
func (p *parser) groupClause(core *ast.SelectCore) error {
	if !p.isWord("group") {
		return nil
	}
	p.emit("GROUP BY", p.next().char)
	if err := p.expectWord("by"); err != nil {
		return err
	}
	if !p.acceptWord("all") {
		core.GroupDistinct = p.acceptWord("distinct")
	}
	return p.emitList(p.groupItem)
}

// groupingForm is a grouping set.
type groupingForm struct {
	pos  ast.Pos
	kind ast.GroupingKind
}

func (f *groupingForm) build(args []ast.Expr) ast.Expr {
	return &ast.GroupingSet{Pos: f.pos, Kind: f.kind, Items: args}
}

// groupItem rewrites an expression or a grouping set.
func (p *parser) groupItem() error {
	t := p.cur()
	f := &groupingForm{pos: ast.Pos(t.char)}
	switch {
	case t.isPunct("(") && p.peek(1).isPunct(")"):
		p.at += 2
		f.kind = ast.EmptyGroupingSet
		p.openForm(f, t.char)
		p.closeForm()
		return nil
	case p.isWords("grouping", "sets"):
		p.at += 2
		f.kind = ast.GroupingSets
	case t.isWord("rollup") && p.peek(1).isPunct("("):
		p.at++
		f.kind = ast.Rollup
	case t.isWord("cube") && p.peek(1).isPunct("("):
		p.at++
		f.kind = ast.Cube
	default:
		_, err := p.expr(0)
		return err
	}
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.openForm(f, t.char)
	p.emit(",", t.char)
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if err := p.emitList(p.groupItem); err != nil {
		return err
	}
	p.closeForm()
	return p.expectPunct(")")
}

// sortForm is a sort key for which TiDB has no words.
type sortForm struct {
	direction ast.Direction
	nulls     ast.NullsOrder
}

// orderList rewrites the entries of ORDER BY.
func (p *parser) orderList() error {
	return p.emitList(func() error {
		mark := p.mark()
		if _, err := p.expr(0); err != nil {
			return err
		}
		f, err := p.sortModifiers()
		if err != nil {
			return err
		}
		if f != (sortForm{}) {
			p.wrap(mark, "`f`("+p.keep(&f)+",")
			p.closeForm()
		}
		return nil
	})
}

// sortModifiers reads ASC|DESC and NULLS FIRST|LAST.
func (p *parser) sortModifiers() (sortForm, error) {
	var f sortForm
	switch {
	case p.acceptWord("asc"):
		f.direction = ast.Ascending
	case p.acceptWord("desc"):
		f.direction = ast.Descending
	case p.acceptWord("using"):
		switch t := p.cur(); {
		case t.isOp("<"):
			f.direction = ast.Ascending
		case t.isOp(">"):
			f.direction = ast.Descending
		case t.kind == tokOp:
			return f, sqlerr.New(sqlerr.WrongObjectType, "operator %s is not a valid ordering operator", t.text).
				WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.").At(int(t.char))
		default:
			return f, p.errorHere()
		}
		p.at++
	}
	switch {
	case p.acceptWords("nulls", "first"):
		f.nulls = ast.NullsFirst
	case p.acceptWords("nulls", "last"):
		f.nulls = ast.NullsLast
	}
	return f, nil
}
