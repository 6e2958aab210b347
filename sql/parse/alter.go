package parse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// alter parses ALTER TABLE, ALTER STREAM, ALTER CONTINUOUS VIEW and ALTER ROLE.
func (p *parser) alter(t *token) (ast.Statement, error) {
	switch {
	case p.acceptWord("stream"):
		return p.alterStream(t)
	case p.acceptWords("continuous", "view"):
		return p.alterContinuousView(t)
	case p.acceptWords("materialized", "view"):
		return p.alterTable(t, ast.MaterializedObject)
	case p.acceptWord("schema"):
		return p.alterSchema(t)
	case p.acceptWord("type"):
		return p.alterType(t)
	case p.acceptWord("domain"):
		return p.alterDomain(t)
	case p.roleWord():
		return p.alterRole(t)
	case p.acceptWord("database"):
		return p.alterDatabase(t)
	}
	for _, kind := range []ast.ObjectKind{ast.TableObject, ast.ViewObject, ast.SequenceObject, ast.IndexObject} {
		if p.acceptWord(strings.ToLower(string(kind))) {
			return p.alterTable(t, kind)
		}
	}
	if p.isWord("system", "default", "function", "extension", "policy", "operator", "aggregate", "collation") {
		return nil, unsupported(p.cur(), "ALTER "+upper(p.cur().text))
	}
	return nil, p.errorHere()
}

// alterSchema parses ALTER SCHEMA name RENAME TO name and OWNER TO name.
func (p *parser) alterSchema(t *token) (ast.Statement, error) {
	s := &ast.AlterSchema{Pos: ast.Pos(t.char)}
	var err error
	if s.Name, err = p.simpleName(); err != nil {
		return nil, err
	}
	switch {
	case p.acceptWords("rename", "to"):
		s.Action = ast.RenameTo
	case p.acceptWords("owner", "to"):
		s.Action = ast.SetOwner
	default:
		return nil, p.errorHere()
	}
	s.NewName, err = p.label()
	return s, err
}

func (p *parser) alterTable(t *token, kind ast.ObjectKind) (ast.Statement, error) {
	s := &ast.AlterTable{Pos: ast.Pos(t.char), Kind: kind}
	var err error
	if s.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	p.acceptWord("only")
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	err = p.commaList(func() (err error) {
		c := ast.TableChange{Pos: p.pos()}
		if start := p.at; kind == ast.SequenceObject {
			if c.Sequence, err = p.sequenceOptions(); err != nil {
				return err
			}
			if p.at > start {
				c.Action = ast.SequenceChange
				s.Changes = append(s.Changes, c)
				return nil
			}
		}
		first := p.cur()
		err = p.tableChange(&c)
		if alone := standsAlone(c.Action); err == nil && alone && len(s.Changes) > 0 {
			return syntaxError(p.src, first)
		} else if err == nil && alone && p.isPunct(",") {
			return p.errorHere()
		}
		s.Changes = append(s.Changes, c)
		return err
	})
	return s, err
}

// standsAlone reports whether a change is the only one of its statement.
func standsAlone(a ast.AlterAction) bool {
	return a == ast.RenameTo || a == ast.RenameColumn || a == ast.RenameConstraint || a == ast.SetSchema
}

// tableChange parses one change of ALTER TABLE.
func (p *parser) tableChange(c *ast.TableChange) (err error) {
	first := p.cur()
	switch {
	case p.acceptWord("add") && p.isWord("constraint", "primary", "unique", "check", "foreign", "exclude"):
		c.Action = ast.AddConstraint
		var own ast.Constraint
		own, err = p.tableConstraint()
		c.Constraint = &own
		return err
	case first.isWord("add"):
		return p.alterAddColumn(c)
	case p.acceptWords("drop", "constraint"):
		c.Action = ast.DropConstraint
		return p.droppedName(c)
	case p.acceptWord("drop"):
		c.Action = ast.DropColumn
		p.acceptWord("column")
		return p.droppedName(c)
	case p.acceptWord("validate"):
		c.Action = ast.ValidateConstraint
		if err := p.expectWord("constraint"); err != nil {
			return err
		}
		c.OldName, err = p.simpleName()
		return err
	case p.acceptWords("alter", "constraint"):
		return p.alterConstraint(c)
	case p.acceptWords("rename", "constraint"):
		c.Action = ast.RenameConstraint
		return p.renamed(c)
	case p.acceptWord("rename"):
		return p.alterRename(c)
	case p.acceptWord("alter"):
		return p.alterColumn(c)
	case p.acceptWords("owner", "to"):
		c.Action = ast.SetOwner
		c.NewName, err = p.label()
		return err
	case p.acceptWords("set", "schema"):
		c.Action = ast.SetSchema
		c.NewName, err = p.simpleName()
		return err
	case p.isWord("set", "reset") && p.peek(1).isPunct("("):
		c.Action, c.Options, err = p.alterOptions()
		return err
	case first.isWord("set") && p.peek(1).isWord("tablespace", "logged", "unlogged", "without", "access"),
		first.isWord("enable", "disable", "inherit", "no", "of", "not", "force", "cluster", "replica", "attach", "detach"):
		return unsupported(first, "this form of ALTER TABLE")
	}
	return p.errorHere()
}

