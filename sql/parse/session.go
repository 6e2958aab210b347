package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// discard parses DISCARD ALL|PLANS|SEQUENCES|TEMP.
func (p *parser) discard(t *token) (ast.Statement, error) {
	s := &ast.Discard{Pos: ast.Pos(t.char)}
	if !p.isWord("all", "plans", "sequences", "temp", "temporary") {
		return nil, p.errorHere()
	}
	s.What = upper(p.next().text)
	if s.What == "TEMPORARY" {
		s.What = "TEMP"
	}
	return s, nil
}

// listen parses LISTEN channel.
func (p *parser) listen(t *token) (ast.Statement, error) {
	name, err := p.simpleName()
	return &ast.Listen{Pos: ast.Pos(t.char), Channel: name}, err
}

// notify parses NOTIFY channel [, 'payload'].
func (p *parser) notify(t *token) (ast.Statement, error) {
	s := &ast.Notify{Pos: ast.Pos(t.char)}
	var err error
	if s.Channel, err = p.simpleName(); err != nil || !p.acceptPunct(",") {
		return s, err
	}
	payload := p.cur()
	if payload.kind != tokString {
		return nil, p.errorHere()
	}
	p.at++
	s.Payload = payload.text
	return s, nil
}

// unlisten parses UNLISTEN channel|*.
func (p *parser) unlisten(t *token) (ast.Statement, error) {
	s := &ast.Unlisten{Pos: ast.Pos(t.char), Channel: "*"}
	if p.isOp("*") {
		p.at++
		return s, nil
	}
	var err error
	s.Channel, err = p.simpleName()
	return s, err
}

// subscribe parses SUBSCRIBE [TO] relation|(query) [WITH (options)].
func (p *parser) subscribe(t *token) (ast.Statement, error) {
	s := &ast.Subscribe{Pos: ast.Pos(t.char)}
	p.acceptWord("to")
	var err error
	if p.isPunct("(") {
		if s.Query, _, err = p.sinkQuery(); err != nil {
			return nil, err
		}
	} else {
		name, err := p.objectName()
		if err != nil {
			return nil, err
		}
		s.From = &name
	}
	s.Options, err = p.withOptions()
	return s, err
}

// vacuum parses VACUUM with the options before and since PostgreSQL 9.
func (p *parser) vacuum(t *token) (ast.Statement, error) {
	return p.maintenance(&ast.Vacuum{Pos: ast.Pos(t.char)}, "full", "freeze", "verbose", "analyze", "analyse")
}

// analyze parses ANALYZE.
func (p *parser) analyze(t *token) (ast.Statement, error) {
	return p.maintenance(&ast.Vacuum{Pos: ast.Pos(t.char), AnalyzeOnly: true}, "verbose")
}

// reindex parses REINDEX [(options)] INDEX|TABLE|SCHEMA|DATABASE|SYSTEM [CONCURRENTLY] name.
func (p *parser) reindex(t *token) (ast.Statement, error) {
	s := &ast.Reindex{Pos: ast.Pos(t.char)}
	var err error
	if p.isPunct("(") {
		if s.Options, err = p.optionList(); err != nil {
			return nil, err
		}
	}
	switch word := p.next(); {
	case word.isWord("index"):
		s.Kind = ast.IndexObject
	case word.isWord("table"):
		s.Kind = ast.TableObject
	case word.isWord("schema"):
		s.Kind = ast.SchemaObject
	case word.isWord("database", "system"):
		s.Kind, s.System = ast.DatabaseObject, word.isWord("system")
	default:
		return nil, syntaxError(p.src, word)
	}
	p.acceptWord("concurrently")
	s.Name, err = p.objectName()
	return s, err
}

func (p *parser) maintenance(s *ast.Vacuum, words ...string) (ast.Statement, error) {
	if p.isPunct("(") {
		options, err := p.optionList()
		if err != nil {
			return nil, err
		}
		s.Options = options
	}
	for p.isWord(words...) {
		w := p.next()
		s.Options = append(s.Options, ast.Option{Pos: ast.Pos(w.char), Name: w.text})
	}
	if p.atEnd() {
		return s, nil
	}
	return s, p.commaList(func() error {
		var target ast.VacuumTarget
		var err error
		if target.Name, err = p.objectName(); err != nil {
			return err
		}
		if p.isPunct("(") {
			target.Columns, err = p.columnNames()
		}
		s.Tables = append(s.Tables, target)
		return err
	})
}
