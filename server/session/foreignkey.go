package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
)

// foreignKey adds a foreign key to the table. What it references has to be there, but
// for the table itself.
func (d *definer) foreignKey(c ast.Constraint) error {
	target, err := d.referenced(c.References)
	if err != nil {
		return err
	}
	switch {
	case d.table.Temporary() && !target.Temporary():
		return sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on temporary tables may reference only temporary tables")
	case target.Temporary() && !d.table.Temporary():
		return sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on permanent tables may reference only permanent tables")
	}
	k := catalog.ForeignKey{
		ID: d.s.engine.Catalog.Reserve(), Name: c.Name, Target: target.ID, MatchFull: c.References.MatchFull,
		OnUpdate: actionOf[c.References.OnUpdate], OnDelete: actionOf[c.References.OnDelete], NotValid: c.NotValid,
		Deferred: c.Deferred == ast.Yes, Deferrable: c.Deferrable == ast.Yes || c.Deferred == ast.Yes,
	}
	if k.Columns, err = keyColumns(d.table, c.Columns); err != nil {
		return err
	}
	if err := d.constraintName(&k.Name, c, names(d.table, k.Columns)); err != nil {
		return err
	}
	if err := d.setColumns(&k, c.References); err != nil {
		return err
	}
	x, columns, err := referencedKey(target, c.References.Columns)
	if err != nil {
		return err
	}
	if len(columns) != len(k.Columns) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	k.Index = x.ID
	for i, n := range columns {
		k.Places = append(k.Places, slices.Index(x.Columns, n))
		k.KeyTypes = append(k.KeyTypes, target.Columns[n].Type)
		if err := comparable(&k, d.table.Columns[k.Columns[i]], target.Columns[n]); err != nil {
			return err
		}
	}
	d.table.Table.ForeignKeys = append(slices.Clone(d.table.Table.ForeignKeys), k)
	return nil
}

var actionOf = map[ast.ReferentialAction]catalog.ReferentialAction{
	ast.NoAction: catalog.NoAction, ast.Restrict: catalog.Restrict, ast.Cascade: catalog.Cascade,
	ast.SetNull: catalog.SetNull, ast.SetToDefault: catalog.SetDefault,
}

// referenced returns the table that a foreign key names.
func (d *definer) referenced(r *ast.References) (*catalog.Relation, error) {
	n := r.Table
	if n.Name == d.table.Name && (n.Schema == d.table.Schema || n.Schema == "" && d.s.snapshot().ByName(d.table.Schema, n.Name) == nil) {
		return d.table, nil
	}
	n.Pos = 0
	target, err := d.s.lookup(n)
	switch {
	case err != nil:
		return nil, err
	case target.ID == d.table.ID:
		return d.table, nil
	case target.Stream != nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation %q is not a table", target.Name).
			WithHint("The keys of a stream are not unique. Reference a table.")
	case target.Kind != catalog.KindTable:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation %q is not a table", target.Name)
	}
	return target, d.s.may(target, catalog.MayReference)
}

// keyColumns returns the columns of a table that a foreign key names.
func keyColumns(table *catalog.Relation, ids []ast.Identifier) ([]int, error) {
	var out []int
	for _, n := range ids {
		i := table.Column(n.Name)
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q referenced in foreign key constraint does not exist", n.Name)
		}
		out = append(out, i)
	}
	return out, nil
}

func names(table *catalog.Relation, columns []int) []string {
	var out []string
	for _, c := range columns {
		out = append(out, table.Columns[c].Name)
	}
	return out
}

// constraintName makes sure that the name of a foreign key is free, or makes one.
func (d *definer) constraintName(name *string, c ast.Constraint, columns []string) error {
	taken := func(name string) bool {
		return d.hasCheck(name) || slices.ContainsFunc(d.table.Table.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == name }) ||
			slices.ContainsFunc(d.table.Indexes(), func(x catalog.Index) bool { return x.Constraint && x.Name == name })
	}
	if *name == "" {
		base := d.table.Name + "_" + strings.Join(columns, "_") + "_fkey"
		*name = base
		for n := 1; taken(*name); n++ {
			*name = fmt.Sprintf("%s%d", base, n)
		}
		return nil
	}
	if taken(*name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", c.Name, d.table.Name)
	}
	return nil
}

