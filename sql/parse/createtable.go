package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// create parses the statements that start with CREATE.
func (p *parser) create(t *token) (ast.Statement, error) {
	orReplace := p.acceptWords("or", "replace")
	scoped := p.acceptWord("global", "local")
	temporary := p.acceptWord("temp", "temporary")
	if scoped && !temporary {
		return nil, p.errorHere()
	}
	unlogged := p.acceptWord("unlogged")
	switch {
	case p.acceptWord("view"):
		return p.createView(t, orReplace, temporary)
	case p.acceptWords("recursive", "view"):
		return p.createRecursiveView(t, orReplace, temporary)
	case p.acceptWords("continuous", "view"):
		return p.createContinuousView(t, orReplace)
	case orReplace:
		return nil, p.errorHere()
	case p.acceptWords("materialized", "view"):
		return p.createMaterialized(t, temporary)
	case p.acceptWord("table"):
		return p.createTable(t, temporary, unlogged)
	case p.acceptWord("sequence"):
		return p.createSequence(t, temporary)
	case temporary || unlogged:
		return nil, p.errorHere()
	case p.isWord("index") || p.isWords("unique", "index"):
		return p.createIndex(t)
	case p.acceptWord("stream"):
		return p.createStream(t)
	case p.acceptWord("sink"):
		return p.createSink(t)
	case p.acceptWord("schema"):
		return p.createSchema(t)
	case p.acceptWord("database"):
		return p.createDatabase(t)
	case p.isWord("role", "user", "group") && !p.peek(1).isWord("mapping"):
		return p.createRole(t, p.next().text)
	case p.acceptWord("type"):
		return p.createType(t)
	case p.acceptWord("domain"):
		return p.createDomain(t)
	case p.isWord("function", "procedure", "trigger",
		"extension", "user", "aggregate", "operator", "rule", "policy", "publication",
		"subscription", "collation", "cast", "server", "foreign", "tablespace", "event", "language"):
		return nil, unsupported(p.cur(), "CREATE "+upper(p.cur().text))
	}
	return nil, p.errorHere()
}

// createTable parses CREATE TABLE name (columns) or AS query.
func (p *parser) createTable(t *token, temporary, unlogged bool) (ast.Statement, error) {
	s := &ast.CreateTable{Pos: ast.Pos(t.char), Temporary: temporary, Unlogged: unlogged}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.isPunct("(") && !p.isColumnNameList() {
		elements := tableElements{}
		if err := p.tableElements(&elements, false); err != nil {
			return nil, err
		}
		s.Columns, s.Constraints = elements.columns, elements.constraints
		if p.isWord("inherits", "partition", "using") {
			return nil, unsupported(p.cur(), "this clause of CREATE TABLE")
		}
		if s.Options, err = p.withOptions(); err != nil {
			return nil, err
		}
		if s.OnCommit, err = p.onCommit(); err == nil && p.isWord("tablespace") {
			err = unsupported(p.cur(), "TABLESPACE")
		}
		return s, err
	}
	if p.isPunct("(") {
		if s.ColumnNames, err = p.columnNames(); err != nil {
			return nil, err
		}
	}
	return s, p.asQuery(s)
}

// onCommit parses [ON COMMIT PRESERVE ROWS|DELETE ROWS|DROP].
func (p *parser) onCommit() (ast.OnCommit, error) {
	switch {
	case !p.acceptWords("on", "commit"):
		return ast.OnCommitUnset, nil
	case p.acceptWords("preserve", "rows"):
		return ast.OnCommitPreserve, nil
	case p.acceptWords("delete", "rows"):
		return ast.OnCommitDelete, nil
	case p.acceptWord("drop"):
		return ast.OnCommitDrop, nil
	}
	return ast.OnCommitUnset, p.errorHere()
}

// createMaterialized parses CREATE MATERIALIZED VIEW.
func (p *parser) createMaterialized(t *token, temporary bool) (ast.Statement, error) {
	s := &ast.CreateTable{Pos: ast.Pos(t.char), Materialized: true}
	if temporary {
		return nil, p.errorHere()
	}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.isPunct("(") {
		if s.ColumnNames, err = p.columnNames(); err != nil {
			return nil, err
		}
	}
	return s, p.asQuery(s)
}

