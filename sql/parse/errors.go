package parse

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// syntaxError is PostgreSQL's error for a token that cannot stand where it does.
func syntaxError(src string, t *token) error {
	if t.kind == tokEOF {
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(int(t.char))
	}
	return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", src[t.start:t.end]).At(int(t.char))
}

// errorHere rejects the current token.
func (p *parser) errorHere() error { return syntaxError(p.src, p.cur()) }

// errorAt is a 42601 with a sentence of its own.
func errorAt(t *token, sentence string) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s", sentence).At(int(t.char))
}

// unsupported says that PostgreSQL has the form but TallyDB does not.
func unsupported(t *token, what string) *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", what).At(int(t.char))
}

// tooComplex refuses what would nest or chain too deep.
func tooComplex(t *token, what string) error {
	return sqlerr.New(sqlerr.StatementTooComplex, "statement too complex").
		WithDetail("%s", what).At(int(t.char))
}

// errWindow is 42P20, PostgreSQL's code for windows that make no sense.
func errWindow(t *token, problem string) error {
	return sqlerr.New(sqlerr.WindowingError, "%s", problem).At(int(t.char))
}

// errFunctionExpected refuses an expression in FROM that is no function call, and a
// parenthesised table that is no join.
func errFunctionExpected(pos int) error {
	return sqlerr.New(sqlerr.SyntaxError, "only a table, a function call, a join or a subquery can stand in FROM").At(pos)
}

func upper(word string) string { return strings.ToUpper(word) }