// setColumns notes the columns that ON DELETE SET NULL|DEFAULT is about.
func (d *definer) setColumns(k *catalog.ForeignKey, r *ast.References) error {
	for _, n := range r.SetColumns {
		i := d.table.Column(n.Name)
		switch {
		case i < 0:
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q referenced in foreign key constraint does not exist", n.Name)
		case !slices.Contains(k.Columns, i):
			return sqlerr.New(sqlerr.InvalidColumnReference, "column %q referenced in ON DELETE SET action must be part of foreign key", n.Name)
		}
		k.SetColumns = append(k.SetColumns, i)
	}
	return nil
}

// referencedKey returns the unique index of the columns that a foreign key references,
// and these in its order. Without columns they are those of the primary key.
func referencedKey(target *catalog.Relation, ids []ast.Identifier) (*catalog.Index, []int, error) {
	if len(ids) == 0 {
		x := target.Index(target.ID)
		if x == nil {
			return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table %q", target.Name)
		}
		return x, x.Columns, nil
	}
	columns, err := keyColumns(target, ids)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return nil, nil, sqlerr.New(sqlerr.InvalidForeignKey, "foreign key referenced-columns list must not contain duplicates")
		}
	}
	for _, x := range target.Indexes() {
		if x.Unique && !x.Computed() && slices.Equal(slices.Sorted(slices.Values(x.Columns)), slices.Sorted(slices.Values(columns))) {
			return &x, columns, nil
		}
	}
	return nil, nil, sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table %q", target.Name)
}

// zoned are types between which a conversion depends on the time zone of who asks.
var zoned = []types.OID{types.Timestamptz}

// comparable fails where values of a column cannot be looked up among those of a
// referenced one.
func comparable(k *catalog.ForeignKey, from, to types.Column) error {
	a, b := from.Type.OID, to.Type.OID
	if tablestore.SameKeys(a, b) {
		return nil
	}
	if !expr.CanCast(from.Type, to.Type, expr.Implicit) {
		return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint %q cannot be implemented", k.Name).
			WithDetail("Key columns %q and %q are of incompatible types: %s and %s.", from.Name, to.Name, types.Of(a), types.Of(b))
	}
	if slices.Contains(zoned, a) || slices.Contains(zoned, b) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "foreign key constraint %q cannot be implemented", k.Name).
			WithDetail("Key columns %q and %q are of the types %s and %s, which compare differently in each time zone.", from.Name, to.Name, types.Of(a), types.Of(b))
	}
	return nil
}

// addForeignKey gives the rows of an altered table their keys in a new constraint, and
// makes sure that they keep it.
func (c *tableChange) addForeignKey(ctx context.Context, k *catalog.ForeignKey) error {
	if err := c.tx.BuildReferences(ctx, c.next, k); err != nil || k.NotValid {
		return err
	}
	return c.checkForeignKey(ctx, k)
}

// checkForeignKey makes sure that the rows of an altered table keep a constraint.
func (c *tableChange) checkForeignKey(ctx context.Context, k *catalog.ForeignKey) error {
	for _, r := range c.s.snapshot().References(c.next) {
		if r.Key.ID != k.ID {
			continue
		}
		env := &exec.Env{Expr: c.s.exprContext(), Tables: &tablestore.Statement{Tx: c.tx}}
		return c.tx.EachBatch(ctx, c.next, func(b *types.Batch) error { return exec.CheckReference(ctx, env, &r, b) })
	}
	return nil
}

// checkKeysOf makes sure that the foreign keys of and to a column whose values changed
// are kept.
func (c *tableChange) checkKeysOf(ctx context.Context, column int) error {
	for i := range c.next.Table.ForeignKeys {
		if k := &c.next.Table.ForeignKeys[i]; slices.Contains(k.Columns, column) && !k.NotValid {
			if err := c.checkForeignKey(ctx, k); err != nil {
				return err
			}
		}
	}
	env := &exec.Env{Expr: c.s.exprContext(), Tables: &tablestore.Statement{Tx: c.tx}}
	for _, r := range c.s.snapshot().ReferencedBy(c.next.ID) {
		if !slices.Contains(r.Columns(), column) || r.From.ID == c.next.ID {
			continue
		}
		r.To = c.next
		err := c.tx.EachBatch(ctx, r.From, func(b *types.Batch) error { return exec.CheckReference(ctx, env, &r, b) })
		if err != nil {
			return err
		}
	}
	return nil
}

