package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// begin parses BEGIN [WORK|TRANSACTION] [modes].
func (p *parser) begin(t *token) (ast.Statement, error) {
	p.acceptWord("work", "transaction")
	modes, err := p.transactionModes()
	return &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.Begin, Modes: modes}, err
}

// startTransaction parses START TRANSACTION [modes].
func (p *parser) startTransaction(t *token) (ast.Statement, error) {
	if err := p.expectWord("transaction"); err != nil {
		return nil, err
	}
	modes, err := p.transactionModes()
	return &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.StartTransaction, Modes: modes}, err
}

// transactionModes parses a list of modes, with or without commas.
func (p *parser) transactionModes() (ast.TransactionModes, error) {
	var m ast.TransactionModes
	for comma := false; ; comma = p.acceptPunct(",") {
		switch {
		case p.acceptWords("isolation", "level"):
			switch {
			case p.acceptWord("serializable"):
				m.Isolation = "SERIALIZABLE"
			case p.acceptWords("repeatable", "read"):
				m.Isolation = "REPEATABLE READ"
			case p.acceptWords("read", "committed"):
				m.Isolation = "READ COMMITTED"
			case p.acceptWords("read", "uncommitted"):
				m.Isolation = "READ UNCOMMITTED"
			default:
				return m, p.errorHere()
			}
		case p.acceptWords("read", "only"):
			m.ReadOnly = ast.Yes
		case p.acceptWords("read", "write"):
			m.ReadOnly = ast.No
		case p.acceptWords("not", "deferrable"):
			m.Deferrable = ast.No
		case p.acceptWord("deferrable"):
			m.Deferrable = ast.Yes
		default:
			if comma || !p.atEnd() {
				return m, p.errorHere()
			}
			return m, nil
		}
	}
}

// commit parses COMMIT and END.
func (p *parser) commit(t *token) (ast.Statement, error) {
	if p.isWord("prepared") {
		return nil, unsupported(p.cur(), "two-phase commit")
	}
	chain, err := p.endOfTransaction()
	return &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.Commit, Chain: chain}, err
}

// endOfTransaction parses [WORK|TRANSACTION] [AND [NO] CHAIN].
func (p *parser) endOfTransaction() (chain bool, err error) {
	p.acceptWord("work", "transaction")
	if !p.acceptWord("and") {
		return false, nil
	}
	chain = !p.acceptWord("no")
	return chain, p.expectWord("chain")
}

// rollback parses ROLLBACK and ABORT, and ROLLBACK TO.
func (p *parser) rollback(t *token) (ast.Statement, error) {
	if p.isWord("prepared") {
		return nil, unsupported(p.cur(), "two-phase commit")
	}
	s := &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.Rollback}
	var err error
	if s.Chain, err = p.endOfTransaction(); err != nil {
		return nil, err
	}
	if !s.Chain && t.text == "rollback" && p.acceptWord("to") {
		p.acceptWord("savepoint")
		s.Kind = ast.RollbackTo
		s.Name, err = p.simpleName()
	}
	return s, err
}

// savepoint parses SAVEPOINT name.
func (p *parser) savepoint(t *token) (ast.Statement, error) {
	name, err := p.simpleName()
	return &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.SavepointTx, Name: name}, err
}

// release parses RELEASE [SAVEPOINT] name.
func (p *parser) release(t *token) (ast.Statement, error) {
	p.acceptWord("savepoint")
	name, err := p.simpleName()
	return &ast.Transaction{Pos: ast.Pos(t.char), Kind: ast.ReleaseSavepoint, Name: name}, err
}
