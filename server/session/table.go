package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// columnsOf binds column definitions of a stream. A primary key makes its columns not
// null; other constraints there are none.
func columnsOf(env *bind.Env, defs []ast.ColumnDef, constraints []ast.Constraint) ([]types.Column, error) {
	var cols []types.Column
	for _, d := range defs {
		t, err := bind.TypeOf(env, d.Type)
		if err != nil {
			return nil, err
		}
		if t.Domain() != 0 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "columns of streams cannot be of a domain").
				WithDetail("Events do not change when the domain's constraints do.").
				WithHint("Use the type that the domain is over.").At(d.Type.Position())
		}
		if err := bind.CheckCollation(d.Collation, t); err != nil {
			return nil, err
		}
		constraints = append(constraints, d.Constraints...)
		if d.Identity != nil {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "streams have no identity columns").At(d.Position())
		}
		cols = append(cols, types.Column{Name: d.Name, Type: t, NotNull: d.NotNull || d.PrimaryKey})
	}
	for _, c := range constraints {
		if c.Kind != ast.PrimaryKeyConstraint {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s", streamConstraint(c.Kind)).At(c.Position())
		}
		for _, n := range c.Columns {
			i := (&types.Schema{Columns: cols}).Index(n.Name)
			if i < 0 {
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", n.Name).At(n.Position())
			}
			cols[i].NotNull = true
		}
	}
	return cols, checkColumns(cols)
}

// streamConstraint says why a stream does not have a constraint.
func streamConstraint(k ast.ConstraintKind) string {
	if k == ast.ForeignKeyConstraint {
		return "streams cannot have foreign keys: their events are facts, whatever a table says later"
	}
	return "CHECK and UNIQUE constraints of streams are not supported"
}

// defaultsOf returns the text of the columns' defaults.
func (s *Session) defaultsOf(defs []ast.ColumnDef) map[int]string {
	out := map[int]string{}
	for i, d := range defs {
		if d.Default != nil {
			out[i] = s.storedText(d.Default)
		}
	}
	return out
}

// createTable runs CREATE TABLE and CREATE TABLE AS.
func (s *Session) createTable(ctx context.Context, x *ast.CreateTable, out *sink) (string, error) {
	schema, name, err := s.newTable(x)
	if err != nil {
		return "", err
	}
	if done, err := s.exists(schema, name, x.IfNotExists, out); done || err != nil {
		return createTag(x), err
	}
	if x.As != nil || x.Execute != nil {
		return s.createTableAs(ctx, x, schema, name, out)
	}
	d := &definer{s: s, taken: map[string]bool{name: true}}
	d.table = &catalog.Relation{
		ID: s.engine.Catalog.Reserve(), Schema: schema, Name: name, Kind: catalog.KindTable, Created: s.now(), Owner: s.owner(),
		Table: &catalog.Table{OnCommit: onCommitOf[x.OnCommit], Defaults: map[int]string{}, Identity: map[int]bool{}},
	}
	for i := range x.Columns {
		add := func() error { return d.column(&x.Columns[i]) }
		if like := x.Columns[i].Like; like != nil {
			add = func() error { return d.like(like) }
		}
		if err := add(); err != nil {
			return "", err
		}
	}
	for i := range x.Columns {
		for _, c := range x.Columns[i].Constraints {
			if err := d.constraint(c, x.Columns[i].Name); err != nil {
				return "", err
			}
		}
	}
	for _, c := range x.Constraints {
		if err := d.constraint(c, ""); err != nil {
			return "", err
		}
	}
	for _, l := range d.likes {
		if err := d.likeIndexes(l); err != nil {
			return "", err
		}
	}
	if err := checkColumns(d.table.Columns); err != nil {
		return "", err
	}
	if err := checkStorage(x.Options); err != nil {
		return "", err
	}
	// Foreign keys come last, for they may reference the table itself.
	for _, f := range d.foreign {
		f.NotValid = false // there are no rows
		if err := d.foreignKey(f); err != nil {
			return "", err
		}
	}
	return "CREATE TABLE", s.create(ctx, append([]*catalog.Relation{d.table}, d.sequences...)...)
}

var onCommitOf = map[ast.OnCommit]catalog.OnCommit{ast.OnCommitDelete: catalog.DeleteRows, ast.OnCommitDrop: catalog.DropTable}

