package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

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
