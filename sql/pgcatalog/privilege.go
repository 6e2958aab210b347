package pgcatalog

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/types"
)

// privileges returns what may be done with a relation, in the order of the names.
// Whoever is connected may do all of it.
func (o *object) privileges() []string {
	switch {
	case o.table != nil:
		return []string{"DELETE", "INSERT", "REFERENCES", "SELECT", "TRIGGER", "TRUNCATE", "UPDATE"}
	case o.insertable():
		return []string{"INSERT", "SELECT"}
	}
	return []string{"SELECT"}
}

// columnPrivileges returns what may be done with a column of a relation.
func (o *object) columnPrivileges(col types.Column) []string {
	switch {
	case o.table != nil:
		return []string{"INSERT", "REFERENCES", "SELECT", "UPDATE"}
	case o.insertable() && col.Role == types.RoleData:
		return []string{"INSERT", "SELECT"}
	}
	return []string{"SELECT"}
}

func fillGrants(c *Catalog, w *writer) {
	w.columns("table_schema table_name privilege_type with_hierarchy")
	w.always("grantor", c.cfg.User, "grantee", c.cfg.User, "table_catalog", c.database(), "is_grantable", "YES")
	for _, o := range c.listed() {
		for _, p := range o.privileges() {
			w.add(o.schema, o.name, p, yesNo(p == "SELECT"))
		}
	}
}

func fillColumnGrants(c *Catalog, w *writer) {
	w.columns("table_schema table_name column_name privilege_type")
	w.always("grantor", c.cfg.User, "grantee", c.cfg.User, "table_catalog", c.database(), "is_grantable", "YES")
	for _, o := range c.listed() {
		for _, col := range o.columns {
			for _, p := range o.columnPrivileges(col) {
				w.add(o.schema, o.name, col.Name, p)
			}
		}
	}
}

// fillElementTypes describes the elements of the columns that are arrays.
func fillElementTypes(c *Catalog, w *writer) {
	w.columns("object_schema object_name object_type collection_type_identifier dtd_identifier data_type udt_name udt_schema")
	w.always("object_catalog", c.database(), "udt_catalog", c.database())
	for _, o := range c.listed() {
		kind := "TABLE"
		if o.kind == "v" {
			kind = "VIEW"
		}
		for i, col := range o.columns {
			if !col.Type.OID.IsArray() {
				continue
			}
			n := strconv.Itoa(i + 1)
			t := c.dataType(types.Of(col.Type.OID.Elem()))
			w.add(o.schema, o.name, kind, n, "a"+n, t[0], t[1], t[2])
		}
	}
}
