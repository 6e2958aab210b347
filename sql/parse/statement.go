package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// statementParsers has the statements by their first word. The value is called with
// the cursor behind that word, which it gets.
var statementParsers map[string]func(*parser, *token) (ast.Statement, error)

func init() {
	statementParsers = map[string]func(*parser, *token) (ast.Statement, error){
		"insert": (*parser).insert, "update": (*parser).update, "delete": (*parser).delete, "merge": (*parser).merge,
		"truncate": (*parser).truncate, "copy": (*parser).copy,
		"create": (*parser).create, "drop": (*parser).drop, "alter": (*parser).alter, "comment": (*parser).comment,
		"explain": (*parser).explain, "show": (*parser).show, "describe": (*parser).describe, "set": (*parser).set, "reset": (*parser).reset,
		"begin": (*parser).begin, "start": (*parser).startTransaction, "commit": (*parser).commit, "end": (*parser).commit,
		"rollback": (*parser).rollback, "abort": (*parser).rollback, "savepoint": (*parser).savepoint, "release": (*parser).release,
		"prepare": (*parser).prepare, "execute": (*parser).execute, "deallocate": (*parser).deallocate,
		"declare": (*parser).declare, "fetch": (*parser).fetch, "move": (*parser).fetch, "close": (*parser).closeCursor,
		"discard": (*parser).discard, "listen": (*parser).listen, "notify": (*parser).notify, "unlisten": (*parser).unlisten,
		"checkpoint": (*parser).checkpoint, "refresh": (*parser).refresh, "lock": (*parser).lockTable, "grant": (*parser).grant, "revoke": (*parser).revoke,
		"subscribe": (*parser).subscribe, "vacuum": (*parser).vacuum, "analyze": (*parser).analyze, "analyse": (*parser).analyze, "reindex": (*parser).reindex,
	}
}

// notSupported are PostgreSQL's statements that TallyDB does not have.
var notSupported = map[string]bool{
	"call": true, "do": true, "cluster": true,
	"load": true, "import": true, "reassign": true, "security": true,
}

// statement parses one statement.
func (p *parser) statement() (ast.Statement, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.cur()
	switch {
	case t.isWord("with"):
		return p.withStatement()
	case t.isPunct("("), t.isWord("select", "values", "table"):
		return p.selectStatement()
	case t.kind != tokWord:
		return nil, p.errorHere()
	}
	if parse, ok := statementParsers[t.text]; ok {
		p.at++
		return parse(p, t)
	}
	if notSupported[t.text] {
		return nil, unsupported(t, "this statement")
	}
	return nil, p.errorHere()
}

// withStatement parses a statement that starts with WITH. What follows the clause is
// known only behind it, so it is skipped over once to look.
func (p *parser) withStatement() (ast.Statement, error) {
	start := p.at
	if !p.modifies() {
		return p.selectStatement()
	}
	p.skipWith()
	body := p.at
	// Parse the clause as that of a query, WITH ... SELECT, whose rest is not there.
	p.at = start
	out, err := p.fragment(func() error {
		if err := p.withClause(); err != nil {
			return err
		}
		p.openForm(&ast.SelectCore{}, p.cur().char)
		p.wrap(p.mark()-1, "SELECT ")
		p.closeForm()
		p.closeLevel(&level{info: &queryInfo{withPos: ast.Pos(p.tokens[start].char)}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if p.at != body {
		return nil, p.errorHere()
	}
	r, err := p.render(&out)
	if err != nil {
		return nil, err
	}
	var with *ast.With
	if err := p.grammar(r, func(d *decoder, stmt grammarNode) { with = d.query(stmt).With }); err != nil {
		return nil, err
	}
	stmt, err := p.statement()
	if err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *ast.Insert:
		s.With = with
	case *ast.Update:
		s.With = with
	case *ast.Delete:
		s.With = with
	case *ast.Merge:
		s.With = with
	}
	return stmt, nil
}

// modifies reports whether an INSERT, UPDATE, DELETE or MERGE follows, with or without
// WITH.
func (p *parser) modifies() bool {
	start := p.at
	defer func() { p.at = start }()
	return (!p.isWord("with") || p.skipWith()) && p.isWord("insert", "update", "delete", "merge")
}

// skipWith moves the cursor behind a WITH clause; false if there is no end to it.
func (p *parser) skipWith() bool {
	p.at++
	depth := 0
	for ; p.cur().kind != tokEOF; p.at++ {
		switch {
		case p.isPunct("("):
			depth++
		case p.isPunct(")"):
			depth--
			after := p.peek(1)
			if depth == 0 && !after.isPunct(",") && !after.isWord("as") {
				p.at++
				return true
			}
		}
	}
	return false
}

// source returns the text from a byte offset to the last token read.
func (p *parser) source(start int32) string { return p.src[start:p.tokens[p.at-1].end] }

// ifNotExists reads IF NOT EXISTS.
func (p *parser) ifNotExists() (bool, error) {
	if !p.isWord("if") {
		return false, nil
	}
	return true, p.expectWords("if", "not", "exists")
}

// ifExists reads IF EXISTS.
func (p *parser) ifExists() (bool, error) {
	if !p.isWord("if") {
		return false, nil
	}
	return true, p.expectWords("if", "exists")
}
