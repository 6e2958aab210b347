package pgcatalog

import (
	"sync"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// operatorNumbers has the number of each of expr.Operators, in their order.
var operatorNumbers = sync.OnceValue(func() []uint32 {
	var out []uint32
	taken := numbering{}
	for _, o := range expr.Operators() {
		var args []types.OID
		for _, a := range o.Args {
			args = append(args, a.OID)
		}
		out = append(out, taken.number("o", o.Name, args))
	}
	return out
})

// operatorNumber returns the number of an operator with two operands, 0 if there is none.
func operatorNumber(name string, left, right types.OID) uint32 {
	for i, o := range expr.Operators() {
		if o.Name == name && len(o.Args) == 2 && o.Args[0].OID == left && o.Args[1].OID == right {
			return operatorNumbers()[i]
		}
	}
	return 0
}

func fillOperators(w *writer) {
	w.columns("oid oprname oprkind oprleft oprright oprresult")
	w.always("oprnamespace", pgCatalogOID, "oprowner", ownerOID)
	for i, o := range expr.Operators() {
		n := operatorNumbers()[i]
		switch len(o.Args) {
		case 1:
			w.add(n, o.Name, "l", 0, o.Args[0].OID, o.Result.OID)
		case 2:
			w.add(n, o.Name, "b", o.Args[0].OID, o.Args[1].OID, o.Result.OID)
		}
	}
}

func fillCasts(w *writer) {
	w.columns("oid castsource casttarget castcontext castmethod")
	contexts := map[expr.CastContext]string{expr.Implicit: "i", expr.Assignment: "a", expr.Explicit: "e"}
	for i, c := range expr.Casts() {
		w.add(firstCast+uint32(i), c.From, c.To, contexts[c.Context], "f")
	}
}

// btreeClasses are the default operator classes, by PostgreSQL's numbers.
var btreeClasses = []struct {
	oid  uint32
	name string
	typ  types.OID
}{
	{10003, "bool_ops", types.Bool},
	{10006, "bytea_ops", types.Bytea},
	{10007, "char_ops", types.Char},
	{10028, "name_ops", types.Name},
	{3124, "int8_ops", types.Int8},
	{1979, "int2_ops", types.Int2},
	{1978, "int4_ops", types.Int4},
	{3126, "text_ops", types.Text},
	{1981, "oid_ops", types.Oid},
	{10012, "float4_ops", types.Float4},
	{3123, "float8_ops", types.Float8},
	{10004, "bpchar_ops", types.Bpchar},
	{3122, "date_ops", types.Date},
	{10038, "time_ops", types.Time},
	{10041, "timetz_ops", types.TimeTZ},
	{10002, "bit_ops", types.Bit},
	{10043, "varbit_ops", types.Varbit},
	{3128, "timestamp_ops", types.Timestamp},
	{3127, "timestamptz_ops", types.Timestamptz},
	{10022, "interval_ops", types.Interval},
	{3125, "numeric_ops", types.Numeric},
	{10000, "array_ops", types.AnyArray},
	{10065, "uuid_ops", types.UUID},
	{10088, "jsonb_ops", types.JSONB},
}

func fillOperatorClasses(w *writer) {
	w.columns("oid opcname opcintype")
	w.always("opcmethod", btreeOID, "opcnamespace", pgCatalogOID, "opcowner", ownerOID, "opcdefault", true)
	for _, c := range btreeClasses {
		w.add(c.oid, c.name, c.typ)
	}
}

// operatorClass returns the default operator class of an index on a type.
func operatorClass(t types.OID) uint32 {
	switch {
	case t == types.Varchar:
		t = types.Text
	case t.IsArray():
		t = types.AnyArray
	}
	for _, c := range btreeClasses {
		if c.typ == t {
			return c.oid
		}
	}
	return 0
}
