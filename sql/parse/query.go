package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// queryInfo is what the text for TiDB does not say about one query. Every query ends
// with LIMIT n, where n is the number of its queryInfo.
type queryInfo struct {
	pos, withPos ast.Pos
	setOp        *ast.SetOp // kind, ALL and place of a set operation
	limit        ast.Expr
	offset       ast.Expr
	withTies     bool
	locking      []ast.Locking
}

// level is a query whose text is not closed yet. PostgreSQL lets clauses after a
// parenthesised query belong to it: (SELECT 1) LIMIT 1 is one query, not two.
type level struct {
	mark                                   int // where its text starts
	info                                   *queryInfo
	hasWith, hasOrder, hasLimit, hasOffset bool
}

func (p *parser) newLevel(mark int) *level {
	return &level{mark: mark, info: &queryInfo{pos: p.pos()}}
}

// closeLevel ends the text of a query.
func (p *parser) closeLevel(l *level) {
	p.emit("LIMIT "+p.keep(l.info), p.cur().char)
}

// query rewrites a whole query.
func (p *parser) query() error {
	l, err := p.openQuery()
	if err != nil {
		return err
	}
	p.closeLevel(l)
	return nil
}

// openQuery rewrites [WITH] body [ORDER BY] and reads the other tail clauses.
func (p *parser) openQuery() (*level, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	mark, first := p.mark(), p.cur()
	hasWith := p.isWord("with")
	if hasWith {
		if err := p.withClause(); err != nil {
			return nil, err
		}
	}
	l, err := p.setOperations(1)
	if err != nil {
		return nil, err
	}
	if hasWith {
		if l.hasWith {
			return nil, errorAt(first, "multiple WITH clauses not allowed")
		}
		l.hasWith, l.mark, l.info.withPos = true, mark, ast.Pos(first.char)
	}
	return l, p.queryTail(l)
}

// setOpLevel is how tight a set operation binds, 0 where none follows.
func (p *parser) setOpLevel() int {
	switch {
	case p.isWord("union", "except"):
		return 1
	case p.isWord("intersect"):
		return 2
	}
	return 0
}

var setOpKinds = map[string]ast.SetOpKind{"union": ast.Union, "except": ast.Except, "intersect": ast.Intersect}

// setOperations rewrites a chain of set operations. Both sides are put in
// parentheses, so that TiDB has no say in how they group.
func (p *parser) setOperations(min int) (*level, error) {
	left, err := p.queryTerm()
	if err != nil {
		return nil, err
	}
	for chain := 0; ; chain++ {
		tight := p.setOpLevel()
		if tight == 0 || tight < min {
			return left, nil
		}
		if chain > maxChain {
			return nil, tooComplex(p.cur(), "too many set operations in a row")
		}
		p.closeLevel(left)
		p.wrap(left.mark, "(")
		t := p.next()
		op := &ast.SetOp{Pos: ast.Pos(t.char), Op: setOpKinds[t.text]}
		op.All = p.acceptWord("all")
		if !op.All {
			p.acceptWord("distinct")
		}
		p.emit(") UNION (", t.char)
		right, err := p.setOperations(tight + 1)
		if err != nil {
			return nil, err
		}
		p.closeLevel(right)
		p.emit(")", p.cur().char)
		left = &level{mark: left.mark, info: &queryInfo{pos: left.info.pos, setOp: op}}
	}
}

// queryTerm rewrites a SELECT, VALUES or TABLE, or opens a parenthesised query.
func (p *parser) queryTerm() (*level, error) {
	l := p.newLevel(p.mark())
	switch {
	case p.isPunct("("):
		p.at++
		inner, err := p.openQuery()
		if err != nil {
			return nil, err
		}
		return inner, p.expectPunct(")")
	case p.isWord("select"):
		return l, p.selectCore()
	case p.isWord("values"):
		return l, p.valuesRows()
	case p.isWord("table"):
		return l, p.tableCommand()
	}
	return nil, p.errorHere()
}

// valuesRows rewrites VALUES (...), (...).
func (p *parser) valuesRows() error {
	p.emit("VALUES", p.next().char)
	for first := true; first || p.acceptPunct(","); first = false {
		t := p.cur()
		if err := p.expectPunct("("); err != nil {
			return err
		}
		if !first {
			p.emit(",", t.char)
		}
		p.emit("ROW (", t.char)
		if err := p.exprList(); err != nil {
			return err
		}
		p.emit(")", p.cur().char)
		if err := p.expectPunct(")"); err != nil {
			return err
		}
	}
	return nil
}

// tableCommand rewrites TABLE t as SELECT * FROM t, as PostgreSQL does.
func (p *parser) tableCommand() error {
	t := p.next()
	p.acceptWord("only")
	name, err := p.objectName()
	if err != nil {
		return err
	}
	p.openForm(&ast.SelectCore{Pos: ast.Pos(t.char)}, t.char)
	p.wrap(p.mark()-1, "SELECT ")
	p.closeForm()
	p.emit(","+p.keep(&ast.Star{Pos: name.Pos}), t.char)
	p.emit("FROM `"+p.keep(&ast.TableRef{Pos: name.Pos, Name: name})+"`", t.char)
	return nil
}

// startsQuery tells whether the token n after the cursor starts a query. For a
// parenthesis that is decided by what follows its partner: ((SELECT 1) + 1) is an
// expression, ((SELECT 1) UNION SELECT 2) a query.
func (p *parser) startsQuery(n int) bool {
	opened := 0
	for p.peek(n + opened).isPunct("(") {
		if opened++; opened > maxDepth {
			return true // it will be refused as too deep
		}
	}
	if !p.peek(n+opened).isWord("select", "with", "values", "table") {
		return false
	}
	for i := opened - 1; i >= 0; i-- {
		closing := p.partner(p.at + n + i)
		if closing < 0 {
			return true // the error will say where the partner is missing
		}
		after := &p.tokens[closing+1]
		if !after.isWord("union", "intersect", "except", "order", "limit", "offset", "fetch", "for") &&
			!after.isPunct(")") && !after.isPunct(";") && after.kind != tokEOF {
			return false
		}
	}
	return true
}

// partner returns the index of the parenthesis that closes the one at index open, -1
// where none does. All partners are found once, so that deep nesting costs no more
// than one look at each token.
func (p *parser) partner(open int) int {
	if p.partners == nil {
		p.partners = make(map[int]int)
		var stack []int
		for i := range p.tokens {
			switch t := &p.tokens[i]; {
			case t.isPunct("("):
				stack = append(stack, i)
			case t.isPunct(")") && len(stack) > 0:
				p.partners[stack[len(stack)-1]] = i
				stack = stack[:len(stack)-1]
			}
		}
	}
	if closing, ok := p.partners[open]; ok {
		return closing
	}
	return -1
}