// asQuery parses [WITH (options)] [ON COMMIT ...] AS query [WITH [NO] DATA].
func (p *parser) asQuery(s *ast.CreateTable) (err error) {
	if s.Options, err = p.withOptions(); err != nil {
		return err
	}
	if !s.Materialized {
		if s.OnCommit, err = p.onCommit(); err != nil {
			return err
		}
	}
	if err := p.expectWord("as"); err != nil {
		return err
	}
	if t := p.cur(); !s.Materialized && p.acceptWord("execute") {
		x, err := p.execute(t)
		if err != nil {
			return err
		}
		s.Execute = x.(*ast.Execute)
	} else if s.As, s.Source, err = p.parseQuerySource(); err != nil {
		return err
	}
	s.WithNoData = p.withNoData()
	return nil
}

// withNoData reads [WITH [NO] DATA].
func (p *parser) withNoData() bool {
	if p.acceptWords("with", "no", "data") {
		return true
	}
	p.acceptWords("with", "data")
	return false
}

// refresh parses REFRESH MATERIALIZED VIEW.
func (p *parser) refresh(t *token) (ast.Statement, error) {
	s := &ast.Refresh{Pos: ast.Pos(t.char)}
	if err := p.expectWords("materialized", "view"); err != nil {
		return nil, err
	}
	s.Concurrently = p.acceptWord("concurrently")
	var err error
	s.Name, err = p.objectName()
	s.WithNoData = p.withNoData()
	return s, err
}

// isColumnNameList tells (a, b) AS query from (a int, b int).
func (p *parser) isColumnNameList() bool {
	return p.peek(1).isColumnID() && (p.peek(2).isPunct(",") || p.peek(2).isPunct(")"))
}

// tableElements are what stands in the parentheses of CREATE TABLE and CREATE STREAM.
type tableElements struct {
	columns     []ast.ColumnDef
	constraints []ast.Constraint
	watermark   *ast.Watermark
}

func (p *parser) tableElements(e *tableElements, stream bool) error {
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if p.acceptPunct(")") {
		return nil
	}
	err := p.commaList(func() error {
		switch {
		case stream && p.isWords("watermark", "for"):
			return p.watermark(e)
		case p.isWord("constraint", "primary", "unique", "check", "foreign", "exclude"):
			c, err := p.tableConstraint()
			e.constraints = append(e.constraints, c)
			return err
		case p.isWord("like"):
			if stream {
				return unsupported(p.cur(), "LIKE in CREATE STREAM")
			}
			like, err := p.tableLike()
			e.columns = append(e.columns, ast.ColumnDef{Pos: like.Pos, Like: like})
			return err
		}
		c, err := p.columnDef()
		e.columns = append(e.columns, c)
		return err
	})
	if err != nil {
		return err
	}
	return p.expectPunct(")")
}

// likeParts are what of a table LIKE may include.
var likeParts = []string{"all", "comments", "compression", "constraints", "defaults", "generated", "identity", "indexes", "statistics", "storage"}

// tableLike parses LIKE name [INCLUDING|EXCLUDING what ...].
func (p *parser) tableLike() (*ast.TableLike, error) {
	like := &ast.TableLike{Pos: p.pos()}
	p.at++
	var err error
	if like.Name, err = p.objectName(); err != nil {
		return like, err
	}
	for p.isWord("including", "excluding") {
		o := ast.LikeOption{Exclude: p.isWord("excluding")}
		p.at++
		if !p.isWord(likeParts...) {
			return like, p.errorHere()
		}
		o.What = p.cur().text
		p.at++
		like.Options = append(like.Options, o)
	}
	return like, nil
}

// columnDef parses name type [constraints].
func (p *parser) columnDef() (ast.ColumnDef, error) {
	c := ast.ColumnDef{Pos: p.pos()}
	var err error
	if c.Name, err = p.simpleName(); err != nil {
		return c, err
	}
	if c.Type, err = p.typeName(); err != nil {
		return c, err
	}
	for {
		done, err := p.columnConstraint(&c)
		if done || err != nil {
			return c, err
		}
	}
}

