package pgcatalog

import (
	"strconv"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/types"
)

func fillCatalogName(c *Catalog, w *writer) {
	w.columns("catalog_name")
	w.add(c.database())
}

func fillSchemata(c *Catalog, w *writer) {
	w.columns("schema_name schema_owner")
	w.always("catalog_name", c.database())
	for _, s := range schemaNames {
		c.addSchema(w, c.schema(s))
	}
	for _, s := range c.userSchemas() {
		c.addSchema(w, s)
	}
}

// addSchema adds a schema to schemata, where the role may do something with it.
func (c *Catalog) addSchema(w *writer, s catalog.Schema) {
	o := access.OfSchema(&s)
	if c.cfg.Rights.Owns(c.cfg.Role, o) || c.cfg.Rights.Allowed(c.cfg.Role, o, catalog.SchemaPrivileges) != 0 {
		w.add(s.Name, c.cfg.Rights.Owner(s.Owner))
	}
}

func fillCharacterSets(c *Catalog, w *writer) {
	w.columns("character_set_name character_repertoire form_of_use default_collate_catalog")
	w.add("UTF8", "UCS", "UTF8", c.database())
}

func fillInfoCollations(c *Catalog, w *writer) {
	w.columns("collation_name")
	w.always("collation_catalog", c.database(), "collation_schema", "pg_catalog", "pad_attribute", "NO PAD")
	for _, n := range []string{"default", "C", "POSIX"} {
		w.add(n)
	}
}

func fillEnabledRoles(c *Catalog, w *writer) {
	w.columns("role_name")
	for _, name := range c.enabled() {
		w.add(name)
	}
}

// insertable reports whether clients can write to an object.
func (o *object) insertable() bool {
	return o.relation != nil && (o.relation.Kind == catalog.KindTable || o.relation.Kind == catalog.KindStream)
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func fillTables(c *Catalog, w *writer) {
	w.columns("table_schema table_name table_type is_insertable_into")
	w.always("table_catalog", c.database(), "is_typed", "NO")
	kinds := map[string]string{"r": "BASE TABLE", "v": "VIEW"}
	for _, t := range definitions().list {
		w.add(t.schema, t.name, kinds[t.kind], "NO")
	}
	for _, o := range c.listed() {
		kind := kinds[o.kind]
		if o.persistence() == "t" { // views too, as in PostgreSQL
			kind = "LOCAL TEMPORARY"
		}
		w.add(o.schema, o.name, kind, yesNo(o.insertable()))
	}
}

func fillInfoViews(c *Catalog, w *writer) {
	w.columns("table_schema table_name view_definition")
	w.always("table_catalog", c.database(), "check_option", "NONE", "is_updatable", "NO", "is_insertable_into", "NO",
		"is_trigger_updatable", "NO", "is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO")
	for _, t := range definitions().list {
		if t.kind == "v" {
			w.add(t.schema, t.name, nil)
		}
	}
	for _, o := range c.listed() {
		if o.kind == "v" {
			body := o.body()
			if !c.owns(o) {
				body = nil
			}
			w.add(o.schema, o.name, body)
		}
	}
}

func fillColumns(c *Catalog, w *writer) {
	w.columns("table_schema table_name column_name ordinal_position column_default is_nullable is_updatable dtd_identifier is_identity identity_generation domain_catalog domain_schema domain_name " + dataTypeColumns)
	w.always("table_catalog", c.database(), "udt_catalog", c.database(), "is_self_referencing", "NO",
		"identity_cycle", "NO", "is_generated", "NEVER")
	row := func(schema, table string, i int, col types.Column, byDefault any, updatable bool, identity any) {
		of, nullable := col.Type, !col.NotNull
		var domainCatalog, domainSchema, domainName any
		if domain := c.userType(of.Domain()); domain != nil {
			of, nullable = domain.Domain.Of, nullable && !domain.Domain.NotNull
			domainCatalog, domainSchema, domainName = c.database(), domain.Schema, domain.Name
		}
		w.add(append([]any{
			schema, table, col.Name, i + 1, byDefault, yesNo(nullable), yesNo(updatable), strconv.Itoa(i + 1), yesNo(identity != nil), identity,
			domainCatalog, domainSchema, domainName,
		}, c.dataType(of)...)...)
	}
	for _, t := range definitions().list {
		for i, col := range t.columns[:t.shown] {
			row(t.schema, t.name, i, col, nil, false, nil)
		}
	}
	for _, o := range c.listed() {
		for i, col := range o.columns {
			var byDefault, identity any
			if o.hasDefault(i) {
				byDefault = defaultText(o.table.Table.Defaults[i], col.Type)
			}
			if kind := o.identity(i); kind != "" {
				identity = map[string]string{"a": "ALWAYS", "d": "BY DEFAULT"}[kind]
			}
			row(o.schema, o.name, i, col, byDefault, o.insertable() && col.Role == types.RoleData, identity)
		}
	}
}

// dataTypeColumns are the columns that dataType fills.
const dataTypeColumns = `data_type udt_name udt_schema character_maximum_length character_octet_length numeric_precision
	numeric_precision_radix numeric_scale datetime_precision`

// dataType describes a type as the standard wants it.
func (c *Catalog) dataType(t types.Type) []any {
	name, udt, schema := "", "", "pg_catalog"
	if info, ok := types.Lookup(t.OID); ok {
		name, udt = info.SQLName, info.Name
		if info.Category == 'A' && info.Array == 0 && t.OID != types.Int2Vector && t.OID != types.OidVector || info.Name[0] == '_' {
			name = "ARRAY"
		}
	}
	if domain := c.userType(t.Domain()); domain != nil {
		return []any{"USER-DEFINED", domain.Name, domain.Schema, nil, nil, nil, nil, nil, nil}
	}
	if user := c.userType(t.OID); user != nil {
		schema = user.Schema
		if name != "ARRAY" {
			name = "USER-DEFINED"
		}
	}
	var length, octets, precision, radix, scale, fraction any
	switch t.OID {
	case types.Text:
		octets = 1 << 30
	case types.Varchar, types.Bpchar:
		octets = 1 << 30
		if m := t.Modifier(); m >= 4 {
			length, octets = int(m-4), int(m-4)*4
		}
	case types.Int2:
		precision, radix, scale = 16, 2, 0
	case types.Int4:
		precision, radix, scale = 32, 2, 0
	case types.Int8:
		precision, radix, scale = 64, 2, 0
	case types.Float4:
		precision, radix = 24, 2
	case types.Float8:
		precision, radix = 53, 2
	case types.Numeric:
		radix = 10
		if t.Modifier() >= 0 {
			p, s := t.NumericLimits()
			precision, scale = p, s
		}
	case types.Date:
		fraction = 0
	case types.Time, types.TimeTZ, types.Timestamp, types.Timestamptz, types.Interval:
		fraction = 6
		if m := t.Modifier(); m >= 0 && m <= 6 {
			fraction = int(m)
		}
	}
	return []any{name, udt, schema, length, octets, precision, radix, scale, fraction}
}