// setKeyType makes sure that the foreign keys of and to a column can live with its new
// type, and takes over what they compare in.
func (c *tableChange) setKeyType(column int) error {
	for _, r := range c.s.snapshot().References(c.next) {
		for n, own := range r.Key.Columns {
			if own != column {
				continue
			}
			if err := comparable(r.Key, c.next.Columns[column], r.To.Columns[r.Columns()[n]]); err != nil {
				return err
			}
		}
	}
	for _, r := range c.s.snapshot().ReferencedBy(c.next.ID) {
		for n, own := range r.Columns() {
			if own != column || tablestore.SameKeys(r.Key.KeyTypes[n].OID, c.next.Columns[column].Type.OID) {
				continue
			}
			from := r.From
			if from.ID == c.next.ID {
				from = c.next
			}
			if err := comparable(r.Key, from.Columns[r.Key.Columns[n]], c.next.Columns[column]); err != nil {
				return err
			}
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column that foreign key constraint %q on table %q references", r.Key.Name, r.From.Name).
				WithHint("Drop the constraint, alter both columns, and add it again.")
		}
	}
	return nil
}

// dropForeignKey drops the foreign keys of the table that match.
func (c *tableChange) dropForeignKey(ctx context.Context, match func(*catalog.ForeignKey) bool) error {
	var kept []catalog.ForeignKey
	for i := range c.next.Table.ForeignKeys {
		k := &c.next.Table.ForeignKeys[i]
		if !match(k) {
			kept = append(kept, *k)
			continue
		}
		if err := c.tx.DropReferences(ctx, c.next, k); err != nil {
			return err
		}
	}
	c.next.Table.ForeignKeys = kept
	return nil
}

// foreignKeyNamed returns a foreign key of the table.
func (c *tableChange) foreignKeyNamed(name string) *catalog.ForeignKey {
	for i := range c.next.Table.ForeignKeys {
		if k := &c.next.Table.ForeignKeys[i]; k.Name == name {
			return k
		}
	}
	return nil
}

// validateConstraint runs VALIDATE CONSTRAINT.
func (c *tableChange) validateConstraint(ctx context.Context, x *ast.TableChange) error {
	k := c.foreignKeyNamed(x.OldName)
	switch {
	case k != nil && k.NotValid:
		k.NotValid = false
		return c.checkForeignKey(ctx, k)
	case k != nil, slices.ContainsFunc(c.next.Table.Checks, func(k catalog.Check) bool { return k.Name == x.OldName }):
		return nil
	case slices.ContainsFunc(c.next.Indexes(), func(i catalog.Index) bool { return i.Constraint && i.Name == x.OldName }):
		return sqlerr.New(sqlerr.WrongObjectType, "constraint %q of relation %q is not a foreign key or check constraint", x.OldName, c.next.Name)
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", x.OldName, c.next.Name)
}

// alterConstraint runs ALTER CONSTRAINT.
func (c *tableChange) alterConstraint(x *ast.TableChange) error {
	k := c.foreignKeyNamed(x.OldName)
	if k == nil {
		if err := c.validateConstraint(context.Background(), x); err != nil && sqlerr.CodeOf(err) == sqlerr.UndefinedObject {
			return err
		}
		return sqlerr.New(sqlerr.WrongObjectType, "constraint %q of relation %q is not a foreign key constraint", x.OldName, c.next.Name)
	}
	k.Deferred = x.Constraint.Deferred == ast.Yes
	k.Deferrable = k.Deferred || x.Constraint.Deferrable == ast.Yes
	return nil
}

// dependent is a foreign key that needs something of another table.
type dependent struct {
	catalog.Reference
	on string // what it needs: "table a", "index a_pkey" or "column b of table a"
}

// errDependents says that foreign keys are in the way of dropping something.
func errDependents(what string, list []dependent) error { return errDependOn(what, keyLines(list)) }

// keyLines are the lines of an error that say which foreign keys depend on something.
func keyLines(list []dependent) []string {
	var lines []string
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("constraint %s on table %s depends on %s", d.Key.Name, d.From.Name, d.on))
	}
	return lines
}

