package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// merge parses MERGE.
func (p *parser) merge(t *token) (ast.Statement, error) {
	s := &ast.Merge{Pos: ast.Pos(t.char)}
	if err := p.expectWord("into"); err != nil {
		return nil, err
	}
	if err := p.targetTable(&s.Table); err != nil {
		return nil, err
	}
	if err := p.expectWord("using"); err != nil {
		return nil, err
	}
	items, err := p.parseItems(p.joinedTable)
	if err != nil {
		return nil, err
	}
	s.Source = items[0]
	if err := p.expectWord("on"); err != nil {
		return nil, err
	}
	if s.On, err = p.parseExpr(0); err != nil {
		return nil, err
	}
	for first := true; first || p.isWord("when"); first = false {
		w, err := p.mergeWhen()
		if err != nil {
			return nil, err
		}
		s.When = append(s.When, w)
	}
	return s, nil
}

// mergeWhen parses WHEN [NOT] MATCHED [AND condition] THEN action.
func (p *parser) mergeWhen() (ast.MergeWhen, error) {
	w := ast.MergeWhen{Pos: p.pos()}
	if err := p.expectWord("when"); err != nil {
		return w, err
	}
	w.Matched = !p.acceptWord("not")
	if err := p.expectWord("matched"); err != nil {
		return w, err
	}
	var err error
	if p.acceptWord("and") {
		if w.Cond, err = p.parseExpr(0); err != nil {
			return w, err
		}
	}
	if err := p.expectWord("then"); err != nil {
		return w, err
	}
	switch {
	case p.acceptWord("do"):
		return w, p.expectWord("nothing")
	case w.Matched && p.acceptWord("update"):
		w.Action = ast.MergeUpdate
		if err := p.expectWord("set"); err != nil {
			return w, err
		}
		w.Set, err = p.assignments()
	case w.Matched && p.acceptWord("delete"):
		w.Action = ast.MergeDelete
	case !w.Matched && p.acceptWord("insert"):
		w.Action = ast.MergeInsert
		w.Insert, err = p.mergeInsert()
	default:
		err = p.errorHere()
	}
	return w, err
}

// mergeInsert parses [(columns)] [OVERRIDING ... VALUE] VALUES (row) | DEFAULT VALUES.
func (p *parser) mergeInsert() (*ast.Insert, error) {
	s := &ast.Insert{Pos: p.pos()}
	if err := p.insertTarget(s); err != nil {
		return nil, err
	}
	if p.acceptWords("default", "values") {
		return s, nil
	}
	values := p.cur()
	if err := p.expectWord("values"); err != nil {
		return nil, err
	}
	row := &ast.Values{Pos: ast.Pos(values.char), Rows: make([][]ast.Expr, 1)}
	err := p.parenList(func() error {
		e, err := p.parseExpr(0)
		row.Rows[0] = append(row.Rows[0], e)
		return err
	})
	s.Source = &ast.Select{Pos: row.Pos, Body: row}
	return s, err
}
