package expr

import (
	"bytes"
	"math"

	"github.com/tallydb/tallydb/sql/types"
)

type compareOp uint8

const (
	opEq compareOp = iota + 1
	opNe
	opLt
	opLe
	opGt
	opGe
)

var compareNames = map[string]compareOp{"=": opEq, "<>": opNe, "<": opLt, "<=": opLe, ">": opGt, ">=": opGe}

func compareOpOf(name string) compareOp { return compareNames[name] }

// holds reports whether the operator accepts a three-way comparison.
func (op compareOp) holds(c int) bool {
	switch op {
	case opEq:
		return c == 0
	case opNe:
		return c != 0
	case opLt:
		return c < 0
	case opLe:
		return c <= 0
	case opGt:
		return c > 0
	}
	return c >= 0
}

// bytewise reports whether values of the type compare as their bytes.
func bytewise(t types.OID) bool {
	switch t {
	case types.Text, types.Varchar, types.Name, types.Bytea, types.UUID:
		return true
	}
	return false
}

func compareOperators() []overload {
	var out []overload
	add := func(l, r types.OID, vol Volatility, cmp func(ec *Context, a, b types.Datum) (int, error)) {
		for name, op := range compareNames {
			f := overload{name: name, args: []types.OID{l, r}, ret: types.Bool, vol: vol, total: true, desc: "comparison"}
			f.row = func(ec *Context, a []types.Datum) (types.Datum, error) {
				c, err := cmp(ec, a[0], a[1])
				return types.BoolDatum(op.holds(c)), err
			}
			if vol == Immutable && l.Kind() == r.Kind() && l.Category() == r.Category() && !crossTime(l, r) {
				f.vec = compareKernel(l, op)
			}
			out = append(out, f)
		}
	}
	plain := func(_ *Context, a, b types.Datum) (int, error) { return types.Compare(a, b), nil }
	same := []types.OID{
		types.Bool, types.Bytea, types.Char, types.Name, types.Text, types.Oid, types.Bpchar, types.Date, types.Time,
		types.TimeTZ, types.Bit, types.Varbit, types.Timestamp, types.Timestamptz, types.Interval, types.Numeric, types.UUID, types.JSONB, types.OidVector, types.Xid,
	}
	for _, t := range same {
		add(t, t, Immutable, plain)
	}
	ints := []types.OID{types.Int2, types.Int4, types.Int8}
	for _, l := range ints {
		for _, r := range ints {
			add(l, r, Immutable, plain)
		}
	}
	for _, l := range []types.OID{types.Float4, types.Float8} {
		for _, r := range []types.OID{types.Float4, types.Float8} {
			add(l, r, Immutable, plain)
		}
	}
	add(types.Name, types.Text, Immutable, plain)
	add(types.Text, types.Name, Immutable, plain)
	add(types.AnyArray, types.AnyArray, Immutable, plain)
	add(types.AnyEnum, types.AnyEnum, Immutable, plain)
	add(types.Record, types.Record, Immutable, plain)
	for _, l := range []types.OID{types.Date, types.Timestamp, types.Timestamptz} {
		for _, r := range []types.OID{types.Date, types.Timestamp, types.Timestamptz} {
			if l != r {
				vol := Immutable
				if l == types.Timestamptz || r == types.Timestamptz {
					vol = Stable
				}
				add(l, r, vol, compareTimes)
			}
		}
	}
	return out
}

func crossTime(l, r types.OID) bool { return l != r && l.Category() == 'D' }

func compareTimes(ec *Context, a, b types.Datum) (int, error) {
	zoned := a.Type.OID == types.Timestamptz || b.Type.OID == types.Timestamptz
	x, y := instant(ec, a, zoned), instant(ec, b, zoned)
	return types.Compare(types.IntDatum(types.Int8, x), types.IntDatum(types.Int8, y)), nil
}

// instant is a date or timestamp in microseconds, as timestamptz if zoned.
func instant(ec *Context, d types.Datum, zoned bool) int64 {
	x := d.Int
	if d.Type.OID == types.Date && !types.Infinite(x) {
		if x > 106_751_990 {
			return math.MaxInt64 - 1 // beyond every timestamp, below infinity
		}
		x *= usecDay
	}
	if zoned && d.Type.OID != types.Timestamptz {
		x = types.FromLocal(x, ec.location())
	}
	return x
}

func compareKernel(t types.OID, op compareOp) kernel {
	switch t.Kind() {
	case types.KindInt:
		return func(args []arg, n int, out *types.Vector) error {
			compareInts(args[0].v.Ints, args[1].v.Ints, args[0].mask, args[1].mask, out.Ints[:n], op)
			return nil
		}
	case types.KindFloat:
		return func(args []arg, n int, out *types.Vector) error {
			x, y, xm, ym := args[0].v.Floats, args[1].v.Floats, args[0].mask, args[1].mask
			for i := range out.Ints[:n] {
				out.Ints[i] = int64(b2i(op.holds(types.CompareFloat(x[i&xm], y[i&ym]))))
			}
			return nil
		}
	}
	return func(args []arg, n int, out *types.Vector) error {
		x, y, xm, ym := args[0].v, args[1].v, args[0].mask, args[1].mask
		if bytewise(t) {
			for i := range out.Ints[:n] {
				out.Ints[i] = int64(b2i(op.holds(bytes.Compare(x.Bytes(i&xm), y.Bytes(i&ym)))))
			}
			return nil
		}
		typ := x.Type
		for i := range out.Ints[:n] {
			if out.Nulls.Has(i) {
				continue
			}
			out.Ints[i] = int64(b2i(op.holds(types.CompareBytes(typ, x.Bytes(i&xm), y.Bytes(i&ym)))))
		}
		return nil
	}
}

func compareInts(x, y []int64, xm, ym int, out []int64, op compareOp) {
	switch op {
	case opEq:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] == y[i&ym]))
		}
	case opNe:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] != y[i&ym]))
		}
	case opLt:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] < y[i&ym]))
		}
	case opLe:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] <= y[i&ym]))
		}
	case opGt:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] > y[i&ym]))
		}
	default:
		for i := range out {
			out[i] = int64(b2i(x[i&xm] >= y[i&ym]))
		}
	}
}