// newTable checks the name of a table or a materialized view to be created, and what is
// said of its being temporary.
func (s *Session) newTable(x *ast.CreateTable) (schema, name string, err error) {
	if x.Materialized {
		return s.newPermanent(x.Name, "materialized views")
	}
	schema, name, err = s.newRelation(x.Name, x.Temporary)
	switch {
	case err != nil:
	case x.OnCommit != ast.OnCommitUnset && !catalog.IsTemporary(schema):
		err = sqlerr.New(sqlerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	case x.Unlogged && catalog.IsTemporary(schema):
		err = sqlerr.New(sqlerr.InvalidTableDefinition, "only temporary relations may be created in temporary schemas").At(x.Name.Position())
	}
	return schema, name, err
}

// definer makes the descriptor of a table, or changes it.
type definer struct {
	s         *Session
	table     *catalog.Relation
	sequences []*catalog.Relation // of its columns, that are new
	taken     map[string]bool     // names that the statement gave already
	foreign   []ast.Constraint    // foreign keys that are still to be added
	likes     []likeness          // relations whose indexes are
}

// serialTypes are the names of types that bring a sequence with them.
var serialTypes = map[string]types.OID{
	"smallserial": types.Int2, "serial2": types.Int2, "serial": types.Int4, "serial4": types.Int4, "bigserial": types.Int8, "serial8": types.Int8,
}

// column adds a column, but for the constraints that name others.
func (d *definer) column(x *ast.ColumnDef) error {
	if d.table.Column(x.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", x.Name).At(x.Position())
	}
	serial := types.OID(0)
	if x.Type.Name.Schema == "" && len(x.Type.ArrayBounds) == 0 {
		serial = serialTypes[x.Type.Name.Name]
	}
	t := types.Of(serial)
	if serial == 0 {
		var err error
		if t, err = bind.TypeOf(d.s.bindEnv(d.s.exprContext()), x.Type); err != nil {
			return err
		}
	}
	if err := bind.CheckCollation(x.Collation, t); err != nil {
		return err
	}
	n := len(d.table.Columns)
	generated := serial != 0 || x.Identity != nil
	d.table.Columns = append(d.table.Columns, types.Column{Name: x.Name, Type: t, NotNull: x.NotNull || x.PrimaryKey || generated})
	switch {
	case x.Default != nil && generated:
		return sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column %q of table %q", x.Name, d.table.Name).At(x.Position())
	case x.Default != nil:
		d.table.Table.Defaults[n] = d.s.storedText(x.Default)
		if _, err := bind.Default(d.s.bindEnv(d.s.exprContext()), d.table, n); err != nil {
			return err
		}
	case generated:
		if err := d.generated(n, x); err != nil {
			return err
		}
	}
	if x.PrimaryKey {
		return d.primaryKey([]int{n}, x.KeyName, x.Position())
	}
	return nil
}

// generated gives a column a sequence.
func (d *definer) generated(n int, x *ast.ColumnDef) error {
	col := d.table.Columns[n]
	var options ast.SequenceOptions
	if x.Identity != nil {
		options = x.Identity.Options
		if t := col.Type.OID; t != types.Int2 && t != types.Int4 && t != types.Int8 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint").At(x.Position())
		}
		d.table.Table.Identity[n] = x.Identity.Always
	}
	q, err := sequenceOf(options, col.Type.OID)
	if err != nil {
		return err
	}
	d.ownSequence(q, n)
	return nil
}

// ownSequence makes a sequence that gives column n its numbers.
func (d *definer) ownSequence(q *catalog.Sequence, n int) {
	col := d.table.Columns[n]
	q.Table, q.Column = d.table.ID, col.Name
	name := d.free(d.table.Name+"_"+col.Name, "seq")
	d.sequences = append(d.sequences, &catalog.Relation{
		ID: d.s.engine.Catalog.Reserve(), Schema: d.table.Schema, Name: name, Kind: catalog.KindSequence, Sequence: q, Created: d.s.now(), Owner: d.table.Owner,
	})
	d.table.Table.Defaults[n] = nextCall(d.table.Schema, name)
}

// sequenceName is a sequence's name as nextval() takes it.
func sequenceName(schema, name string) string {
	if schema == catalog.PublicSchema {
		return ast.QuoteIdentifier(name)
	}
	return ast.QuoteIdentifier(schema) + "." + ast.QuoteIdentifier(name)
}

// free returns a name for an object of the table that nothing has: base_suffix, or
// with a number behind it.
func (d *definer) free(base, suffix string) string {
	for n := 0; ; n++ {
		name := base + "_" + suffix
		if n > 0 {
			name = fmt.Sprintf("%s%d", name, n)
		}
		if !d.taken[name] && !d.s.nameTaken(d.table.Schema, name) {
			d.taken[name] = true
			return name
		}
	}
}

// nameTaken reports whether a relation or an index has a name.
func (s *Session) nameTaken(schema, name string) bool {
	if s.snapshot().ByName(schema, name) != nil {
		return true
	}
	_, x := s.findIndex(schema, name)
	return x != nil
}

