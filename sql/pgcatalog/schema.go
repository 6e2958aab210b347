package pgcatalog

import (
	_ "embed" // the tables of PostgreSQL are data
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// Schemas by number. Those of PostgreSQL have its numbers; information_schema
// has no fixed one there.
const (
	pgCatalogOID         = 11
	publicOID            = 2200
	informationSchemaOID = 13229
	tallyCatalogOID      = 13228
)

var schemaOIDs = map[string]uint32{
	"pg_catalog": pgCatalogOID, "public": publicOID, "information_schema": informationSchemaOID, "tally_catalog": tallyCatalogOID,
}

// userSchemas returns the schemas that users made.
func (c *Catalog) userSchemas() []catalog.Schema {
	if c.cfg.Snapshot == nil {
		return nil
	}
	return c.cfg.Snapshot.Schemas
}

// schemaOID returns the number of a schema; 0 if there is none.
func (c *Catalog) schemaOID(name string) uint32 {
	for _, s := range c.userSchemas() {
		if s.Name == name {
			return uint32(s.ID)
		}
	}
	return schemaOIDs[name]
}

// The files have one relation a line: name, number, number of the row type,
// kind, and its columns with their types; "!" is NOT NULL.
var (
	//go:embed schema/pg_catalog.txt
	pgCatalogText string
	//go:embed schema/information_schema.txt
	informationSchemaText string
	//go:embed schema/tally_catalog.txt
	tallyCatalogText string
	// functionsText has functions of FROM as tables whose names end in "()". What
	// they yield depends on no argument here.
	//go:embed schema/functions.txt
	functionsText string
)

// tableDef is a virtual table.
type tableDef struct {
	schema, name string
	oid, rowType uint32
	kind         string // r, v, or f for a function
	columns      []types.Column
	// shown is the number of columns that are not system columns.
	shown int

	once  sync.Once
	fixed *types.Batch
}

type definitionSet struct {
	list   []*tableDef // by schema and name
	byName map[string]*tableDef
	byOID  map[uint32]*tableDef
	names  []string
}

var definitions = sync.OnceValue(func() *definitionSet {
	d := &definitionSet{byName: map[string]*tableDef{}, byOID: map[uint32]*tableDef{}}
	d.load("information_schema", informationSchemaText)
	d.load("pg_catalog", pgCatalogText)
	d.load("tally_catalog", tallyCatalogText)
	for _, t := range d.list {
		name := t.schema + "." + t.name
		d.byName[name], d.byOID[t.oid] = t, t
		d.names = append(d.names, name)
	}
	for _, t := range parseDefinitions("pg_catalog", functionsText) {
		d.byName[t.schema+"."+t.name] = t
	}
	return d
})

func (d *definitionSet) load(schema, text string) {
	list := parseDefinitions(schema, text)
	slices.SortFunc(list, func(a, b *tableDef) int { return strings.Compare(a.name, b.name) })
	d.list = append(d.list, list...)
}

func parseDefinitions(schema, text string) []*tableDef {
	var out []*tableDef
	for line := range strings.Lines(text) {
		head, columns, _ := strings.Cut(strings.TrimSpace(line), ": ")
		f := strings.Fields(head)
		t := &tableDef{schema: schema, name: f[0], oid: mustNumber(f[1]), rowType: mustNumber(f[2]), kind: f[3]}
		for _, c := range strings.Split(columns, ", ") {
			name, typ, _ := strings.Cut(c, " ")
			typ, notNull := strings.CutSuffix(typ, "!")
			t.columns = append(t.columns, types.Column{Name: name, Type: types.Of(typeOID(typ)), NotNull: notNull})
		}
		t.shown = len(t.columns)
		if t.kind == "r" {
			t.columns = append(t.columns, systemColumns...)
		}
		out = append(out, t)
	}
	return out
}

// systemColumns are those that clients read of PostgreSQL's own tables.
var systemColumns = []types.Column{
	{Name: "tableoid", Type: types.Of(types.Oid), NotNull: true, Hidden: true},
	{Name: "xmin", Type: types.Of(types.Xid), NotNull: true, Hidden: true},
}

func mustNumber(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return uint32(n)
}

func typeOID(name string) types.OID {
	if name == "char" {
		return types.Char
	}
	t, err := types.ByName(name)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return t.OID
}

// column returns the number of a column, -1 if there is none.
func (t *tableDef) column(name string) int {
	return slices.IndexFunc(t.columns, func(c types.Column) bool { return c.Name == name })
}

// fixedRows returns the rows that depend on nothing.
func (t *tableDef) fixedRows() *types.Batch {
	t.once.Do(func() {
		w := newWriter(t)
		if fill := fixedFillers[t.schema+"."+t.name]; fill != nil {
			fill(w)
		}
		t.fixed = w.batch
	})
	return t.fixed
}