// dropDependents drops foreign keys of other tables, and says so.
func (s *Session) dropDependents(ctx context.Context, list []dependent, out *sink) error {
	for _, d := range list {
		from := s.snapshot().ByID(d.From.ID)
		if from == nil {
			continue
		}
		err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "drop cascades to constraint %s on table %s", d.Key.Name, d.From.Name))
		if err != nil {
			return err
		}
		err = s.changeTable(from, func(c *tableChange) error {
			return c.dropForeignKey(ctx, func(k *catalog.ForeignKey) bool { return k.ID == d.Key.ID })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tableDependents returns the foreign keys of other tables that reference a table, but
// for those of tables that are dropped too.
func (s *Session) tableDependents(rel *catalog.Relation, with []id.Relation) []dependent {
	var out []dependent
	for _, r := range s.snapshot().ReferencedBy(rel.ID) {
		if r.From.ID != rel.ID && !slices.Contains(with, r.From.ID) {
			out = append(out, dependent{r, "table " + rel.Name})
		}
	}
	return out
}

// indexDependents returns the foreign keys that reference by an index.
func (s *Session) indexDependents(rel *catalog.Relation, x *catalog.Index) []dependent {
	var out []dependent
	for _, r := range s.snapshot().ReferencedBy(rel.ID) {
		if r.Index.ID == x.ID {
			out = append(out, dependent{r, "index " + x.Name})
		}
	}
	return out
}

// changeDependents returns the foreign keys that a change of a table would leave without
// what they reference, and what the change drops.
func (s *Session) changeDependents(rel *catalog.Relation, x *ast.TableChange) (what string, list []dependent) {
	for _, r := range s.snapshot().ReferencedBy(rel.ID) {
		switch {
		case x.Action == ast.DropConstraint && r.Index.Constraint && r.Index.Name == x.OldName:
			what = fmt.Sprintf("constraint %s on table %s", x.OldName, rel.Name)
			list = append(list, dependent{r, "index " + r.Index.Name})
		case x.Action == ast.DropColumn && slices.Contains(names(rel, r.Columns()), x.OldName) &&
			(r.From.ID != rel.ID || !slices.Contains(names(rel, r.Key.Columns), x.OldName)):
			what = fmt.Sprintf("column %s of table %s", x.OldName, rel.Name)
			list = append(list, dependent{r, what})
		}
	}
	return what, list
}

// freeReferenced sees to the foreign keys that reference what ALTER TABLE drops.
func (s *Session) freeReferenced(ctx context.Context, rel *catalog.Relation, x *ast.AlterTable, out *sink) error {
	for i := range x.Changes {
		what, list := s.changeDependents(rel, &x.Changes[i])
		if len(list) > 0 && !x.Changes[i].Cascade {
			return errDependents(what, list)
		}
		if err := s.dropDependents(ctx, list, out); err != nil {
			return err
		}
	}
	return nil
}

// truncated returns the tables that TRUNCATE empties: those named and, with CASCADE,
// those that reference them.
func (s *Session) truncated(named []*catalog.Relation, cascade bool, out *sink) ([]*catalog.Relation, error) {
	list := slices.Clone(named)
	for i := 0; i < len(list); i++ {
		for _, r := range s.snapshot().ReferencedBy(list[i].ID) {
			if slices.ContainsFunc(list, func(t *catalog.Relation) bool { return t.ID == r.From.ID }) {
				continue
			}
			if !cascade {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table %q references %q.", r.From.Name, r.To.Name).
					WithHint("Truncate table %q at the same time, or use TRUNCATE ... CASCADE.", r.From.Name)
			}
			err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "truncate cascades to table %q", r.From.Name))
			if err != nil {
				return nil, err
			}
			list = append(list, r.From)
		}
	}
	return list, nil
}

// settled fails where a cursor of the session reads a table that is to be defined anew, or
// where checks of its rows are still to be made, which the definition
// could leave without them.
func (s *Session) settled(rel *catalog.Relation, command string) error {
	if s.reads(rel) {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot %s %q because it is being used by active queries in this session", command, rel.Name).
			WithHint("Close the cursors that read it.")
	}
	if rel.Table != nil && s.tx().Awaits(rel.ID) {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot %s %q because it has pending trigger events", command, rel.Name).
			WithHint("SET CONSTRAINTS ALL IMMEDIATE makes them, and so does COMMIT.")
	}
	return nil
}

