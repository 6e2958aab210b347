package pgcatalog

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// object is what pg_class has a row for: a user's relation, a side relation, or
// the index of a primary key.
type object struct {
	oid      uint32
	rowType  uint32 // 0: none
	schema   string
	name     string
	kind     string // relkind
	columns  []types.Column
	about    string
	options  []string
	table    *catalog.Relation // of tables and their indexes
	key      *key              // of indexes
	relation *catalog.Relation // the relation itself; nil for side relations and indexes
	guard    *catalog.Relation // whose owner and privileges count
}

func (o *object) index() bool { return o.kind == "i" }

// objects returns the user's objects by schema and name of their relation.
func (c *Catalog) objects() []*object {
	c.objectsOnce.Do(func() {
		if c.cfg.Snapshot == nil {
			return
		}
		for _, r := range c.cfg.Snapshot.Relations() {
			c.objectList = append(c.objectList, c.objectsOf(r)...)
		}
		c.objectByOID = make(map[uint32]*object, len(c.objectList))
		for _, o := range c.objectList {
			c.objectByOID[o.oid] = o
		}
	})
	return c.objectList
}

// object returns an object by number, or nil.
func (c *Catalog) object(oid uint32) *object {
	c.objects()
	return c.objectByOID[oid]
}

// hasDefault reports whether a column of a table has a default that is shown as one:
// that of an identity column is not.
func (o *object) hasDefault(column int) bool {
	if o.table == nil || o.index() || o.identity(column) != "" {
		return false
	}
	_, ok := o.table.Table.Defaults[column]
	return ok
}

// identity returns attidentity of a column.
func (o *object) identity(column int) string {
	if o.table == nil || o.index() {
		return ""
	}
	always, ok := o.table.Table.Identity[column]
	switch {
	case !ok:
		return ""
	case always:
		return "a"
	}
	return "d"
}

// persistence returns relpersistence.
func (o *object) persistence() string {
	if catalog.IsTemporary(o.schema) {
		return "t"
	}
	return "p"
}

// relations returns the objects that have rows.
func (c *Catalog) relations() []*object {
	var out []*object
	for _, o := range c.objects() {
		if !o.index() && o.kind != "S" {
			out = append(out, o)
		}
	}
	return out
}

// listed returns the relations that information_schema lists: SQL's standard knows no
// materialized views.
func (c *Catalog) listed() []*object {
	return slices.DeleteFunc(c.relations(), func(o *object) bool { return o.kind == "m" })
}

func (c *Catalog) objectsOf(r *catalog.Relation) []*object {
	n := uint32(r.ID)
	o := &object{
		oid: n, rowType: rowTypeOf.oid(n), schema: r.Schema, name: r.Name, kind: "r",
		columns: r.Columns, about: c.about(r), options: options(r), relation: r, guard: r,
	}
	out := []*object{o}
	side := func(kind plan.SideKind, stream *catalog.Relation, d derived, about string) {
		out = append(out, &object{
			oid: d.oid(n), schema: r.Schema, name: r.Name + "__" + string(kind), kind: "v",
			columns: plan.SideSchema(kind, stream).Columns, about: about, guard: stream,
		})
	}
	switch r.Kind {
	case catalog.KindTable:
		o.table = r
		for _, k := range keysOf(r) {
			out = append(out, indexObject(&k))
		}
	case catalog.KindMaterialized:
		o.kind, o.table = "m", r
		for _, k := range keysOf(r) {
			out = append(out, indexObject(&k))
		}
	case catalog.KindSequence:
		o.kind, o.rowType = "S", 0
		o.columns = sequenceColumns
	case catalog.KindStream:
		o.columns = withEnvelope(r.Columns)
		side(plan.SideRejected, r, rejectedOf, "Events that stream "+r.Name+" refused, with the reason.")
		side(plan.SideLate, r, lateOf, "Events that came too late for a view of stream "+r.Name+".")
	case catalog.KindView:
		o.kind = "v"
	case catalog.KindContinuousView:
		o.kind, o.columns = "v", withEnvelope(r.Columns)
		if stream := c.cfg.Snapshot.ByID(r.ContinuousView.Stream); stream != nil {
			side(plan.SideLate, stream, lateOf, "Events that came too late for view "+r.Name+".")
			side(plan.SideErrors, stream, errorsOf, "Events on which an expression of view "+r.Name+" failed.")
		}
	}
	return out
}

// sequenceColumns are those that a sequence has in pg_attribute.
var sequenceColumns = []types.Column{
	{Name: "last_value", Type: types.Of(types.Int8), NotNull: true},
	{Name: "log_cnt", Type: types.Of(types.Int8), NotNull: true},
	{Name: "is_called", Type: types.Of(types.Bool), NotNull: true},
}

func indexObject(k *key) *object {
	o := &object{oid: k.oid, schema: k.table.Schema, name: k.Name, kind: "i", table: k.table, key: k, guard: k.table}
	for i := range k.Columns {
		o.columns = append(o.columns, k.Column(k.table, i))
	}
	return o
}

// withEnvelope appends the system columns that SELECT * shows, so that tools
// that select the listed columns have them too.
func withEnvelope(columns []types.Column) []types.Column {
	out := slices.Clone(columns)
	for _, c := range plan.EnvelopeColumns() {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

// envelopeAbout are the comments on the envelope's columns.
var envelopeAbout = map[string]string{
	"_status":       "Worst of complete, provisional, stale, degraded and partial.",
	"_coverage":     "Covered share of the expected log ranges; 1 is all.",
	"_error":        "Largest declared error of the row's approximate columns; 0 is exact, NULL unknown.",
	"_staleness_ms": "How far behind accepted events the row is, in milliseconds.",
}