// columnConstraint parses one constraint; true where none follows.
func (p *parser) columnConstraint(c *ast.ColumnDef) (done bool, err error) {
	own := ast.Constraint{Pos: p.pos(), Columns: []ast.Identifier{{Pos: c.Pos, Name: c.Name}}}
	if p.acceptWord("constraint") {
		if own.Name, err = p.simpleName(); err != nil {
			return false, err
		}
	}
	switch {
	case len(c.Constraints) > 0 && p.isConstraintTime():
		return false, p.constraintTime(&c.Constraints[len(c.Constraints)-1])
	case p.acceptWords("not", "null"):
		c.NotNull = true
	case p.acceptWord("null"):
	case p.acceptWord("unique"):
		own.Kind = ast.UniqueConstraint
		if own.NullsEqual, err = p.nullsEqual(); err != nil {
			return false, err
		}
		c.Constraints = append(c.Constraints, own)
	case p.isWord("primary"):
		c.PrimaryKey, c.KeyName = true, own.Name
		err = p.expectWords("primary", "key")
	case p.acceptWord("default"):
		c.Default, err = p.parseExpr(levelOperator)
	case p.acceptWord("check"):
		own.Kind, own.Columns = ast.CheckConstraint, nil
		own.Check, err = p.parenthesisedExpr()
		c.Constraints = append(c.Constraints, own)
	case p.acceptWord("generated"):
		c.Identity, err = p.identity()
	case p.acceptWord("collate"):
		var name ast.ObjectName
		name, err = p.objectName()
		c.Collation = &name
	case p.isWord("references"):
		own.Kind = ast.ForeignKeyConstraint
		own.References, err = p.references()
		c.Constraints = append(c.Constraints, own)
	default:
		return true, nil
	}
	return false, err
}

func (p *parser) parenthesisedExpr() (ast.Expr, error) {
	if err := p.expectPunct("("); err != nil {
		return nil, err
	}
	e, err := p.parseExpr(0)
	if err != nil {
		return nil, err
	}
	return e, p.expectPunct(")")
}

// tableConstraint parses [CONSTRAINT name] PRIMARY KEY|UNIQUE|CHECK|FOREIGN KEY.
func (p *parser) tableConstraint() (ast.Constraint, error) {
	c := ast.Constraint{Pos: p.pos()}
	var err error
	if p.acceptWord("constraint") {
		if c.Name, err = p.simpleName(); err != nil {
			return c, err
		}
	}
	switch {
	case p.isWord("primary"):
		c.Kind = ast.PrimaryKeyConstraint
		if err := p.expectWords("primary", "key"); err != nil {
			return c, err
		}
		err = p.keyColumns(&c)
	case p.acceptWord("unique"):
		c.Kind = ast.UniqueConstraint
		if c.NullsEqual, err = p.nullsEqual(); err != nil {
			return c, err
		}
		err = p.keyColumns(&c)
	case p.acceptWord("check"):
		c.Kind = ast.CheckConstraint
		c.Check, err = p.parenthesisedExpr()
	case p.acceptWord("foreign"):
		c.Kind = ast.ForeignKeyConstraint
		if err := p.expectWord("key"); err != nil {
			return c, err
		}
		if c.Columns, err = p.columnNames(); err == nil {
			c.References, err = p.references()
		}
	case p.isWord("exclude"):
		return c, unsupported(p.cur(), "this constraint")
	default:
		return c, p.errorHere()
	}
	for err == nil && p.isConstraintTime() {
		err = p.constraintTime(&c)
	}
	return c, err
}

// keyColumns parses the columns of a key, or USING INDEX name.
func (p *parser) keyColumns(c *ast.Constraint) (err error) {
	if !c.NullsEqual && p.acceptWords("using", "index") {
		c.UsingIndex, err = p.simpleName()
		return err
	}
	c.Columns, err = p.columnNames()
	return err
}
