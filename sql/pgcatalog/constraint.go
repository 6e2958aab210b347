package pgcatalog

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/types"
)

// key is an index of a table with the numbers that it has here.
type key struct {
	catalog.Index
	table      *catalog.Relation
	oid        uint32
	constraint uint32 // 0: made by CREATE INDEX
}

// keysOf returns the indexes of a table.
func keysOf(r *catalog.Relation) []key {
	var out []key
	for _, x := range r.Indexes() {
		k := key{Index: x, table: r, oid: uint32(x.ID)}
		if x.Primary {
			k.oid = indexOf.oid(uint32(r.ID))
		}
		if x.Constraint {
			k.constraint = constraintOf.oid(uint32(x.ID))
		}
		out = append(out, k)
	}
	return out
}

// keys returns the indexes of all tables.
func (c *Catalog) keys() []key {
	var out []key
	for _, o := range c.objects() {
		if o.index() {
			out = append(out, *o.key)
		}
	}
	return out
}

// numbers returns the numbers of an index's columns, from 1.
func (k *key) numbers() []int64 {
	out := make([]int64, len(k.Columns))
	for i, c := range k.Columns {
		out[i] = int64(c + 1)
	}
	return out
}

func fillIndexes(c *Catalog, w *writer) {
	w.columns("indexrelid indrelid indisunique indnullsnotdistinct indisprimary indnatts indnkeyatts indkey indcollation indclass indoption indexprs indpred")
	w.always("indimmediate", true, "indisvalid", true, "indisready", true, "indislive", true)
	for _, k := range c.keys() {
		n := len(k.Columns)
		collations, classes := make([]int64, n), make([]int64, n)
		for i := range k.Columns {
			t := k.Column(k.table, i).Type.OID
			collations[i], classes[i] = int64(collationOf(t)), int64(operatorClass(t))
		}
		var exprs, where any // as the text that pg_get_expr makes of a tree
		if len(k.Exprs) > 0 {
			exprs = k.exprsText()
		}
		if k.Where != "" {
			where = whereText(k.Where)
		}
		w.add(k.oid, uint32(k.table.ID), k.Unique, k.NullsEqual, k.Primary, n, n, k.numbers(), collations, classes, make([]int64, n), exprs, where)
	}
}

// checks calls row for every CHECK constraint.
func (c *Catalog) checks(row func(r *catalog.Relation, check *catalog.Check)) {
	for _, o := range c.relations() {
		if o.table == nil {
			continue
		}
		for i := range o.table.Table.Checks {
			row(o.table, &o.table.Table.Checks[i])
		}
	}
}

