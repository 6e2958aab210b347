package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// parser reads one text. The cursor is in cursor.go, the rewriter's output in
// output.go, the side table in form.go; the grammar is spread over the files that
// carry the names of its parts.
type parser struct {
	src    string
	tokens []token
	at     int
	depth  int
	params int // highest $n seen

	partners map[int]int // of parentheses, by token; see partner

	emitClause bool  // the query may be followed by EMIT
	into       *into // of the query that is a statement of its own; nil in others

	out  output
	side []any
}

func (p *parser) cur() *token { return &p.tokens[p.at] }

// peek returns the token n after the current one, or the end of the text.
func (p *parser) peek(n int) *token {
	if p.at+n >= len(p.tokens) {
		return &p.tokens[len(p.tokens)-1]
	}
	return &p.tokens[p.at+n]
}

// next returns the current token and steps over it; it never leaves the end.
func (p *parser) next() *token {
	t := p.cur()
	if t.kind != tokEOF {
		p.at++
	}
	return t
}

func (p *parser) isWord(words ...string) bool { return p.cur().isWord(words...) }
func (p *parser) isPunct(s string) bool       { return p.cur().isPunct(s) }
func (p *parser) isOp(s string) bool          { return p.cur().isOp(s) }

// isWords tells whether these words come next, in this order.
func (p *parser) isWords(words ...string) bool {
	for i, w := range words {
		if !p.peek(i).isWord(w) {
			return false
		}
	}
	return true
}

// acceptWord steps over the current token if it is one of these words.
func (p *parser) acceptWord(words ...string) bool {
	if p.isWord(words...) {
		p.at++
		return true
	}
	return false
}

// acceptWords steps over all of these words, or over none.
func (p *parser) acceptWords(words ...string) bool {
	if p.isWords(words...) {
		p.at += len(words)
		return true
	}
	return false
}

func (p *parser) acceptPunct(s string) bool {
	if p.isPunct(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expectWord(words ...string) error {
	if !p.acceptWord(words...) {
		return p.errorHere()
	}
	return nil
}

// expectWords demands all of these words in this order.
func (p *parser) expectWords(words ...string) error {
	for _, w := range words {
		if err := p.expectWord(w); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) expectPunct(s string) error {
	if !p.acceptPunct(s) {
		return p.errorHere()
	}
	return nil
}

// atEnd tells whether the statement ends here.
func (p *parser) atEnd() bool { return p.cur().kind == tokEOF || p.isPunct(";") }

// pos returns the position of the current token.
func (p *parser) pos() ast.Pos { return ast.Pos(p.cur().char) }

// enter guards a recursion; leave undoes it.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return tooComplex(p.cur(), "expressions and subqueries nest too deep")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// commaList calls item until no comma follows.
func (p *parser) commaList(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		if !p.acceptPunct(",") {
			return nil
		}
	}
}

// parenList is ( item, item, ... ).
func (p *parser) parenList(item func() error) error {
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if err := p.commaList(item); err != nil {
		return err
	}
	return p.expectPunct(")")
}