// renamed parses name TO name.
func (p *parser) renamed(s *ast.TableChange) (err error) {
	if s.OldName, err = p.simpleName(); err != nil {
		return err
	}
	if err := p.expectWord("to"); err != nil {
		return err
	}
	s.NewName, err = p.simpleName()
	return err
}

// alterConstraint parses when a foreign key is checked from now on.
func (p *parser) alterConstraint(s *ast.TableChange) (err error) {
	s.Action = ast.AlterConstraint
	s.Constraint = &ast.Constraint{Pos: p.pos(), Kind: ast.ForeignKeyConstraint}
	if s.OldName, err = p.simpleName(); err != nil {
		return err
	}
	for p.isConstraintTime() {
		if err := p.constraintTime(s.Constraint); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) alterAddColumn(s *ast.TableChange) (err error) {
	s.Action = ast.AddColumn
	p.acceptWord("column")
	if s.IfColumn, err = p.ifNotExists(); err != nil {
		return err
	}
	c, err := p.columnDef()
	s.Column = &c
	return err
}

// droppedName parses [IF EXISTS] name [CASCADE].
func (p *parser) droppedName(s *ast.TableChange) (err error) {
	if s.IfColumn, err = p.ifExists(); err != nil {
		return err
	}
	s.OldName, err = p.simpleName()
	s.Cascade = p.cascade()
	return err
}

func (p *parser) alterRename(s *ast.TableChange) (err error) {
	if !p.acceptWord("to") {
		s.Action = ast.RenameColumn
		p.acceptWord("column")
		return p.renamed(s)
	}
	s.Action = ast.RenameTo
	s.NewName, err = p.simpleName()
	return err
}

// valueRule parses SET|DROP DEFAULT|NOT NULL, of a column or a domain; the action is 0
// where something else stands.
func (p *parser) valueRule() (action ast.AlterAction, value ast.Expr, err error) {
	switch {
	case p.acceptWords("set", "default"):
		value, err = p.parseExpr(0)
		return ast.SetDefault, value, err
	case p.acceptWords("drop", "default"):
		return ast.DropDefault, nil, nil
	case p.acceptWords("set", "not", "null"):
		return ast.SetNotNull, nil, nil
	case p.acceptWords("drop", "not", "null"):
		return ast.DropNotNull, nil, nil
	}
	return 0, nil, nil
}

// alterColumn parses [COLUMN] name and what becomes of it.
func (p *parser) alterColumn(s *ast.TableChange) (err error) {
	first := p.cur()
	p.acceptWord("column")
	if s.OldName, err = p.simpleName(); err != nil {
		return err
	}
	action, value, err := p.valueRule()
	if err != nil {
		return err
	}
	switch {
	case action != 0:
		s.Action, s.Expr = action, value
	case p.acceptWord("type"), p.acceptWords("set", "data", "type"):
		s.Action = ast.SetType
		if s.Type, err = p.typeName(); err == nil && p.acceptWord("using") {
			s.Expr, err = p.parseExpr(0)
		}
	case p.isWord("restart", "reset") || p.isWord("drop") && p.peek(1).isWord("identity", "expression") ||
		p.isWord("add") && p.peek(1).isWord("generated") ||
		p.isWord("set") && (p.peek(1).isWord("statistics", "storage", "compression", "generated", "increment", "cycle", "no", "start", "cache", "minvalue", "maxvalue") || p.peek(1).isPunct("(")):
		return unsupported(first, "this form of ALTER TABLE")
	default:
		return p.errorHere()
	}
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
	if err == nil && action == ast.ResetOptions && slices.ContainsFunc(options, func(o ast.Option) bool { return o.Value != nil }) {
		err = sqlerr.New(sqlerr.SyntaxError, "RESET must not include values for parameters")
	}
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
