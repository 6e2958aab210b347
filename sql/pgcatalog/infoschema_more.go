package pgcatalog

import (
	"strconv"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// eachKeyColumn calls row for each column of each key constraint; position is from 1.
func (c *Catalog) eachKeyColumn(row func(k *key, column string, position int)) {
	for _, k := range c.keys() {
		if !k.Constraint {
			continue
		}
		for i, n := range k.Columns {
			row(&k, k.table.Columns[n].Name, i+1)
		}
	}
}

func fillTableConstraints(c *Catalog, w *writer) {
	w.columns("constraint_schema constraint_name table_schema table_name constraint_type")
	w.always("constraint_catalog", c.database(), "table_catalog", c.database(), "is_deferrable", "NO", "initially_deferred", "NO",
		"enforced", "YES")
	for _, k := range c.keys() {
		if k.Constraint {
			w.add(k.table.Schema, k.Name, k.table.Schema, k.table.Name, map[bool]string{true: "PRIMARY KEY", false: "UNIQUE"}[k.Primary])
		}
	}
	c.checks(func(r *catalog.Relation, check *catalog.Check) {
		w.add(r.Schema, check.Name, r.Schema, r.Name, "CHECK")
	})
	c.addForeignKeyConstraints(w)
	for _, o := range c.listed() {
		for i, col := range o.columns {
			if col.NotNull && o.kind == "r" {
				w.add(o.schema, c.notNullName(o, i), o.schema, o.name, "CHECK")
			}
		}
	}
}

// addForeignKeyConstraints adds the foreign keys to table_constraints.
func (c *Catalog) addForeignKeyConstraints(w *writer) {
	for _, r := range c.references() {
		w.always("is_deferrable", yesNo(r.Key.Deferrable), "initially_deferred", yesNo(r.Key.Deferred))
		w.add(r.From.Schema, r.Key.Name, r.From.Schema, r.From.Name, "FOREIGN KEY")
	}
	w.always("is_deferrable", "NO", "initially_deferred", "NO")
}

// notNullName is the name that PostgreSQL 15 gives a NOT NULL in the standard's views.
func (c *Catalog) notNullName(o *object, column int) string {
	return strconv.Itoa(int(c.schemaOID(o.schema))) + "_" + strconv.Itoa(int(o.oid)) + "_" + strconv.Itoa(column+1) + "_not_null"
}

func fillKeyColumns(c *Catalog, w *writer) {
	w.columns("constraint_schema constraint_name table_schema table_name column_name ordinal_position position_in_unique_constraint")
	w.always("constraint_catalog", c.database(), "table_catalog", c.database())
	c.eachKeyColumn(func(k *key, column string, position int) {
		w.add(k.table.Schema, k.Name, k.table.Schema, k.table.Name, column, position, nil)
	})
	for _, r := range c.references() {
		for i, n := range r.Key.Columns {
			w.add(r.From.Schema, r.Key.Name, r.From.Schema, r.From.Name, r.From.Columns[n].Name, i+1, r.Key.Places[i]+1)
		}
	}
}

func fillConstraintColumns(c *Catalog, w *writer) {
	w.columns("table_schema table_name column_name constraint_schema constraint_name")
	w.always("constraint_catalog", c.database(), "table_catalog", c.database())
	c.eachKeyColumn(func(k *key, column string, _ int) {
		w.add(k.table.Schema, k.table.Name, column, k.table.Schema, k.Name)
	})
	for _, r := range c.references() {
		for _, n := range r.Columns() {
			w.add(r.To.Schema, r.To.Name, r.To.Columns[n].Name, r.From.Schema, r.Key.Name)
		}
	}
}

func fillConstraintTables(c *Catalog, w *writer) {
	w.columns("table_schema table_name constraint_schema constraint_name")
	w.always("constraint_catalog", c.database(), "table_catalog", c.database())
	for _, k := range c.keys() {
		if k.Constraint {
			w.add(k.table.Schema, k.table.Name, k.table.Schema, k.Name)
		}
	}
	for _, r := range c.references() {
		w.add(r.To.Schema, r.To.Name, r.From.Schema, r.Key.Name)
	}
}

func (f *function) specificName() string { return f.name + "_" + strconv.Itoa(int(f.oid)) }

func fillRoutines(c *Catalog, w *writer) {
	w.columns("specific_name routine_name data_type type_udt_name is_deterministic is_null_call routine_definition")
	w.always("specific_catalog", c.database(), "routine_catalog", c.database(), "type_udt_catalog", c.database(),
		"specific_schema", "pg_catalog", "routine_schema", "pg_catalog", "type_udt_schema", "pg_catalog",
		"routine_type", "FUNCTION", "routine_body", "EXTERNAL", "external_language", "INTERNAL", "parameter_style", "GENERAL",
		"sql_data_access", "MODIFIES", "schema_level_routine", "YES", "security_type", "INVOKER", "dtd_identifier", "0")
	for _, f := range scalarFunctions() {
		t := c.dataType(types.Of(f.result))
		w.add(f.specificName(), f.name, t[0], t[1], yesNo(f.volatility == "i"), yesNo(f.strict), f.source)
	}
}

func fillParameters(c *Catalog, w *writer) {
	w.columns("specific_name ordinal_position dtd_identifier data_type udt_name")
	w.always("specific_catalog", c.database(), "specific_schema", "pg_catalog", "udt_catalog", c.database(),
		"udt_schema", "pg_catalog", "parameter_mode", "IN", "is_result", "NO", "as_locator", "NO")
	for _, f := range scalarFunctions() {
		for i, a := range f.args {
			t := c.dataType(types.Of(a))
			w.add(f.specificName(), i+1, strconv.Itoa(i+1), t[0], t[1])
		}
	}
}
