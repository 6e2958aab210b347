package pgcatalog

import (
	_ "embed" // numbers of the input and output functions are data
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/types"
)

// The file has a type a line: its name, then number and name of its input,
// output, receive and send functions in PostgreSQL.
//
//go:embed schema/type_io.txt
var typeIOText string

// ioFunction is a function that turns a type into text or bytes or back. It is
// listed for clients that look it up, and cannot be called.
type ioFunction struct {
	oid  uint32
	name string
	typ  types.OID
	use  int // 0 input, 1 output, 2 receive, 3 send
}

type typeIO [4]ioFunction

// typeIOs are the functions by type name; arrays share those of "array", and
// enums those of "enum". Values of domains are read by those of "domain".
var typeIOs = sync.OnceValue(func() map[string]typeIO {
	m := map[string]typeIO{"array": {
		{750, "array_in", types.AnyArray, 0},
		{751, "array_out", types.AnyArray, 1},
		{2400, "array_recv", types.AnyArray, 2},
		{2401, "array_send", types.AnyArray, 3},
	}, "record": {
		{2290, "record_in", types.Record, 0},
		{2291, "record_out", types.Record, 1},
		{2402, "record_recv", types.Record, 2},
		{2403, "record_send", types.Record, 3},
	}, "enum": {
		{3504, "enum_in", types.AnyEnum, 0},
		{3505, "enum_out", types.AnyEnum, 1},
		{3532, "enum_recv", types.AnyEnum, 2},
		{3533, "enum_send", types.AnyEnum, 3},
	}, "domain": {
		{2597, "domain_in", types.Any, 0},
		{2598, "domain_recv", types.Any, 2},
	}}
	for line := range strings.Lines(typeIOText) {
		f := strings.Fields(line)
		var io typeIO
		for i := range io {
			io[i] = ioFunction{mustNumber(f[1+2*i]), f[2+2*i], typeOID(f[0]), i}
		}
		m[f[0]] = io
	}
	return m
})

func ioOf(t *types.Info) typeIO {
	m := typeIOs()
	if io, ok := m[t.Name]; ok {
		return io
	}
	if t.Elem != 0 {
		return m["array"]
	}
	return m["bytea"]
}

const typeColumns = `oid typname typnamespace typlen typbyval typtype typcategory typispreferred typdelim typrelid
	typsubscript typelem typarray typinput typoutput typreceive typsend typalign typstorage typcollation
	typtypmod typbasetype typnotnull typdefault typdefaultbin`

func startTypes(w *writer) {
	w.columns(typeColumns)
	w.always("typowner", ownerOID, "typisdefined", true)
}

// Numbers of the subscript handlers, which clients test for true arrays.
const arraySubscriptHandler, rawSubscriptHandler = 6179, 6180

// fillTypes lists the types and the row types of the catalogs.
func fillTypes(w *writer) {
	startTypes(w)
	for _, t := range types.Catalog() {
		io := ioOf(&t)
		subscript := 0
		if t.Elem != 0 {
			subscript = arraySubscriptHandler
			if t.Len > 0 {
				subscript = rawSubscriptHandler
			}
		}
		w.add(t.OID, t.Name, pgCatalogOID, int(t.Len), t.ByVal, t.Type, t.Category, t.Preferred, t.Delim, 0, subscript, t.Elem,
			t.Array, io[0].oid, io[1].oid, io[2].oid, io[3].oid, t.Align, t.Storage, collationOf(t.OID), -1, 0, false, nil, nil)
	}
	for _, t := range definitions().list {
		addRowType(w, t.rowType, t.name, schemaOIDs[t.schema], t.oid)
	}
}

// fillRowTypes lists the row types of the user's relations, and the user's types.
func fillRowTypes(c *Catalog, w *writer) {
	startTypes(w)
	for _, o := range c.objects() {
		if o.rowType != 0 {
			addRowType(w, o.rowType, o.name, c.schemaOID(o.schema), o.oid)
		}
	}
	fillUserTypes(c, w)
}

func addRowType(w *writer, oid uint32, name string, schema, relation uint32) {
	io := typeIOs()["record"]
	w.add(oid, name, schema, -1, false, "c", "C", false, ",", relation, 0, 0, 0, io[0].oid, io[1].oid, io[2].oid, io[3].oid,
		"d", "x", 0, -1, 0, false, nil, nil)
}
