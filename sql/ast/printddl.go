package ast

import (
	"strconv"
	"strings"
)

func (p *printer) ifNotExists(is bool) {
	if is {
		p.write("IF NOT EXISTS ")
	}
}

func (p *printer) ifExists(is bool) {
	if is {
		p.write("IF EXISTS ")
	}
}

func (p *printer) orReplace(is bool) {
	if is {
		p.write("OR REPLACE ")
	}
}

func (p *printer) create(s Statement) {
	p.write("CREATE ")
	switch x := s.(type) {
	case *CreateTable:
		p.createTable(x)
	case *CreateStream:
		p.write("STREAM ")
		p.ifNotExists(x.IfNotExists)
		p.name(x.Name)
		p.elements(x.Columns, x.Constraints, x.Watermark)
		p.withOptions(x.Options)
	case *CreateView:
		p.orReplace(x.OrReplace)
		if x.Temporary {
			p.write("TEMPORARY ")
		}
		p.write("VIEW ")
		p.viewHead(x.Name, x.Columns, x.Options)
		p.query(x.Query)
	case *CreateContinuousView:
		p.orReplace(x.OrReplace)
		p.write("CONTINUOUS VIEW ")
		p.ifNotExists(x.IfNotExists)
		p.viewHead(x.Name, x.Columns, x.Options)
		p.query(x.Query)
		p.write([]string{"", " EMIT ON WINDOW CLOSE", " EMIT CHANGES"}[x.Emit])
	case *CreateSink:
		p.createSink(x)
	case *CreateSchema:
		p.write("SCHEMA ")
		p.ifNotExists(x.IfNotExists)
		if x.Name != "" {
			p.ident(x.Name)
		}
		if x.Name != "" && x.Owner != "" {
			p.write(" ")
		}
		if x.Owner != "" {
			p.write("AUTHORIZATION ")
			p.roleWord(x.Owner)
		}
	case *CreateSequence:
		if x.Temporary {
			p.write("TEMPORARY ")
		}
		p.write("SEQUENCE ")
		p.ifNotExists(x.IfNotExists)
		p.name(x.Name)
		p.sequenceOptions(x.Options)
	case *CreateIndex:
		p.createIndex(x)
	}
}

func (p *printer) viewHead(name ObjectName, columns []Identifier, options []Option) {
	p.name(name)
	if len(columns) > 0 {
		p.write(" ")
		p.idents(columns)
	}
	p.withOptions(options)
	p.write(" AS ")
}

var onCommitTexts = [...]string{
	OnCommitUnset: "", OnCommitPreserve: " ON COMMIT PRESERVE ROWS", OnCommitDelete: " ON COMMIT DELETE ROWS", OnCommitDrop: " ON COMMIT DROP",
}

func (p *printer) createTable(x *CreateTable) {
	if x.Temporary {
		p.write("TEMPORARY ")
	}
	if x.Unlogged {
		p.write("UNLOGGED ")
	}
	if x.Materialized {
		p.write("MATERIALIZED VIEW ")
	} else {
		p.write("TABLE ")
	}
	p.ifNotExists(x.IfNotExists)
	p.name(x.Name)
	if x.As == nil && x.Execute == nil {
		p.elements(x.Columns, x.Constraints, nil)
		p.withOptions(x.Options)
		p.write(onCommitTexts[x.OnCommit])
		return
	}
	if len(x.ColumnNames) > 0 {
		p.write(" ")
		p.idents(x.ColumnNames)
	}
	p.withOptions(x.Options)
	p.write(onCommitTexts[x.OnCommit])
	p.write(" AS ")
	if x.Execute != nil {
		p.statement(x.Execute)
	} else {
		p.query(x.As)
	}
	if x.WithNoData {
		p.write(" WITH NO DATA")
	}
}

