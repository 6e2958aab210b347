package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
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

// cteHead is what TiDB's text does not say about a CTE.
type cteHead = ast.CTE

// withClause rewrites WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ....
func (p *parser) withClause() error {
	p.emit("WITH", p.next().char)
	if p.isWord("recursive") {
		p.emit("RECURSIVE", p.next().char)
	}
	for first := true; first || p.acceptPunct(","); first = false {
		if !first {
			p.emit(",", p.cur().char)
		}
		if err := p.commonTable(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) commonTable() error {
	id, err := p.columnID()
	if err != nil {
		return err
	}
	cte := &cteHead{Pos: id.Pos, Name: id.Name}
	if p.isPunct("(") {
		if cte.Columns, err = p.columnNames(); err != nil {
			return err
		}
	}
	if err := p.expectWord("as"); err != nil {
		return err
	}
	switch {
	case p.acceptWords("not", "materialized"):
		cte.Materialized = ast.NotMaterialized
	case p.acceptWord("materialized"):
		cte.Materialized = ast.Materialized
	}
	p.emit("`"+p.keep(cte)+"` AS (", int32(id.Pos))
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if p.isWord("insert", "update", "delete") {
		return unsupported(p.cur(), "a data-modifying statement in WITH")
	}
	if err := p.query(); err != nil {
		return err
	}
	p.emit(")", p.cur().char)
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	if p.isWord("search", "cycle") {
		return unsupported(p.cur(), "SEARCH and CYCLE in WITH")
	}
	return nil
}

// queryTail reads ORDER BY, LIMIT, OFFSET, FETCH and FOR.
func (p *parser) queryTail(l *level) error {
	if p.isWord("order") {
		p.emit("ORDER BY", p.next().char)
		if err := p.expectWord("by"); err != nil {
			return err
		}
		if l.hasOrder {
			return errorAt(p.cur(), "multiple ORDER BY clauses not allowed")
		}
		l.hasOrder = true
		if err := p.orderList(); err != nil {
			return err
		}
	}
	limits, offsets := 0, 0
	for {
		var err error
		switch t := p.cur(); {
		case t.isWord("limit", "fetch") && limits == 0:
			if l.hasLimit { // that of the parenthesised query before
				return errorAt(p.peek(1), "multiple LIMIT clauses not allowed")
			}
			l.hasLimit = true
			limits++
			if t.text == "limit" {
				err = p.limitClause(l.info)
			} else {
				err = p.fetchClause(l.info)
			}
		case t.isWord("offset") && offsets == 0:
			if l.hasOffset {
				return errorAt(p.peek(1), "multiple OFFSET clauses not allowed")
			}
			l.hasOffset = true
			offsets++
			p.at++
			l.info.offset, err = p.parseExpr(0)
			p.acceptWord("row", "rows")
		case t.isWord("for"):
			err = p.lockingClause(l.info)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) limitClause(info *queryInfo) (err error) {
	t := p.next()
	if p.acceptWord("all") {
		return nil
	}
	if info.limit, err = p.parseExpr(0); err != nil {
		return err
	}
	if p.isPunct(",") {
		return sqlerr.New(sqlerr.SyntaxError, "LIMIT #,# syntax is not supported").
			WithHint("Use separate LIMIT and OFFSET clauses.").At(int(t.char))
	}
	return nil
}

// fetchClause reads FETCH {FIRST|NEXT} [n] {ROW|ROWS} {ONLY|WITH TIES}.
func (p *parser) fetchClause(info *queryInfo) (err error) {
	p.at++
	if err := p.expectWord("first", "next"); err != nil {
		return err
	}
	if p.isWord("row", "rows") {
		info.limit = &ast.Literal{Pos: p.pos(), Kind: ast.IntegerLiteral, Text: "1"}
	} else if info.limit, err = p.parseExpr(levelPrimary); err != nil {
		return err
	}
	if err := p.expectWord("row", "rows"); err != nil {
		return err
	}
	if p.acceptWords("with", "ties") {
		info.withTies = true
		return nil
	}
	return p.expectWord("only")
}

// lockingClause reads FOR UPDATE and its relatives.
func (p *parser) lockingClause(info *queryInfo) error {
	p.at++
	var lock ast.Locking
	switch {
	case p.acceptWords("read", "only"):
		return nil
	case p.acceptWord("update"):
		lock.Strength = ast.ForUpdate
	case p.acceptWord("share"):
		lock.Strength = ast.ForShare
	case p.acceptWords("no", "key", "update"):
		lock.Strength = ast.ForNoKeyUpdate
	case p.acceptWords("key", "share"):
		lock.Strength = ast.ForKeyShare
	default:
		return p.errorHere()
	}
	if p.acceptWord("of") {
		err := p.commaList(func() error {
			name, err := p.objectName()
			lock.Of = append(lock.Of, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	switch {
	case p.acceptWord("nowait"):
		lock.Wait = ast.LockNoWait
	case p.acceptWords("skip", "locked"):
		lock.Wait = ast.LockSkip
	}
	info.locking = append(info.locking, lock)
	return nil
}

// startsQuery tells whether the token n after the cursor starts a query. For a
// parenthesis that is decided by what follows its partner: ((SELECT 1) + 1) is an
// expression, ((SELECT 1) UNION SELECT 2) a query.
func (p *parser) startsQuery(n int) bool {
	opened := 0
	for p.peek(n + opened).isPunct("(") {
		opened++
	}
	if !p.peek(n+opened).isWord("select", "with", "values", "table") {
		return false
	}
	if opened == 0 {
		return true
	}
	return p.parenClosesQuery(n, opened)
}

// parenClosesQuery checks, from the inside out, that after each of the opened
// parentheses at n only what continues a query follows.
func (p *parser) parenClosesQuery(n, opened int) bool {
	depth := 0
	for i := n; ; i++ {
		switch t := p.peek(i); {
		case t.kind == tokEOF:
			return true // the error will say where the partner is missing
		case t.isPunct("("):
			depth++
		case t.isPunct(")"):
			if depth--; depth >= opened {
				continue
			}
			after := p.peek(i + 1)
			continues := after.kind == tokEOF || after.isPunct(")") || after.isPunct(";") ||
				after.isWord("union", "intersect", "except", "order", "limit", "offset", "fetch", "for")
			if !continues {
				return false
			}
			if depth == 0 {
				return true
			}
			opened = depth
		}
	}
}
