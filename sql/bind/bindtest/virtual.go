package bindtest

import (
	"context"
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// virtual is a part of pg_catalog, without rows.
type virtual struct{}

var virtualColumns = map[string][]types.Column{
	"pg_class": {
		col("oid", types.Oid), col("relname", types.Name), col("relnamespace", types.Oid), col("reltype", types.Oid),
		col("relowner", types.Oid), col("relam", types.Oid), col("reltablespace", types.Oid), col("relkind", types.Char),
		col("relchecks", types.Int2), col("relhasindex", types.Bool), col("relhasrules", types.Bool),
		col("relhastriggers", types.Bool), col("relrowsecurity", types.Bool), col("relforcerowsecurity", types.Bool),
		col("relispartition", types.Bool), col("relpersistence", types.Char), col("relreplident", types.Char),
		col("reloftype", types.Oid), col("reltoastrelid", types.Oid), col("reloptions", types.TextArray),
	},
	"pg_namespace": {col("oid", types.Oid), col("nspname", types.Name), col("nspowner", types.Oid)},
	"pg_attribute": {
		col("attrelid", types.Oid), col("attname", types.Name), col("atttypid", types.Oid), col("attnum", types.Int2),
		col("attlen", types.Int2), col("atttypmod", types.Int4), col("attnotnull", types.Bool), col("atthasdef", types.Bool),
		col("attidentity", types.Char), col("attgenerated", types.Char), col("attisdropped", types.Bool),
		col("attcollation", types.Oid),
	},
	"pg_attrdef":   {col("oid", types.Oid), col("adrelid", types.Oid), col("adnum", types.Int2), col("adbin", types.PgNodeTree)},
	"pg_type":      {col("oid", types.Oid), col("typname", types.Name), col("typnamespace", types.Oid), col("typtype", types.Char), col("typrelid", types.Oid), col("typelem", types.Oid), col("typcollation", types.Oid), col("typarray", types.Oid), col("typbasetype", types.Oid), col("typnotnull", types.Bool)},
	"pg_collation": {col("oid", types.Oid), col("collname", types.Name), col("collnamespace", types.Oid)},
	"pg_am":        {col("oid", types.Oid), col("amname", types.Name)},
}

// Lookup implements bind.VirtualTables.
func (virtual) Lookup(schema, name string) *plan.VirtualTable {
	cols := virtualColumns[name]
	if schema != "pg_catalog" || cols == nil {
		return nil
	}
	return &plan.VirtualTable{Schema: schema, Name: name, Columns: cols, Rows: func(context.Context, *expr.Context) ([]*types.Batch, error) {
		return nil, nil
	}}
}

// Names implements bind.VirtualTables.
func (virtual) Names() []string {
	var out []string
	for n := range virtualColumns {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