// elements writes what stands in the parentheses of CREATE TABLE and CREATE STREAM.
func (p *printer) elements(columns []ColumnDef, constraints []Constraint, w *Watermark) {
	p.write(" (")
	sep := ""
	for i := range columns {
		p.write(sep)
		p.columnDef(&columns[i])
		sep = ", "
	}
	for i := range constraints {
		p.write(sep)
		p.constraint(&constraints[i])
		sep = ", "
	}
	if w != nil {
		p.write(sep, "WATERMARK FOR ")
		p.ident(w.Column.Name)
		p.write(" AS ")
		p.expr(w.Expr)
	}
	p.write(")")
}

func (p *printer) columnDef(c *ColumnDef) {
	if c.Like != nil {
		p.write("LIKE ")
		p.name(c.Like.Name)
		for _, o := range c.Like.Options {
			p.write(map[bool]string{true: " EXCLUDING ", false: " INCLUDING "}[o.Exclude], strings.ToUpper(o.What))
		}
		return
	}
	p.ident(c.Name)
	p.write(" ")
	p.typeName(c.Type)
	if c.Collation != nil {
		p.write(" COLLATE ")
		p.name(*c.Collation)
	}
	if c.KeyName != "" {
		p.write(" CONSTRAINT ")
		p.ident(c.KeyName)
	}
	if c.PrimaryKey {
		p.write(" PRIMARY KEY")
	}
	if c.NotNull {
		p.write(" NOT NULL")
	}
	if c.Default != nil {
		p.write(" DEFAULT ")
		p.operand(c.Default)
	}
	if c.Identity != nil {
		p.write(" GENERATED ", map[bool]string{true: "ALWAYS", false: "BY DEFAULT"}[c.Identity.Always], " AS IDENTITY")
		if c.Identity.Options != (SequenceOptions{}) {
			p.write(" (")
			p.sequenceOptions(c.Identity.Options)
			p.write(")")
		}
	}
	for i := range c.Constraints {
		p.write(" ")
		own := c.Constraints[i]
		own.Columns = nil
		p.constraint(&own)
	}
}

func (p *printer) sequenceOptions(o SequenceOptions) {
	if o.Type != nil {
		p.write(" AS ")
		p.typeName(o.Type)
	}
	for _, v := range []struct {
		name  string
		value *int64
	}{{"START", o.Start}, {"INCREMENT", o.Increment}, {"MINVALUE", o.Min}, {"MAXVALUE", o.Max}} {
		if v.value != nil {
			p.write(" ", v.name, " ", strconv.FormatInt(*v.value, 10))
		}
	}
	for _, v := range []struct {
		name string
		is   bool
	}{{"NO MINVALUE", o.NoMin}, {"NO MAXVALUE", o.NoMax}, {"CYCLE", o.Cycle == Yes}, {"NO CYCLE", o.Cycle == No}, {"RESTART", o.Restart}} {
		if v.is {
			p.write(" ", v.name)
		}
	}
	if o.RestartWith != nil {
		p.write(" ", strconv.FormatInt(*o.RestartWith, 10))
	}
	if o.OwnedBy != nil {
		p.write(" OWNED BY ")
		p.name(*o.OwnedBy)
	}
}

func (p *printer) createIndex(x *CreateIndex) {
	if x.Unique {
		p.write("UNIQUE ")
	}
	p.write("INDEX ")
	p.ifNotExists(x.IfNotExists)
	if x.Name != "" {
		p.ident(x.Name)
		p.write(" ")
	}
	p.write("ON ")
	p.name(x.Table)
	p.write(" ")
	if x.Method != "" {
		p.write("USING ")
		p.ident(x.Method)
		p.write(" ")
	}
	p.indexKeys(x.Keys)
	if x.NullsEqual {
		p.write(" NULLS NOT DISTINCT")
	}
	p.where(" WHERE ", x.Where)
}

func (p *printer) indexKeys(keys []IndexKey) {
	p.write("(")
	p.list(len(keys), func(i int) {
		if keys[i].Expr == nil {
			p.ident(keys[i].Column.Name)
		} else {
			p.write("(")
			p.expr(keys[i].Expr)
			p.write(")")
		}
		if keys[i].Collation != nil {
			p.write(" COLLATE ")
			p.name(*keys[i].Collation)
		}
	})
	p.write(")")
}