func fillConstraints(c *Catalog, w *writer) {
	w.columns("oid conname connamespace contype conrelid conindid conkey connoinherit")
	w.always("convalidated", true, "conislocal", true, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ")
	for _, k := range c.keys() {
		if k.constraint != 0 {
			w.add(k.constraint, k.Name, c.schemaOID(k.table.Schema), map[bool]string{true: "p", false: "u"}[k.Primary], uint32(k.table.ID), k.oid, k.numbers(), true)
		}
	}
	c.checks(func(r *catalog.Relation, check *catalog.Check) {
		w.add(uint32(check.ID), check.Name, c.schemaOID(r.Schema), "c", uint32(r.ID), uint32(0), nil, false)
	})
	c.addForeignKeys(w)
	c.addDomainChecks(w)
}

func fillDefaults(c *Catalog, w *writer) {
	w.columns("oid adrelid adnum adbin")
	for _, o := range c.relations() {
		if o.table == nil {
			continue
		}
		for i := range o.columns {
			if o.hasDefault(i) {
				w.add(defaultOID(o.table.ID, i+1), o.oid, i+1, defaultText(o.table.Table.Defaults[i], o.columns[i].Type))
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
	c.comments(func(x comment) { w.add(x.oid, x.class, x.sub, x.text) })
}

// fillRules lists the rules that PostgreSQL makes of views.
func fillRules(c *Catalog, w *writer) {
	w.columns("oid ev_class")
	w.always("rulename", "_RETURN", "ev_type", "1", "ev_enabled", "O", "is_instead", true)
	for _, o := range c.relations() {
		if (o.kind == "v" || o.kind == "m") && o.relation != nil {
			w.add(ruleOf.oid(o.oid), o.oid)
		}
	}
}

// fillDependencies lists what clients follow: a key's index belongs to its
// constraint, which belongs to its table, and a continuous view reads its stream.
func fillDependencies(c *Catalog, w *writer) {
	w.columns("classid objid objsubid refclassid refobjid refobjsubid deptype")
	c.addForeignKeyDependencies(w)
	c.addTypeDependencies(w)
	for _, o := range c.objects() {
		switch {
		case o.index():
			addKeyDependencies(w, o)
			continue
		case o.rowType != 0:
			w.add(pgTypeOID, o.rowType, 0, pgClassOID, o.oid, 0, "i")
		}
		w.add(pgClassOID, o.oid, 0, pgNamespaceOID, c.schemaOID(o.schema), 0, "n")
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
				if o.hasDefault(i) {
					w.add(pgAttrdefOID, defaultOID(o.table.ID, i+1), 0, pgClassOID, o.oid, i+1, "a")
				}
			}
		}
	}
}

// addKeyDependencies says that an index depends on its constraint or, without one, on
// the table's columns.
func addKeyDependencies(w *writer, o *object) {
	n := uint32(o.table.ID)
	if o.key.constraint == 0 {
		for _, k := range o.key.numbers() {
			if k > 0 {
				w.add(pgClassOID, o.oid, 0, pgClassOID, n, int(k), "a")
			}
		}
		return
	}
	w.add(pgClassOID, o.oid, 0, pgConstraintOID, o.key.constraint, 0, "i")
	for _, k := range o.key.numbers() {
		w.add(pgConstraintOID, o.key.constraint, 0, pgClassOID, n, int(k), "a")
	}
}

// definition is pg_get_indexdef's text.
func (k *key) definition(column int) string {
	if column != 0 {
		if column < 0 || column > len(k.Columns) {
			return ""
		}
		return k.columnText(column - 1)
	}
	unique := map[bool]string{true: "UNIQUE "}[k.Unique]
	return "CREATE " + unique + "INDEX " + ast.QuoteIdentifier(k.Name) + " ON " + ast.QuoteIdentifier(k.table.Schema) + "." +
		ast.QuoteIdentifier(k.table.Name) + " USING btree (" + k.text() + ")" + map[bool]string{true: " NULLS NOT DISTINCT"}[k.NullsEqual] + k.whereClause()
}

func (k *key) whereClause() string {
	if k.Where == "" {
		return ""
	}
	return " WHERE " + whereText(k.Where)
}

// whereText is a condition as PostgreSQL shows it: in parentheses.
func whereText(sql string) string { return "(" + sql + ")" }

func (k *key) columnText(place int) string {
	if c := k.Columns[place]; c != catalog.IndexColumnExpr {
		return ast.QuoteIdentifier(k.table.Columns[c].Name)
	}
	e := k.Expr(place)
	if e.Operator {
		return "(" + e.Text() + ")"
	}
	return e.Text()
}

func (k *key) exprsText() string {
	list := make([]string, len(k.Exprs))
	for i := range k.Exprs {
		list[i] = k.Exprs[i].Text()
	}
	return strings.Join(list, ", ")
}

// constraintText is pg_get_constraintdef's text.
func (k *key) constraintText() string {
	words := map[bool]string{true: "PRIMARY KEY", false: "UNIQUE"}[k.Primary]
	return words + map[bool]string{true: " NULLS NOT DISTINCT"}[k.NullsEqual] + " (" + k.text() + ")"
}

func (k *key) text() string {
	list := make([]string, len(k.Columns))
	for i := range list {
		list[i] = k.columnText(i)
	}
	return strings.Join(list, ", ")
}
