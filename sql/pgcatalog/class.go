package pgcatalog

import (
	"github.com/tallydb/tallydb/sql/types"
)

const classColumns = `oid relname relnamespace reltype relam relfilenode relhasindex relkind relnatts relchecks
	relhasrules relhastriggers relreplident reloptions reltuples relispopulated relowner relacl relpersistence`

func startClasses(w *writer) {
	w.columns(classColumns)
}

// fillSystemClasses lists the catalogs themselves.
func fillSystemClasses(w *writer) {
	startClasses(w)
	for _, t := range definitions().list {
		am, file := 0, uint32(0)
		if t.kind == "r" {
			am, file = heapOID, t.oid
		}
		w.add(t.oid, t.name, schemaOIDs[t.schema], t.rowType, am, file, false, t.kind, t.shown, 0, t.kind == "v", false, "n", nil, -1.0, true, ownerOID, aclOrNull(t.acl()), "p")
	}
}

// fillClasses lists the user's objects. Streams are tables and continuous views
// are views to a client that does not know better.
func fillClasses(c *Catalog, w *writer) {
	startClasses(w)
	for _, o := range c.objects() {
		am, identity, file := 0, "n", uint32(0)
		switch o.kind {
		case "r", "m":
			am, identity, file = heapOID, "d", o.oid
		case "i":
			am, file = btreeOID, o.oid
		}
		var options any
		if len(o.options) > 0 {
			options = o.options
		}
		hasIndex := !o.index() && o.table != nil && len(o.table.Indexes()) > 0
		checks := 0
		if o.table != nil {
			checks = len(o.table.Table.Checks)
		}
		rows := -1.0 // unknown
		if o.index() {
			rows = 0
		}
		w.add(o.oid, o.name, c.schemaOID(o.schema), o.rowType, am, file, hasIndex, o.kind, len(o.columns), checks, o.kind == "v" || o.kind == "m",
			c.linked(o.table), identity, options, rows, o.populated(), c.roleOID(c.owner(o)), aclOrNull(o.acl()), o.persistence())
	}
}

const attributeColumns = `attrelid attname atttypid attlen attnum attndims atttypmod attbyval attalign attstorage
	attnotnull atthasdef attidentity attcollation attstattarget`

func startAttributes(w *writer) {
	w.columns(attributeColumns)
	w.always("attcacheoff", -1, "attislocal", true)
}

func addAttribute(w *writer, relation uint32, number int, col types.Column, hasDefault bool, identity string) {
	info, ok := types.Lookup(col.Type.OID)
	if !ok {
		info = &types.Info{}
	}
	dims, statistics := 0, -1
	if col.Type.OID.IsArray() && info.Array == 0 && info.OID != types.Int2Vector && info.OID != types.OidVector {
		dims = 1
	}
	if number < 0 {
		statistics = 0
	}
	modifier := int(col.Type.Modifier())
	if col.Type.Domain() != 0 {
		modifier = -1 // the domain has it
	}
	w.add(relation, col.Name, col.Type.Declared(), int(info.Len), number, dims, modifier, info.ByVal, info.Align,
		info.Storage, col.NotNull, hasDefault, identity, collationOf(col.Type.OID), statistics)
}

// fillSystemAttributes lists the columns of the catalogs.
func fillSystemAttributes(w *writer) {
	startAttributes(w)
	for _, t := range definitions().list {
		for i, col := range t.columns {
			n := i + 1
			if i >= t.shown {
				n = systemNumbers[col.Name]
			}
			addAttribute(w, t.oid, n, col, false, "")
		}
	}
}

// systemNumbers are the numbers of PostgreSQL's system columns.
var systemNumbers = map[string]int{"tableoid": -6, "xmin": -2}

// fillAttributes lists the columns of the user's objects.
func fillAttributes(c *Catalog, w *writer) {
	startAttributes(w)
	for _, o := range c.objects() {
		for i, col := range o.columns {
			if o.index() {
				col.NotNull = false
			}
			addAttribute(w, o.oid, i+1, col, o.hasDefault(i), o.identity(i))
		}
	}
}

// collationOf returns typcollation.
func collationOf(t types.OID) int {
	if e := t.Elem(); e != 0 {
		t = e
	}
	switch t {
	case types.Name:
		return cCollationOID
	case types.Text, types.Varchar, types.Bpchar, types.PgNodeTree:
		return defaultCollationOID
	}
	return 0
}