func (p *printer) constraintName(name string) {
	if name != "" {
		p.write("CONSTRAINT ")
		p.ident(name)
		p.write(" ")
	}
}

func (p *printer) constraint(c *Constraint) {
	p.constraintName(c.Name)
	switch c.Kind {
	case PrimaryKeyConstraint:
		p.write("PRIMARY KEY ")
		if c.UsingIndex == "" {
			p.idents(c.Columns)
		}
	case UniqueConstraint:
		p.write("UNIQUE")
		if c.NullsEqual {
			p.write(" NULLS NOT DISTINCT")
		}
		if len(c.Columns) > 0 || c.UsingIndex != "" {
			p.write(" ")
		}
		if len(c.Columns) > 0 {
			p.idents(c.Columns)
		}
	case CheckConstraint:
		p.write("CHECK (")
		p.expr(c.Check)
		p.write(")")
	case ForeignKeyConstraint:
		if len(c.Columns) > 0 {
			p.write("FOREIGN KEY ")
			p.idents(c.Columns)
			p.write(" ")
		}
		p.references(c.References)
	}
	if c.UsingIndex != "" {
		p.write("USING INDEX ")
		p.ident(c.UsingIndex)
	}
	p.constraintTimes(c)
}

func (p *printer) references(r *References) {
	p.write("REFERENCES ")
	p.name(r.Table)
	if len(r.Columns) > 0 {
		p.write(" ")
		p.idents(r.Columns)
	}
	if r.MatchFull {
		p.write(" MATCH FULL")
	}
	if r.OnUpdate != NoAction {
		p.write(" ON UPDATE ", string(r.OnUpdate))
	}
	if r.OnDelete != NoAction {
		p.write(" ON DELETE ", string(r.OnDelete))
	}
	if len(r.SetColumns) > 0 {
		p.write(" ")
		p.idents(r.SetColumns)
	}
}

// constraintTimes writes when a constraint is checked.
func (p *printer) constraintTimes(c *Constraint) {
	p.write(map[Choice]string{Yes: " DEFERRABLE", No: " NOT DEFERRABLE"}[c.Deferrable])
	p.write(map[Choice]string{Yes: " INITIALLY DEFERRED", No: " INITIALLY IMMEDIATE"}[c.Deferred])
	if c.NotValid {
		p.write(" NOT VALID")
	}
}

func (p *printer) createSink(x *CreateSink) {
	p.write("SINK ")
	p.ifNotExists(x.IfNotExists)
	p.name(x.Name)
	if x.From != nil {
		p.write(" FROM ")
	} else {
		p.write(" AS ")
	}
	p.relationOrQuery(x.From, x.Query)
	p.write(" INTO ")
	p.ident(x.Kind)
	if len(x.Target) > 0 {
		p.write(" (")
		p.options(x.Target)
		p.write(")")
	}
	p.withOptions(x.Options)
}

func (p *printer) drop(x *Drop) {
	p.write("DROP ", string(x.Kind), " ")
	p.ifExists(x.IfExists)
	p.list(len(x.Names), func(i int) { p.name(x.Names[i]) })
	p.cascade(x.Cascade)
}

func (p *printer) alterTable(x *AlterTable) {
	p.write("ALTER ", string(x.Kind), " ")
	p.ifExists(x.IfExists)
	p.name(x.Name)
	p.list(len(x.Changes), func(i int) { p.tableChange(&x.Changes[i]) })
}

