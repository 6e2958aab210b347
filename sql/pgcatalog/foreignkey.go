package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/types"
)

// references returns the foreign keys of all tables.
func (c *Catalog) references() []catalog.Reference {
	if c.cfg.Snapshot == nil {
		return nil
	}
	var out []catalog.Reference
	for _, o := range c.relations() {
		if o.table != nil {
			out = append(out, c.cfg.Snapshot.References(o.table)...)
		}
	}
	return out
}

// linked reports whether a table has foreign keys, or others have some to it: in
// PostgreSQL it has triggers then.
func (c *Catalog) linked(table *catalog.Relation) bool {
	return table != nil && c.cfg.Snapshot != nil && (len(table.Table.ForeignKeys) > 0 || len(c.cfg.Snapshot.ReferencedBy(table.ID)) > 0)
}

// indexOID is the number of the index that a foreign key references by.
func indexOID(r *catalog.Reference) uint32 {
	if r.Index.Primary {
		return indexOf.oid(uint32(r.To.ID))
	}
	return uint32(r.Index.ID)
}

// numbersOf returns columns as catalogs number them, from 1; nil for none.
func numbersOf(columns []int) []int64 {
	var out []int64
	for _, c := range columns {
		out = append(out, int64(c+1))
	}
	return out
}

func (c *Catalog) addForeignKeys(w *writer) {
	w.columns(`oid conname connamespace contype condeferrable condeferred convalidated conrelid conindid confrelid
		confupdtype confdeltype confmatchtype conkey confkey confdelsetcols connoinherit conpfeqop conppeqop conffeqop`)
	for _, r := range c.references() {
		k := r.Key
		var set any
		if len(k.SetColumns) > 0 {
			set = numbersOf(k.SetColumns)
		}
		w.add(uint32(k.ID), k.Name, c.schemaOID(r.From.Schema), "f", k.Deferrable, k.Deferred, !k.NotValid, uint32(r.From.ID), indexOID(&r), uint32(r.To.ID),
			string(k.OnUpdate), string(k.OnDelete), map[bool]string{true: "f", false: "s"}[k.MatchFull], numbersOf(k.Columns), numbersOf(r.Columns()), set, true,
			equalities(r.To, r.Columns(), r.From, k.Columns), equalities(r.To, r.Columns(), r.To, r.Columns()), equalities(r.From, k.Columns, r.From, k.Columns))
	}
}

// equalities returns the operators that compare columns of two tables.
func equalities(a *catalog.Relation, of []int, b *catalog.Relation, with []int) []int64 {
	var out []int64
	for i := range of {
		out = append(out, int64(equalityOf(a.Columns[of[i]].Type.OID, b.Columns[with[i]].Type.OID)))
	}
	return out
}

// equalityOf returns the number of the operator = of two types.
func equalityOf(left, right types.OID) uint32 {
	for _, t := range [][2]types.OID{{left, right}, {left, left}, {types.Text, types.Text}} {
		if n := operatorNumber("=", t[0], t[1]); n != 0 {
			return n
		}
	}
	return 0
}

// actionText has the actions that pg_get_constraintdef shows.
var actionText = map[catalog.ReferentialAction]string{
	catalog.Restrict: "RESTRICT", catalog.Cascade: "CASCADE", catalog.SetNull: "SET NULL", catalog.SetDefault: "SET DEFAULT",
}

// ruleText is an action as information_schema has it.
func ruleText(a catalog.ReferentialAction) string {
	if a == catalog.NoAction {
		return "NO ACTION"
	}
	return actionText[a]
}

// foreignKeyText is pg_get_constraintdef's text.
func (c *Catalog) foreignKeyText(r *catalog.Reference) string {
	name, _ := c.RelationName(uint32(r.To.ID), nil)
	text := "FOREIGN KEY (" + columnList(r.From, r.Key.Columns) + ") REFERENCES " + name + "(" + columnList(r.To, r.Columns()) + ")"
	k := r.Key
	if k.MatchFull {
		text += " MATCH FULL"
	}
	if a := actionText[k.OnUpdate]; a != "" {
		text += " ON UPDATE " + a
	}
	if a := actionText[k.OnDelete]; a != "" {
		text += " ON DELETE " + a
	}
	if len(k.SetColumns) > 0 {
		text += " (" + columnList(r.From, k.SetColumns) + ")"
	}
	if k.Deferrable {
		text += " DEFERRABLE"
	}
	if k.Deferred {
		text += " INITIALLY DEFERRED"
	}
	if k.NotValid {
		text += " NOT VALID"
	}
	return text
}

func columnList(table *catalog.Relation, columns []int) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = ast.QuoteIdentifier(table.Columns[c].Name)
	}
	return strings.Join(names, ", ")
}

func fillReferentialConstraints(c *Catalog, w *writer) {
	w.columns("constraint_schema constraint_name unique_constraint_catalog unique_constraint_schema unique_constraint_name match_option update_rule delete_rule")
	w.always("constraint_catalog", c.database())
	for _, r := range c.references() {
		var database, schema, name any
		if r.Index.Constraint {
			database, schema, name = c.database(), r.To.Schema, r.Index.Name
		}
		w.add(r.From.Schema, r.Key.Name, database, schema, name, map[bool]string{true: "FULL", false: "NONE"}[r.Key.MatchFull],
			ruleText(r.Key.OnUpdate), ruleText(r.Key.OnDelete))
	}
}

// addForeignKeyDependencies says that a foreign key depends on the columns of both of
// its tables and on an index.
func (c *Catalog) addForeignKeyDependencies(w *writer) {
	for _, r := range c.references() {
		n := uint32(r.Key.ID)
		for _, column := range r.Key.Columns {
			w.add(pgConstraintOID, n, 0, pgClassOID, uint32(r.From.ID), column+1, "a")
		}
		for _, column := range slices.Sorted(slices.Values(r.Columns())) {
			w.add(pgConstraintOID, n, 0, pgClassOID, uint32(r.To.ID), column+1, "n")
		}
		w.add(pgConstraintOID, n, 0, pgClassOID, indexOID(&r), 0, "n")
	}
}
