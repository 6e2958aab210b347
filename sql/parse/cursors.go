package parse

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// declare parses DECLARE name CURSOR FOR query.
func (p *parser) declare(t *token) (ast.Statement, error) {
	s := &ast.DeclareCursor{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	for !p.isWord("cursor") {
		switch {
		case p.acceptWord("binary"):
			s.Binary = true
		case p.acceptWord("insensitive"):
			s.Insensitive = true
		case p.acceptWord("asensitive"):
		case p.acceptWord("scroll"):
			s.Scroll = ast.Yes
		case p.acceptWords("no", "scroll"):
			s.Scroll = ast.No
		default:
			return nil, p.errorHere()
		}
	}
	p.at++
	switch {
	case p.acceptWords("with", "hold"):
		s.Hold = true
	case p.acceptWords("without", "hold"):
	}
	if err := p.expectWord("for"); err != nil {
		return nil, err
	}
	s.Query, err = p.parseQuery()
	return s, err
}

// fetch parses FETCH and MOVE [direction] [FROM|IN] cursor.
func (p *parser) fetch(t *token) (ast.Statement, error) {
	s := &ast.Fetch{Pos: ast.Pos(t.char), Move: t.text == "move", Direction: ast.FetchForward, Count: 1}
	if err := p.fetchDirection(s); err != nil {
		return nil, err
	}
	p.acceptWord("from", "in")
	var err error
	s.Cursor, err = p.simpleName()
	return s, err
}

// fetchDirection parses where to and how far. A word that is the last one is the
// name of the cursor.
func (p *parser) fetchDirection(s *ast.Fetch) (err error) {
	if last := p.peek(1); last.kind == tokEOF || last.isPunct(";") {
		return nil
	}
	switch {
	case p.acceptWord("next"):
	case p.acceptWord("prior"):
		s.Direction = ast.FetchBackward
	case p.acceptWord("first"):
		s.Direction = ast.FetchAbsolute
	case p.acceptWord("last"):
		s.Direction, s.Count = ast.FetchAbsolute, -1
	case p.acceptWord("absolute"):
		s.Direction = ast.FetchAbsolute
		s.Count, err = p.signedCount()
	case p.acceptWord("relative"):
		s.Direction = ast.FetchRelative
		s.Count, err = p.signedCount()
	case p.acceptWord("all"):
		s.Count = ast.FetchAll
	case p.isWord("forward", "backward"):
		if p.next().text == "backward" {
			s.Direction = ast.FetchBackward
		}
		if p.acceptWord("all") {
			s.Count = ast.FetchAll
		} else if p.startsCount() {
			s.Count, err = p.signedCount()
		}
	case p.startsCount():
		s.Count, err = p.signedCount()
	}
	return err
}

func (p *parser) startsCount() bool {
	return p.cur().kind == tokInteger || p.isOp("-") || p.isOp("+")
}

// signedCount parses an integer with an optional sign.
func (p *parser) signedCount() (int64, error) {
	sign := ""
	if p.isOp("-") || p.isOp("+") {
		sign = p.next().text
	}
	t := p.cur()
	if t.kind != tokInteger {
		return 0, p.errorHere()
	}
	p.at++
	n, err := strconv.ParseInt(sign+t.text, 10, 64)
	if err != nil {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "the count \"%s\" is out of range", t.text).At(int(t.char))
	}
	return n, nil
}

// closeCursor parses CLOSE name|ALL.
func (p *parser) closeCursor(t *token) (ast.Statement, error) {
	s := &ast.CloseCursor{Pos: ast.Pos(t.char)}
	if p.acceptWord("all") {
		return s, nil
	}
	var err error
	s.Name, err = p.simpleName()
	return s, err
}
