package pgcatalog

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/types"
)

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
