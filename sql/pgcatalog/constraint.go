package pgcatalog

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/types"
)

// keyed returns the tables that have a primary key.
func (c *Catalog) keyed() []*catalog.Relation {
	var out []*catalog.Relation
	for _, o := range c.objects() {
		if o.index() {
			out = append(out, o.table)
		}
	}
	return out
}

// keyNumbers returns the numbers of a primary key's columns, from 1.
func keyNumbers(r *catalog.Relation) []int64 {
	out := make([]int64, len(r.Table.PrimaryKey))
	for i, k := range r.Table.PrimaryKey {
		out[i] = int64(k + 1)
	}
	return out
}

func fillIndexes(c *Catalog, w *writer) {
	w.columns("indexrelid indrelid indnatts indnkeyatts indkey indcollation indclass indoption")
	w.always("indisunique", true, "indisprimary", true, "indimmediate", true, "indisvalid", true, "indisready", true,
		"indislive", true)
	for _, r := range c.keyed() {
		n := len(r.Table.PrimaryKey)
		collations, classes := make([]int64, n), make([]int64, n)
		for i, k := range r.Table.PrimaryKey {
			t := r.Columns[k].Type.OID
			collations[i], classes[i] = int64(collationOf(t)), int64(operatorClass(t))
		}
		w.add(indexOf.oid(uint32(r.ID)), uint32(r.ID), n, n, keyNumbers(r), collations, classes, make([]int64, n))
	}
}

func fillConstraints(c *Catalog, w *writer) {
	w.columns("oid conname connamespace conrelid conindid conkey")
	w.always("contype", "p", "convalidated", true, "conislocal", true, "connoinherit", true,
		"confupdtype", " ", "confdeltype", " ", "confmatchtype", " ")
	for _, r := range c.keyed() {
		n := uint32(r.ID)
		w.add(constraintOf.oid(n), r.Name+"_pkey", schemaOIDs[r.Schema], n, indexOf.oid(n), keyNumbers(r))
	}
}

func fillDefaults(c *Catalog, w *writer) {
	w.columns("oid adrelid adnum adbin")
	for _, o := range c.relations() {
		if o.table == nil {
			continue
		}
		for i := range o.columns {
			if sql, ok := o.table.Table.Defaults[i]; ok {
				w.add(defaultOID(o.table.ID, i+1), o.oid, i+1, defaultText(sql, o.columns[i].Type))
			}
		}
	}
}

// defaultText shows a default as PostgreSQL does: a plain string has its type.
func defaultText(sql string, t types.Type) string {
	inner, ok := strings.CutPrefix(sql, "'")
	if ok {
		inner, ok = strings.CutSuffix(inner, "'")
	}
	if !ok || strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") {
		return sql
	}
	return sql + "::" + types.Of(t.OID).String()
}

// fillFunctionDescriptions comments on functions.
func fillFunctionDescriptions(w *writer) {
	w.columns("objoid classoid objsubid description")
	for _, f := range scalarFunctions() {
		if f.description != "" {
			w.add(f.oid, pgProcOID, 0, f.description)
		}
	}
}

func fillDescriptions(c *Catalog, w *writer) {
	w.columns("objoid classoid objsubid description")
	for _, f := range c.registered() {
		w.add(f.oid, pgProcOID, 0, f.description)
	}
	for _, o := range c.relations() {
		if o.about != "" {
			w.add(o.oid, pgClassOID, 0, o.about)
		}
		for i, col := range o.columns {
			if col.Role == types.RoleEnvelope {
				w.add(o.oid, pgClassOID, i+1, envelopeAbout[col.Name])
			}
		}
	}
}

// fillRules lists the rules that PostgreSQL makes of views.
func fillRules(c *Catalog, w *writer) {
	w.columns("oid ev_class")
	w.always("rulename", "_RETURN", "ev_type", "1", "ev_enabled", "O", "is_instead", true)
	for _, o := range c.relations() {
		if o.kind == "v" && o.relation != nil {
			w.add(ruleOf.oid(o.oid), o.oid)
		}
	}
}

// fillDependencies lists what clients follow: a key's index belongs to its
// constraint, which belongs to its table, and a continuous view reads its stream.
func fillDependencies(c *Catalog, w *writer) {
	w.columns("classid objid objsubid refclassid refobjid refobjsubid deptype")
	for _, o := range c.objects() {
		switch {
		case o.index():
			n := uint32(o.table.ID)
			w.add(pgClassOID, o.oid, 0, pgConstraintOID, constraintOf.oid(n), 0, "i")
			for _, k := range keyNumbers(o.table) {
				w.add(pgConstraintOID, constraintOf.oid(n), 0, pgClassOID, n, int(k), "a")
			}
			continue
		case o.rowType != 0:
			w.add(pgTypeOID, o.rowType, 0, pgClassOID, o.oid, 0, "i")
		}
		w.add(pgClassOID, o.oid, 0, pgNamespaceOID, schemaOIDs[o.schema], 0, "n")
		if o.relation == nil {
			continue
		}
		if v := o.relation.ContinuousView; v != nil {
			w.add(pgRewriteOID, ruleOf.oid(o.oid), 0, pgClassOID, uint32(v.Stream), 0, "n")
		}
		if o.kind == "v" {
			w.add(pgRewriteOID, ruleOf.oid(o.oid), 0, pgClassOID, o.oid, 0, "i")
		}
		if o.table != nil {
			for i := range o.columns {
				if _, ok := o.table.Table.Defaults[i]; ok {
					w.add(pgAttrdefOID, defaultOID(o.table.ID, i+1), 0, pgClassOID, o.oid, i+1, "a")
				}
			}
		}
	}
}

// indexDefinition is pg_get_indexdef's text.
func indexDefinition(r *catalog.Relation, column int) (string, bool) {
	key := r.Table.PrimaryKey
	if column > 0 {
		if column > len(key) {
			return "", true
		}
		return ast.QuoteIdentifier(r.Columns[key[column-1]].Name), true
	}
	return "CREATE UNIQUE INDEX " + ast.QuoteIdentifier(r.Name+"_pkey") + " ON " + ast.QuoteIdentifier(r.Schema) + "." +
		ast.QuoteIdentifier(r.Name) + " USING btree (" + keyText(r) + ")", true
}

func keyText(r *catalog.Relation) string {
	names := make([]string, len(r.Table.PrimaryKey))
	for i, k := range r.Table.PrimaryKey {
		names[i] = ast.QuoteIdentifier(r.Columns[k].Name)
	}
	return strings.Join(names, ", ")
}