func (p *printer) tableChange(x *TableChange) {
	switch x.Action {
	case AddColumn:
		p.write(" ADD COLUMN ")
		p.ifNotExists(x.IfColumn)
		p.columnDef(x.Column)
	case DropColumn, DropConstraint:
		p.write(map[AlterAction]string{DropColumn: " DROP COLUMN ", DropConstraint: " DROP CONSTRAINT "}[x.Action])
		p.ifExists(x.IfColumn)
		p.ident(x.OldName)
		p.cascade(x.Cascade)
	case RenameColumn:
		p.write(" RENAME COLUMN ")
		p.ident(x.OldName)
		p.write(" TO ")
		p.ident(x.NewName)
	case RenameConstraint:
		p.write(" RENAME CONSTRAINT ")
		p.ident(x.OldName)
		p.write(" TO ")
		p.ident(x.NewName)
	case RenameTo, SetOwner, SetSchema:
		p.write(map[AlterAction]string{RenameTo: " RENAME TO ", SetOwner: " OWNER TO ", SetSchema: " SET SCHEMA "}[x.Action])
		p.ident(x.NewName)
	case SetOptions, ResetOptions:
		p.alterAction(x.Action, x.Options, "")
	case SequenceChange:
		p.sequenceOptions(x.Sequence)
	case AddConstraint:
		p.write(" ADD ")
		p.constraint(x.Constraint)
	case ValidateConstraint, AlterConstraint:
		p.write(map[AlterAction]string{ValidateConstraint: " VALIDATE CONSTRAINT ", AlterConstraint: " ALTER CONSTRAINT "}[x.Action])
		p.ident(x.OldName)
		if x.Constraint != nil {
			p.constraintTimes(x.Constraint)
		}
	default:
		p.write(" ALTER COLUMN ")
		p.ident(x.OldName)
		p.columnChange(x)
	}
}

func (p *printer) columnChange(x *TableChange) {
	switch x.Action {
	case SetDefault:
		p.write(" SET DEFAULT ")
		p.operand(x.Expr)
	case DropDefault:
		p.write(" DROP DEFAULT")
	case SetNotNull:
		p.write(" SET NOT NULL")
	case DropNotNull:
		p.write(" DROP NOT NULL")
	case SetType:
		p.write(" TYPE ")
		p.typeName(x.Type)
		if x.Expr != nil {
			p.write(" USING ")
			p.expr(x.Expr)
		}
	}
}

func (p *printer) alterStream(x *AlterStream) {
	p.write("ALTER STREAM ")
	p.ifExists(x.IfExists)
	p.name(x.Name)
	switch x.Action {
	case PartitionOffline:
		p.write(" PARTITION ", strconv.Itoa(x.Partition), " OFFLINE")
	case PartitionOnline:
		p.write(" PARTITION ", strconv.Itoa(x.Partition), " ONLINE")
	case AddColumn:
		p.write(" ADD COLUMN ")
		p.columnDef(x.Column)
	default:
		p.alterAction(x.Action, x.Options, x.NewName)
	}
}

func (p *printer) alterContinuousView(x *AlterContinuousView) {
	p.write("ALTER CONTINUOUS VIEW ")
	p.ifExists(x.IfExists)
	p.name(x.Name)
	switch x.Action {
	case UpgradeView:
		p.write(" UPGRADE AS ")
		p.query(x.Query)
	case PromoteView:
		p.write(" PROMOTE")
	case RollbackView:
		p.write(" ROLLBACK")
	default:
		p.alterAction(x.Action, x.Options, x.NewName)
	}
}

func (p *printer) alterAction(a AlterAction, options []Option, newName string) {
	switch a {
	case SetOptions:
		p.write(" SET (")
	case ResetOptions:
		p.write(" RESET (")
	case RenameTo:
		p.write(" RENAME TO ")
		p.ident(newName)
		return
	}
	p.options(options)
	p.write(")")
}

func (p *printer) refresh(x *Refresh) {
	p.write("REFRESH MATERIALIZED VIEW ")
	if x.Concurrently {
		p.write("CONCURRENTLY ")
	}
	p.name(x.Name)
	if x.WithNoData {
		p.write(" WITH NO DATA")
	}
}

func (p *printer) commentOn(x *CommentOn) {
	p.write("COMMENT ON ", string(x.Kind), " ")
	if x.Kind == ConstraintObject {
		p.ident(x.Constraint)
		p.write(" ON ")
		if x.OfDomain {
			p.write("DOMAIN ")
		}
	}
	p.name(x.Name)
	p.write(" IS ")
	if x.Comment == nil {
		p.write("NULL")
	} else {
		p.write(QuoteString(*x.Comment))
	}
}
