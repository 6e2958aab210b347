package parse

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
)

// alter parses ALTER TABLE, ALTER STREAM, ALTER CONTINUOUS VIEW and ALTER ROLE.
func (p *parser) alter(t *token) (ast.Statement, error) {
	switch {
	case p.acceptWord("stream"):
		return p.alterStream(t)
	case p.acceptWords("continuous", "view"):
		return p.alterContinuousView(t)
	case p.acceptWord("table"):
		return p.alterTable(t)
	case p.roleWord():
		return p.alterRole(t)
	case p.isWord("view", "database", "schema", "system", "sequence", "index", "type", "default"):
		return nil, unsupported(p.cur(), "ALTER "+upper(p.cur().text))
	}
	return nil, p.errorHere()
}

func (p *parser) alterTable(t *token) (ast.Statement, error) {
	s := &ast.AlterTable{Pos: ast.Pos(t.char)}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	p.acceptWord("only")
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	first := p.cur()
	switch {
	case p.acceptWord("add") && !p.isWord("constraint", "primary", "unique", "check", "foreign"):
		err = p.alterAddColumn(s)
	case p.acceptWord("drop") && !p.isWord("constraint"):
		err = p.alterDropColumn(s)
	case p.acceptWord("rename") && !p.isWord("constraint"):
		err = p.alterRename(s)
	default:
		return nil, unsupported(first, "this form of ALTER TABLE")
	}
	if err == nil && p.isPunct(",") {
		return nil, unsupported(p.cur(), "more than one change in ALTER TABLE")
	}
	return s, err
}

func (p *parser) alterAddColumn(s *ast.AlterTable) (err error) {
	s.Action = ast.AddColumn
	p.acceptWord("column")
	if s.IfColumn, err = p.ifNotExists(); err != nil {
		return err
	}
	c, err := p.columnDef()
	s.Column = &c
	return err
}

func (p *parser) alterDropColumn(s *ast.AlterTable) (err error) {
	s.Action = ast.DropColumn
	p.acceptWord("column")
	if s.IfColumn, err = p.ifExists(); err != nil {
		return err
	}
	s.OldName, err = p.simpleName()
	s.Cascade = p.cascade()
	return err
}

func (p *parser) alterRename(s *ast.AlterTable) (err error) {
	s.Action = ast.RenameTo
	if !p.acceptWord("to") {
		s.Action = ast.RenameColumn
		p.acceptWord("column")
		if s.OldName, err = p.simpleName(); err != nil {
			return err
		}
		if err := p.expectWord("to"); err != nil {
			return err
		}
	}
	s.NewName, err = p.simpleName()
	return err
}

func (p *parser) alterStream(t *token) (ast.Statement, error) {
	s := &ast.AlterStream{Pos: ast.Pos(t.char)}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	switch {
	case p.isWord("set", "reset"):
		s.Action, s.Options, err = p.alterOptions()
	case p.acceptWord("partition"):
		err = p.alterPartition(s)
	case p.acceptWord("add"):
		p.acceptWord("column")
		s.Action = ast.AddColumn
		var c ast.ColumnDef
		c, err = p.columnDef()
		s.Column = &c
	case p.acceptWords("rename", "to"):
		s.Action = ast.RenameTo
		s.NewName, err = p.simpleName()
	default:
		return nil, p.errorHere()
	}
	return s, err
}

// alterPartition parses n OFFLINE|ONLINE.
func (p *parser) alterPartition(s *ast.AlterStream) error {
	t := p.cur()
	n, err := strconv.Atoi(t.text)
	if t.kind != tokInteger || err != nil {
		return p.errorHere()
	}
	p.at++
	s.Partition = n
	switch {
	case p.acceptWord("offline"):
		s.Action = ast.PartitionOffline
	case p.acceptWord("online"):
		s.Action = ast.PartitionOnline
	default:
		return p.errorHere()
	}
	return nil
}

// alterOptions parses SET (options) and RESET (names).
func (p *parser) alterOptions() (ast.AlterAction, []ast.Option, error) {
	action := ast.SetOptions
	if p.next().text == "reset" {
		action = ast.ResetOptions
	}
	options, err := p.optionList()
	return action, options, err
}

func (p *parser) alterContinuousView(t *token) (ast.Statement, error) {
	s := &ast.AlterContinuousView{Pos: ast.Pos(t.char)}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	switch {
	case p.isWord("set", "reset"):
		s.Action, s.Options, err = p.alterOptions()
	case p.acceptWord("upgrade"):
		s.Action = ast.UpgradeView
		if err := p.expectWord("as"); err != nil {
			return nil, err
		}
		s.Query, s.Source, err = p.parseQuerySource()
	case p.acceptWord("promote"):
		s.Action = ast.PromoteView
	case p.acceptWord("rollback"):
		s.Action = ast.RollbackView
	case p.acceptWords("rename", "to"):
		s.Action = ast.RenameTo
		s.NewName, err = p.simpleName()
	default:
		return nil, p.errorHere()
	}
	return s, err
}
