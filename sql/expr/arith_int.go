package expr

import (
	"math"
	"math/bits"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func divisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// intOp computes in 64 bits; ok is false where even those overflow.
type intOp func(a, b int64) (r int64, ok bool)

func addInt(a, b int64) (int64, bool) { r := a + b; return r, (a^r)&(b^r) >= 0 }
func subInt(a, b int64) (int64, bool) { r := a - b; return r, (a^b)&(a^r) >= 0 }

func mulInt(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi) - a>>63&b - b>>63&a
	return int64(lo), h == int64(lo)>>63
}

func divInt(a, b int64) (int64, bool) { return a / b, a != math.MinInt64 || b != -1 }

func modInt(a, b int64) (int64, bool) {
	if b == -1 {
		return 0, true
	}
	return a % b, true
}

// wider is the result type of mixed integer arithmetic.
func wider(a, b types.OID) types.OID {
	rank := map[types.OID]int{types.Int2: 0, types.Int4: 1, types.Int8: 2}
	if rank[a] > rank[b] {
		return a
	}
	return b
}

func integerOperators() []overload {
	var out []overload
	ints := []types.OID{types.Int2, types.Int4, types.Int8}
	for _, l := range ints {
		for _, r := range ints {
			t := wider(l, r)
			out = append(out, intOperator("+", l, r, t, addInt, false), intOperator("-", l, r, t, subInt, false),
				intOperator("*", l, r, t, mulInt, false), intOperator("/", l, r, t, divInt, true))
		}
		out = append(out, intOperator("%", l, l, l, modInt, true),
			intOperator("&", l, l, l, func(a, b int64) (int64, bool) { return a & b, true }, false),
			intOperator("|", l, l, l, func(a, b int64) (int64, bool) { return a | b, true }, false),
			intOperator("#", l, l, l, func(a, b int64) (int64, bool) { return a ^ b, true }, false),
			shiftOperator("<<", l), shiftOperator(">>", l),
			intPrefix("-", l, func(x int64) int64 { return -x }), intPrefix("+", l, func(x int64) int64 { return x }),
			intPrefix("~", l, func(x int64) int64 { return ^x }),
			intPrefix("@", l, func(x int64) int64 { return max(x, -x) }))
	}
	return out
}

func intOperator(name string, l, r, t types.OID, op intOp, zeroCheck bool) overload {
	lo, hi := intRange(t)
	one := func(a, b int64) (int64, error) {
		if zeroCheck && b == 0 {
			return 0, divisionByZero()
		}
		x, ok := op(a, b)
		if !ok || x < lo || x > hi {
			return 0, outOfRange(t)
		}
		return x, nil
	}
	f := overload{name: name, args: []types.OID{l, r}, ret: t, desc: "integer arithmetic"}
	f.row = func(_ *Context, a []types.Datum) (types.Datum, error) {
		x, err := one(a[0].Int, a[1].Int)
		return types.IntDatum(t, x), err
	}
	slow := func(args []arg, n int, out *types.Vector) error {
		x, y, xm, ym := args[0].v.Ints, args[1].v.Ints, args[0].mask, args[1].mask
		for i := range out.Ints[:n] {
			if out.Nulls.Has(i) {
				continue
			}
			v, err := one(x[i&xm], y[i&ym])
			if err != nil {
				return &RowError{Row: i, Err: err}
			}
			out.Ints[i] = v
		}
		return nil
	}
	f.vec = slow
	switch name {
	case "+":
		f.vec = addKernel(lo, hi, 1, slow)
	case "-":
		f.vec = addKernel(lo, hi, -1, slow)
	}
	return f
}

// addKernel adds (or subtracts) all rows without a branch per row and looks
// afterwards whether any left the range; then slow names the row.
func addKernel(lo, hi, sign int64, slow kernel) kernel {
	return func(args []arg, n int, out *types.Vector) error {
		x, y, xm, ym := args[0].v.Ints, args[1].v.Ints, args[0].mask, args[1].mask
		bad := int64(0)
		if sign > 0 {
			for i := range out.Ints[:n] {
				a, b := x[i&xm], y[i&ym]
				r := a + b
				bad |= (a ^ r) & (b ^ r)
				out.Ints[i] = r
			}
		} else {
			for i := range out.Ints[:n] {
				a, b := x[i&xm], y[i&ym]
				r := a - b
				bad |= (a ^ b) & (a ^ r)
				out.Ints[i] = r
			}
		}
		if bad < 0 || lo != math.MinInt64 && outside(out.Ints[:n], lo, hi) {
			return slow(args, n, out)
		}
		return nil
	}
}

func outside(x []int64, lo, hi int64) bool {
	bad := false
	for _, v := range x {
		bad = bad || v < lo || v > hi
	}
	return bad
}

func shiftOperator(name string, t types.OID) overload {
	width := map[types.OID]int64{types.Int2: 31, types.Int4: 31, types.Int8: 63}[t]
	return overload{
		name: name, args: []types.OID{t, types.Int4}, ret: t, desc: "bit shift",
		row: func(_ *Context, a []types.Datum) (types.Datum, error) {
			n, x := a[1].Int&width, a[0].Int
			if name == "<<" {
				x <<= n
			} else {
				x >>= n
			}
			switch t {
			case types.Int2:
				x = int64(int16(x))
			case types.Int4:
				x = int64(int32(x))
			}
			return types.IntDatum(t, x), nil
		},
	}
}

func intPrefix(name string, t types.OID, op func(int64) int64) overload {
	lo, hi := intRange(t)
	return overload{
		name: name, args: []types.OID{t}, ret: t, desc: "integer arithmetic",
		row: func(_ *Context, a []types.Datum) (types.Datum, error) {
			x := op(a[0].Int)
			if x < lo || x > hi || a[0].Int == math.MinInt64 && x == math.MinInt64 && name != "+" {
				return types.Datum{}, outOfRange(t)
			}
			return types.IntDatum(t, x), nil
		},
	}
}