// checkPostponed checks the deferred constraints that are due: all at the end of a
// transaction.
func (s *Session) checkPostponed(ctx context.Context, end bool) error {
	if s.txn.tables == nil {
		return nil
	}
	list := s.txn.tables.TakePostponed(end)
	if len(list) == 0 {
		return nil
	}
	snapshot := s.snapshot()
	return exec.CheckPostponed(ctx, &exec.Env{Expr: s.exprContext(), Tables: &tablestore.Statement{Tx: s.txn.tables}}, list, func(r *catalog.Reference) *catalog.Reference {
		from := snapshot.ByID(r.From.ID)
		if from == nil {
			return nil
		}
		for _, now := range snapshot.References(from) {
			if now.Key.ID == r.Key.ID {
				return &now
			}
		}
		return nil
	})
}

// setConstraints runs SET CONSTRAINTS.
func (s *Session) setConstraints(ctx context.Context, x *ast.SetConstraints, out *sink) error {
	const tag = "SET CONSTRAINTS"
	var keys []id.Relation // nil: all
	if len(x.Names) > 0 {
		keys = []id.Relation{}
	}
	for _, n := range x.Names {
		found, err := s.constraintsNamed(n, x.Deferred)
		if err != nil {
			return err
		}
		keys = append(keys, found...)
	}
	if !s.txn.open() && !s.txn.implicit {
		if err := out.writer.Notice("WARNING", sqlerr.New(sqlerr.NoActiveSQLTransaction, "SET CONSTRAINTS can only be used in transaction blocks")); err != nil {
			return err
		}
		return out.complete(tag)
	}
	s.tx().SetConstraints(keys, x.Deferred)
	if !x.Deferred {
		if err := s.checkPostponed(ctx, false); err != nil {
			return err
		}
	}
	return out.complete(tag)
}

// constraintsNamed returns the foreign keys of a name that can be deferred, of the first
// schema that has a constraint of the name. The others are in the way of deferring.
func (s *Session) constraintsNamed(n ast.ObjectName, deferred bool) ([]id.Relation, error) {
	schemas := []string{n.Schema}
	if n.Schema == "" {
		schemas = s.path()
	}
	for _, schema := range schemas {
		keys, others := []id.Relation{}, false
		for _, r := range s.snapshot().Relations() {
			if r.Table == nil || r.Schema != s.snapshot().Named(schema) {
				continue
			}
			for _, k := range r.Table.ForeignKeys {
				if k.Name == n.Name && k.Deferrable {
					keys = append(keys, k.ID)
				}
				others = others || k.Name == n.Name && !k.Deferrable
			}
			others = others || slices.ContainsFunc(r.Table.Checks, func(k catalog.Check) bool { return k.Name == n.Name }) ||
				slices.ContainsFunc(r.Indexes(), func(x catalog.Index) bool { return x.Constraint && x.Name == n.Name })
		}
		switch {
		case others && deferred:
			return nil, sqlerr.New(sqlerr.WrongObjectType, "constraint %q is not deferrable", n.Name)
		case others || len(keys) > 0:
			return keys, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint %q does not exist", n.Name)
}

// currentRules reports whether the constraints that a statement was planned with are
// those there are.
func currentRules(snapshot *catalog.Snapshot, rules *plan.Rules, seen map[id.Relation]bool) bool {
	if seen[rules.Table.ID] {
		return true
	}
	seen[rules.Table.ID] = true
	now := snapshot.ByID(rules.Table.ID)
	if now == nil || now.Version != rules.Table.Version {
		return false
	}
	by := snapshot.ReferencedBy(now.ID)
	if len(by) != len(rules.ReferencedBy) {
		return false
	}
	for i, r := range rules.ReferencedBy {
		if by[i].Key.ID != r.Key.ID || by[i].From.Version != r.From.Version {
			return false
		}
		if r.FromRules != nil && !currentRules(snapshot, r.FromRules, seen) {
			return false
		}
	}
	for _, r := range rules.References {
		if to := snapshot.ByID(r.To.ID); to == nil || to.Version != r.To.Version {
			return false
		}
	}
	return true
}
