package pgcatalog

import "github.com/tallydb/tallydb/catalog"

// fillTableView writes pg_tables.
func fillTableView(c *Catalog, w *writer) {
	w.columns("schemaname tablename tableowner hasindexes")
	w.always("hasrules", false, "hastriggers", false, "rowsecurity", false)
	for _, t := range definitions().list {
		if t.kind == "r" {
			w.add(t.schema, t.name, catalog.BootstrapRole, false)
		}
	}
	for _, o := range c.relations() {
		if o.kind == "r" {
			w.add(o.schema, o.name, c.owner(o), o.table != nil && len(o.table.Table.PrimaryKey) > 0)
		}
	}
}

// fillViewView writes pg_views.
func fillViewView(c *Catalog, w *writer) {
	w.columns("schemaname viewname viewowner definition")
	for _, t := range definitions().list {
		if t.kind == "v" {
			w.add(t.schema, t.name, catalog.BootstrapRole, nil)
		}
	}
	for _, o := range c.relations() {
		if o.kind == "v" {
			w.add(o.schema, o.name, c.owner(o), o.body())
		}
	}
}

// fillMaterializedViews writes pg_matviews.
func fillMaterializedViews(c *Catalog, w *writer) {
	w.columns("schemaname matviewname matviewowner hasindexes ispopulated definition")
	for _, o := range c.relations() {
		if o.kind == "m" {
			w.add(o.schema, o.name, c.owner(o), len(o.table.Indexes()) > 0, o.populated(), o.body())
		}
	}
}

// populated reports whether a relation can be read.
func (o *object) populated() bool {
	return o.relation == nil || o.relation.Materialized == nil || o.relation.Materialized.Populated
}

// body is the text of a view, or nil.
func (o *object) body() any {
	if o.relation == nil {
		return nil
	}
	if s, ok := viewBody(o.relation); ok {
		return s
	}
	return nil
}

// fillIndexView writes pg_indexes.
func fillIndexView(c *Catalog, w *writer) {
	w.columns("schemaname tablename indexname indexdef")
	for _, k := range c.keys() {
		w.add(k.table.Schema, k.table.Name, k.Name, k.definition(0))
	}
}

// fillTableStats writes pg_stat_all_tables and pg_stat_user_tables: the tables
// and streams that there are, without counts.
func fillTableStats(c *Catalog, w *writer) {
	w.columns("relid schemaname relname")
	for _, o := range c.relations() {
		if o.kind == "r" {
			w.add(o.oid, o.schema, o.name)
		}
	}
}
