package parse

import (
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
)

// createView parses CREATE VIEW. PipelineDB's WITH (action=materialize) makes it a
// continuous view.
func (p *parser) createView(t *token, orReplace, temporary bool) (ast.Statement, error) {
	s := &ast.CreateContinuousView{Pos: ast.Pos(t.char), OrReplace: orReplace}
	if err := p.viewHead(s); err != nil {
		return nil, err
	}
	materialize := false
	rest := s.Options[:0:0]
	for _, o := range s.Options {
		if o.Name == "action" && literalText(o.Value) == "materialize" {
			materialize = true
			continue
		}
		rest = append(rest, o)
	}
	s.Options = rest
	if materialize {
		return s, p.viewBody(s)
	}
	v := &ast.CreateView{
		Pos: s.Pos, Name: s.Name, OrReplace: orReplace, Temporary: temporary,
		Columns: s.Columns, Options: s.Options,
	}
	if s.IfNotExists {
		return nil, errorAt(t, "IF NOT EXISTS is not for views, use CREATE OR REPLACE VIEW")
	}
	var err error
	v.Query, v.Source, err = p.parseQuerySource()
	if err == nil && p.isWords("with") {
		return nil, unsupported(p.cur(), "WITH CHECK OPTION")
	}
	return v, err
}

func literalText(e ast.Expr) string {
	lit, ok := e.(*ast.Literal)
	if !ok {
		return ""
	}
	return strings.ToLower(lit.Text)
}

// createRecursiveView parses CREATE RECURSIVE VIEW, which is a view of WITH RECURSIVE.
func (p *parser) createRecursiveView(t *token, orReplace, temporary bool) (ast.Statement, error) {
	v := &ast.CreateView{Pos: ast.Pos(t.char), OrReplace: orReplace, Temporary: temporary}
	var err error
	if v.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	if v.Columns, err = p.columnNames(); err != nil {
		return nil, err
	}
	if err := p.expectWord("as"); err != nil {
		return nil, err
	}
	step, err := p.parseQuery()
	if err != nil {
		return nil, err
	}
	core := &ast.SelectCore{Pos: v.Pos, From: []ast.FromItem{&ast.TableRef{Pos: v.Pos, Name: ast.ObjectName{Pos: v.Pos, Name: v.Name.Name}}}}
	for _, c := range v.Columns {
		core.Targets = append(core.Targets, ast.Target{Expr: &ast.ColumnRef{Pos: c.Pos, Parts: []string{c.Name}}})
	}
	cte := ast.CTE{Pos: v.Name.Pos, Name: v.Name.Name, Columns: v.Columns, Query: step}
	v.Query = &ast.Select{Pos: v.Pos, With: &ast.With{Pos: v.Pos, Recursive: true, CTEs: []ast.CTE{cte}}, Body: core}
	v.Source = ast.String(v.Query)
	return v, nil
}

// createContinuousView parses CREATE CONTINUOUS VIEW.
func (p *parser) createContinuousView(t *token, orReplace bool) (ast.Statement, error) {
	s := &ast.CreateContinuousView{Pos: ast.Pos(t.char), OrReplace: orReplace}
	if err := p.viewHead(s); err != nil {
		return nil, err
	}
	return s, p.viewBody(s)
}

// viewHead parses [IF NOT EXISTS] name [(columns)] [WITH (options)] AS.
func (p *parser) viewHead(s *ast.CreateContinuousView) (err error) {
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return err
	}
	if s.Name, err = p.objectName(); err != nil {
		return err
	}
	if p.isPunct("(") {
		if s.Columns, err = p.columnNames(); err != nil {
			return err
		}
	}
	if s.Options, err = p.withOptions(); err != nil {
		return err
	}
	return p.expectWord("as")
}

// viewBody parses query [EMIT ...].
func (p *parser) viewBody(s *ast.CreateContinuousView) (err error) {
	p.emitClause = true
	s.Query, s.Source, err = p.parseQuerySource()
	p.emitClause = false
	if err != nil || !p.acceptWord("emit") {
		return err
	}
	if p.acceptWord("changes") {
		s.Emit = ast.EmitChanges
		return nil
	}
	s.Emit = ast.EmitOnWindowClose
	return p.expectWords("on", "window", "close")
}

// startsEmit tells whether the word emit at the cursor starts an EMIT clause and is
// no alias. It does so only in the body of a continuous view.
func (p *parser) startsEmit() bool {
	return p.emitClause && p.isWord("emit") &&
		(p.peek(1).isWord("changes") || p.peek(1).isWord("on") && p.peek(2).isWord("window"))
}