// findIndex returns an index by name, and its table; nil if there is none.
func (s *Session) findIndex(schema, name string) (*catalog.Relation, *catalog.Index) {
	snapshot := s.snapshot()
	for _, r := range snapshot.In(snapshot.Named(schema)) {
		for _, x := range r.Indexes() {
			if x.Name == name {
				return r, &x
			}
		}
	}
	return nil, nil
}

// constraint adds a constraint; column is that which it was written behind, or "".
func (d *definer) constraint(c ast.Constraint, column string) error {
	switch c.Kind {
	case ast.CheckConstraint:
		return d.check(c, column)
	case ast.ForeignKeyConstraint:
		d.foreign = append(d.foreign, c)
		return nil
	}
	if c.UsingIndex != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot use an existing index in CREATE TABLE").At(c.Position())
	}
	var columns []int
	var names []string
	for _, n := range c.Columns {
		i := d.table.Column(n.Name)
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", n.Name).At(n.Position())
		}
		if slices.Contains(columns, i) {
			what := map[ast.ConstraintKind]string{ast.PrimaryKeyConstraint: "primary key", ast.UniqueConstraint: "unique"}[c.Kind]
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in %s constraint", n.Name, what).At(n.Position())
		}
		columns, names = append(columns, i), append(names, n.Name)
	}
	if c.Kind == ast.PrimaryKeyConstraint {
		for _, i := range columns {
			d.table.Columns[i].NotNull = true
		}
		return d.primaryKey(columns, c.Name, c.Position())
	}
	name := c.Name
	if name == "" {
		name = d.free(d.table.Name+"_"+strings.Join(names, "_"), "key")
	} else if d.taken[name] || d.s.nameTaken(d.table.Schema, name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name).At(c.Position())
	}
	d.taken[name] = true
	d.table.Table.Indexes = append(slices.Clone(d.table.Table.Indexes), catalog.Index{
		ID: d.s.engine.Catalog.Reserve(), Name: name, Columns: columns, Unique: true, Constraint: true, NullsEqual: c.NullsEqual,
	})
	return nil
}

func (d *definer) primaryKey(columns []int, name string, position int) error {
	if len(d.table.Table.PrimaryKey) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", d.table.Name).At(position)
	}
	if name != "" && (d.taken[name] || d.s.nameTaken(d.table.Schema, name)) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", name).At(position)
	}
	if name == "" {
		if free := d.free(d.table.Name, "pkey"); free != d.table.Name+"_pkey" { // a table of before has that one
			name = free
		}
	}
	d.table.Table.PrimaryKey, d.table.Table.PrimaryKeyName = columns, name
	return nil
}

// check adds a CHECK constraint, which has to have a meaning.
func (d *definer) check(c ast.Constraint, column string) error {
	name := c.Name
	if name == "" {
		base := d.table.Name
		if column != "" {
			base += "_" + column
		} else if used := d.columnsIn(c.Check); len(used) == 1 {
			base += "_" + used[0]
		}
		name = d.freeCheck(base)
	} else if d.hasCheck(name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", name, d.table.Name).At(c.Position())
	}
	d.table.Table.Checks = append(slices.Clone(d.table.Table.Checks), catalog.Check{
		ID: d.s.engine.Catalog.Reserve(), Name: name, SQL: d.s.storedText(c.Check),
	})
	_, err := bind.Checks(d.s.bindEnv(d.s.exprContext()), d.table)
	if err != nil {
		return sqlerr.From(err).At(c.Check.Position())
	}
	return nil
}

func (d *definer) hasCheck(name string) bool {
	return slices.ContainsFunc(d.table.Table.Checks, func(c catalog.Check) bool { return c.Name == name })
}

// freeCheck returns a name that no constraint of the table has.
func (d *definer) freeCheck(base string) string {
	name := base + "_check"
	for n := 1; d.hasCheck(name); n++ {
		name = fmt.Sprintf("%s_check%d", base, n)
	}
	return name
}

// columnsIn returns the columns of the table that an expression names.
func (d *definer) columnsIn(e ast.Expr) []string {
	var out []string
	ast.Walk(e, func(n ast.Node) bool {
		if ref, ok := n.(*ast.ColumnRef); ok && d.table.Column(ref.Name()) >= 0 && !slices.Contains(out, ref.Name()) {
			out = append(out, ref.Name())
		}
		return true
	})
	return out
}

// ownedSequences returns the sequences that go with a table.
func (s *Session) ownedSequences(rel *catalog.Relation) []*catalog.Relation {
	var out []*catalog.Relation
	for _, r := range s.snapshot().Relations() {
		if r.Sequence != nil && r.Sequence.Table != 0 && r.Sequence.Table == rel.ID {
			out = append(out, r)
		}
	}
	return out
}
