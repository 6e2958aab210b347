package expr

import "github.com/tallydb/tallydb/sql/types"

// castTable is pg_cast of PostgreSQL 15 for our types. Casts that go through
// the text form are not in it: to the string types they are assignments, from
// them explicit.
var castTable = []struct {
	from types.OID
	ctx  CastContext
	to   []types.OID
}{
	{types.Bool, Assignment, []types.OID{types.Text, types.Bpchar, types.Varchar}},
	{types.Bool, Explicit, []types.OID{types.Int4}},
	{types.Char, Implicit, []types.OID{types.Text}},
	{types.Char, Assignment, []types.OID{types.Bpchar, types.Varchar}},
	{types.Char, Explicit, []types.OID{types.Int4}},
	{types.Name, Implicit, []types.OID{types.Text}},
	{types.Name, Assignment, []types.OID{types.Bpchar, types.Varchar}},
	{types.Int8, Implicit, []types.OID{types.Regproc, types.Oid, types.Float4, types.Float8, types.Numeric, types.Regclass, types.Regtype, types.Regnamespace}},
	{types.Int8, Assignment, []types.OID{types.Int2, types.Int4}},
	{types.Int2, Implicit, []types.OID{types.Int8, types.Int4, types.Regproc, types.Oid, types.Float4, types.Float8, types.Numeric, types.Regclass, types.Regtype, types.Regnamespace}},
	{types.Int4, Implicit, []types.OID{types.Int8, types.Regproc, types.Oid, types.Float4, types.Float8, types.Numeric, types.Regclass, types.Regtype, types.Regnamespace}},
	{types.Int4, Assignment, []types.OID{types.Int2}},
	{types.Int4, Explicit, []types.OID{types.Bool, types.Char}},
	{types.Regproc, Implicit, []types.OID{types.Oid}},
	{types.Regproc, Assignment, []types.OID{types.Int8, types.Int4}},
	{types.Text, Implicit, []types.OID{types.Name, types.Bpchar, types.Varchar, types.Regclass}},
	{types.Text, Assignment, []types.OID{types.Char}},
	{types.Oid, Implicit, []types.OID{types.Regproc, types.Regclass, types.Regtype, types.Regnamespace}},
	{types.Oid, Assignment, []types.OID{types.Int8, types.Int4}},
	{types.JSON, Assignment, []types.OID{types.JSONB}},
	{types.PgNodeTree, Implicit, []types.OID{types.Text}},
	{types.Float4, Implicit, []types.OID{types.Float8}},
	{types.Float4, Assignment, []types.OID{types.Int8, types.Int2, types.Int4, types.Numeric}},
	{types.Float8, Assignment, []types.OID{types.Int8, types.Int2, types.Int4, types.Float4, types.Numeric}},
	{types.Bpchar, Implicit, []types.OID{types.Name, types.Text, types.Varchar}},
	{types.Bpchar, Assignment, []types.OID{types.Char}},
	{types.Varchar, Implicit, []types.OID{types.Name, types.Text, types.Bpchar, types.Regclass}},
	{types.Varchar, Assignment, []types.OID{types.Char}},
	{types.Date, Implicit, []types.OID{types.Timestamp, types.Timestamptz}},
	{types.Time, Implicit, []types.OID{types.Interval, types.TimeTZ}},
	{types.TimeTZ, Assignment, []types.OID{types.Time}},
	{types.Timestamp, Implicit, []types.OID{types.Timestamptz}},
	{types.Timestamp, Assignment, []types.OID{types.Date, types.Time}},
	{types.Timestamptz, Assignment, []types.OID{types.Date, types.Time, types.TimeTZ, types.Timestamp}},
	{types.Interval, Assignment, []types.OID{types.Time}},
	{types.Bit, Implicit, []types.OID{types.Varbit}},
	{types.Bit, Explicit, []types.OID{types.Int8, types.Int4}},
	{types.Varbit, Implicit, []types.OID{types.Bit}},
	{types.Int8, Explicit, []types.OID{types.Bit}},
	{types.Int4, Explicit, []types.OID{types.Bit}},
	{types.Numeric, Implicit, []types.OID{types.Float4, types.Float8}},
	{types.Numeric, Assignment, []types.OID{types.Int8, types.Int2, types.Int4}},
	{types.Regclass, Implicit, []types.OID{types.Oid}},
	{types.Regclass, Assignment, []types.OID{types.Int8, types.Int4}},
	{types.Regtype, Implicit, []types.OID{types.Oid}},
	{types.Regtype, Assignment, []types.OID{types.Int8, types.Int4}},
	{types.JSONB, Assignment, []types.OID{types.JSON}},
	{types.JSONB, Explicit, []types.OID{types.Bool, types.Int8, types.Int2, types.Int4, types.Float4, types.Float8, types.Numeric}},
	{types.Regnamespace, Implicit, []types.OID{types.Oid}},
	{types.Regnamespace, Assignment, []types.OID{types.Int8, types.Int4}},
}

var castContexts = func() map[[2]types.OID]CastContext {
	m := map[[2]types.OID]CastContext{}
	for _, row := range castTable {
		for _, to := range row.to {
			m[[2]types.OID{row.from, to}] = row.ctx
		}
	}
	return m
}()

// CastInfo is a row of pg_cast.
type CastInfo struct {
	From, To types.OID
	Context  CastContext
}

// Casts lists the casts that do not go through the text form.
func Casts() []CastInfo {
	var out []CastInfo
	for _, row := range castTable {
		for _, to := range row.to {
			out = append(out, CastInfo{row.from, to, row.ctx})
		}
	}
	return out
}
