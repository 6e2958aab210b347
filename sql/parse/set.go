package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// set parses SET.
func (p *parser) set(t *token) (ast.Statement, error) {
	if p.acceptWords("session", "characteristics", "as", "transaction") {
		return p.setTransaction(t, true)
	}
	if p.isWord("constraints") && !p.peek(1).isOp("=") && !p.peek(1).isWord("to") {
		p.at++
		return p.setConstraints(t)
	}
	s := &ast.SetStmt{Pos: ast.Pos(t.char)}
	scoped := p.isWord("session", "local") && p.peek(1).isName() && !p.peek(1).isWord("to", "authorization")
	if scoped && p.next().text == "local" {
		s.Scope = ast.ScopeLocal
	}
	var err error
	switch {
	case p.isWord("transaction") && !p.peek(1).isOp("=") && !p.peek(1).isWord("to"):
		p.at++
		return p.setTransaction(t, false)
	case p.acceptWords("time", "zone"):
		s.Name = "timezone"
		err = p.timeZone(s)
	case p.acceptWord("names"):
		s.Name = "client_encoding"
		if p.atEnd() || p.acceptWord("default") {
			s.Default = true
			return s, nil
		}
		err = p.settingValues(s)
	case p.isWord("schema") && p.peek(1).kind == tokString:
		p.at++
		s.Name = "search_path"
		err = p.settingValues(s)
	case p.isWord("role") && !p.peek(1).isOp("=") && !p.peek(1).isWord("to"):
		p.at++
		s.Name = "role"
		err = p.settingValues(s)
	case p.acceptWords("session", "authorization"):
		s.Name = "session_authorization"
		err = p.settingOrDefault(s)
	default:
		err = p.genericSetting(s)
	}
	return s, err
}

// genericSetting parses name = values, name TO values, name FROM CURRENT.
func (p *parser) genericSetting(s *ast.SetStmt) error {
	if !p.cur().isColumnID() {
		return p.errorHere()
	}
	parts, err := p.dottedParts()
	if err != nil {
		return err
	}
	s.Name = joinDots(parts)
	if p.isWord("from") {
		return unsupported(p.cur(), "SET ... FROM CURRENT")
	}
	if !p.isOp("=") && !p.isWord("to") {
		return p.errorHere()
	}
	p.at++
	return p.settingOrDefault(s)
}

func (p *parser) settingOrDefault(s *ast.SetStmt) error {
	if p.acceptWord("default") {
		s.Default = true
		return nil
	}
	return p.settingValues(s)
}

func (p *parser) settingValues(s *ast.SetStmt) error {
	return p.commaList(func() error {
		e, err := p.settingValue()
		s.Values = append(s.Values, e)
		return err
	})
}

// timeZone parses what follows SET TIME ZONE: a name, a number of hours, an interval,
// LOCAL or DEFAULT.
func (p *parser) timeZone(s *ast.SetStmt) error {
	if p.acceptWord("local", "default") {
		s.Default = true
		return nil
	}
	if p.isWord("interval") {
		e, err := p.parseExpr(levelPrimary)
		s.Values = []ast.Expr{e}
		return err
	}
	e, err := p.settingValue()
	s.Values = []ast.Expr{e}
	return err
}

// setTransaction parses the modes of SET TRANSACTION.
func (p *parser) setTransaction(t *token, session bool) (ast.Statement, error) {
	s := &ast.SetTransaction{Pos: ast.Pos(t.char), Session: session}
	if p.acceptWord("snapshot") {
		text := p.cur()
		if text.kind != tokString {
			return nil, p.errorHere()
		}
		p.at++
		s.Modes.Snapshot = text.text
		return s, nil
	}
	modes, err := p.transactionModes()
	if err == nil && modes == (ast.TransactionModes{}) {
		return nil, p.errorHere()
	}
	s.Modes = modes
	return s, err
}

// reset parses RESET name, RESET ALL and its special forms.
func (p *parser) reset(t *token) (ast.Statement, error) {
	s := &ast.Reset{Pos: ast.Pos(t.char)}
	var err error
	s.Name, err = p.settingName()
	if s.Name == "all" {
		s.Name = ""
	}
	return s, err
}

// settingName reads the name of a setting, "all" for ALL.
func (p *parser) settingName() (string, error) {
	switch {
	case p.acceptWord("all"):
		return "all", nil
	case p.acceptWords("time", "zone"):
		return "timezone", nil
	case p.acceptWords("transaction", "isolation", "level"):
		return "transaction_isolation", nil
	case p.acceptWords("session", "authorization"):
		return "session_authorization", nil
	case !p.cur().isColumnID():
		return "", p.errorHere()
	}
	parts, err := p.dottedParts()
	if err != nil {
		return "", err
	}
	return joinDots(parts), nil
}
