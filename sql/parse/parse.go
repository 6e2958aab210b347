package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Parsed is one statement of a text.
type Parsed struct {
	Statement ast.Statement
	// SQL is the statement's own text, without the semicolon and the space around it.
	SQL string
	// Start is the byte offset of SQL in the whole text.
	Start int
	// Params is the highest number n of a parameter $n.
	Params int
}

// Parse parses a text of any number of statements that are separated by semicolons.
// An empty text gives none. An error anywhere in the text is an error of the whole,
// as in PostgreSQL, so that nothing has been executed when it is reported. Positions,
// in nodes and in errors, count from the start of the whole text.
func Parse(sql string) (list []Parsed, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			list, err = nil, panicError(failure)
		}
	}()
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	for {
		for p.acceptPunct(";") {
		}
		if p.cur().kind == tokEOF {
			return list, nil
		}
		start := p.cur().start
		p.params, p.side, p.depth = 0, p.side[:1:1], 0
		stmt, err := p.statement()
		if err != nil {
			return nil, err
		}
		if !p.atEnd() {
			return nil, p.errorHere()
		}
		text := sql[start:p.tokens[p.at-1].end]
		list = append(list, Parsed{Statement: stmt, SQL: text, Start: int(start), Params: p.params})
	}
}

// ParseOne parses a text that holds one statement, as the extended protocol's Parse
// message does. An empty text gives a zero Parsed.
func ParseOne(sql string) (Parsed, error) {
	list, err := Parse(sql)
	switch {
	case err != nil || len(list) == 0:
		return Parsed{}, err
	case len(list) > 1:
		return Parsed{}, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	return list[0], nil
}

// ParseExpr parses a text that is a single expression, such as a DEFAULT or a policy
// that the catalog keeps as text.
func ParseExpr(sql string) (e ast.Expr, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			e, err = nil, panicError(failure)
		}
	}()
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	if e, err = p.parseExpr(0); err != nil {
		return nil, err
	}
	if p.cur().kind != tokEOF {
		return nil, p.errorHere()
	}
	return e, nil
}

// ParseType parses a text that is the name of a type, such as "varchar(10)[]".
func ParseType(sql string) (*ast.TypeName, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	typ, err := p.typeName()
	if err != nil {
		return nil, err
	}
	if p.cur().kind != tokEOF {
		return nil, p.errorHere()
	}
	return typ, nil
}

func newParser(sql string) (*parser, error) {
	if len(sql) > maxInput {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "statement is too long").
			WithDetail("It has %d bytes, the limit is %d.", len(sql), maxInput).
			WithHint("Send the rows with COPY.")
	}
	tokens, err := lex(sql)
	if err != nil {
		return nil, err
	}
	// Entry 0 of the side table is the table that MySQL's grammar wants.
	return &parser{src: sql, tokens: tokens, side: make([]any, 1, 64)}, nil
}
