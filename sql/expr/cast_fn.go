package expr

import (
	"bytes"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// castContext is what a conversion may read besides the value.
type castContext struct {
	ec       *Context
	opts     *types.TextOptions
	to       types.Type
	explicit bool
}

type castFunc func(c *castContext, d types.Datum) (types.Datum, error)

const usecDay = 86_400_000_000

func isOIDLike(o types.OID) bool {
	switch o {
	case types.Oid, types.Regclass, types.Regtype, types.Regproc, types.Regnamespace:
		return true
	}
	return false
}

func isFloat(o types.OID) bool { return o == types.Float4 || o == types.Float8 }

func isTextLike(o types.OID) bool {
	switch o {
	case types.Text, types.Varchar, types.Name, types.PgNodeTree, types.Unknown:
		return true
	}
	return false
}

// relabels reports whether the stored form stays the same.
func relabels(from, to types.Type) bool {
	f, t := from.OID, to.OID
	if to.Modifier() >= 0 {
		return false
	}
	switch {
	case f.IsInteger() && t.IsInteger():
		return f == types.Int2 || f == t || t == types.Int8
	case isOIDLike(f) && isOIDLike(t), isOIDLike(f) && t == types.Int8:
		return true
	case isTextLike(f) && (t == types.Text || t == types.Varchar || t == types.Bpchar):
		return true
	case f == types.Float4 && t == types.Float8:
		return true
	case f == types.JSONB && t == types.JSON:
		return true
	}
	return false
}

func castKernel(from, to types.OID) kernel {
	if from.IsInteger() && to == types.Float8 {
		return func(args []arg, n int, out *types.Vector) error {
			src := args[0].v.Ints
			for i, x := range src[:n] {
				out.Floats[i] = float64(x)
			}
			return nil
		}
	}
	return nil
}

func castFunction(from, to types.Type) (castFunc, error) {
	f, t := from.OID, to.OID
	switch {
	case f == t && f.IsArray(), f.IsArray() && t.IsArray():
		return castArray(from, to)
	case isBits(f) && (isBits(t) || t.IsInteger()) || isBits(t) && f.IsInteger():
		return castBits, nil
	case f == t:
		return castModifier, nil
	case f == types.JSONB && t.Category() != 'S' && t != types.JSON:
		return castJSONB, nil
	case t == types.Bool && f == types.Int4:
		return func(_ *castContext, d types.Datum) (types.Datum, error) { return types.BoolDatum(d.Int != 0), nil }, nil
	case f == types.Bool && t == types.Int4:
		return func(_ *castContext, d types.Datum) (types.Datum, error) { return d, nil }, nil
	case f == types.Char && t == types.Int4:
		return func(_ *castContext, d types.Datum) (types.Datum, error) {
			return types.IntDatum(types.Int4, int64(int8(d.Int))), nil
		}, nil
	case f == types.Int4 && t == types.Char:
		return func(_ *castContext, d types.Datum) (types.Datum, error) {
			if d.Int < math.MinInt8 || d.Int > math.MaxInt8 {
				return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"char\" out of range")
			}
			return types.IntDatum(types.Char, int64(uint8(d.Int))), nil
		}, nil
	case f.Category() == 'S' && f != types.Bpchar || f == types.PgNodeTree || f == types.Unknown:
		return castFromText, nil
	case f == types.Bpchar:
		return func(c *castContext, d types.Datum) (types.Datum, error) {
			d.Bytes = bytes.TrimRight(d.Bytes, " ")
			return castFromText(c, d)
		}, nil
	case t.Category() == 'S' || t == types.JSON && f == types.JSONB || t == types.JSONB && f == types.JSON:
		return castToText, nil
	case (f.IsInteger() || isOIDLike(f)) && (t.IsInteger() || isOIDLike(t)):
		return castIntInt, nil
	case t == types.Numeric || f == types.Numeric || isFloat(f) || isFloat(t):
		return castNumber, nil
	}
	if f.Category() == 'D' || f == types.Interval || t == types.Interval {
		return castDateTime, nil
	}
	return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", types.Of(f), types.Of(t))
}

// castModifier applies varchar(n), numeric(p,s), timestamp(p)….
func castModifier(c *castContext, d types.Datum) (types.Datum, error) {
	var err error
	switch c.to.OID {
	case types.Varchar, types.Bpchar:
		d.Bytes, err = types.FitText(d.Bytes, c.to, c.explicit)
	case types.Numeric:
		var x types.Decimal
		x, err = types.DecodeDecimal(d.Bytes).Fit(c.to)
		d.Bytes = x.Append(nil)
	case types.Interval:
		d.Bytes = types.DecodeSpan(d.Bytes).Fit(c.to).Append(nil)
	case types.Time, types.Timestamp, types.Timestamptz:
		d.Int = types.RoundMicros(d.Int, int(c.to.Modifier()))
	case types.TimeTZ:
		within, east := types.SplitTimetz(d.Int)
		d.Int = types.Timetz(types.RoundMicros(within, int(c.to.Modifier())), east)
	}
	d.Type = c.to
	return d, err
}

// castFromText reads the text form; to string types it applies the length.
func castFromText(c *castContext, d types.Datum) (types.Datum, error) {
	switch c.to.OID {
	case types.Text, types.Varchar, types.Bpchar, types.Name:
		b, err := types.FitText(d.Bytes, c.to, c.explicit)
		return types.Datum{Type: c.to, Bytes: b}, err
	}
	return types.Parse(c.to, d.Bytes, c.opts)
}

func castToText(c *castContext, d types.Datum) (types.Datum, error) {
	if d.Type.OID == types.Bool && c.to.OID != types.JSON {
		s := "false"
		if d.Int != 0 {
			s = "true"
		}
		return castFromText(c, types.TextDatum(s))
	}
	return castFromText(c, types.Datum{Type: types.Of(types.Text), Bytes: types.AppendDatumText(nil, d, c.opts)})
}

func outOfRange(t types.OID) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", types.Of(t))
}

func intRange(t types.OID) (lo, hi int64) {
	switch t {
	case types.Int2:
		return math.MinInt16, math.MaxInt16
	case types.Int4:
		return math.MinInt32, math.MaxInt32
	case types.Int8:
		return math.MinInt64, math.MaxInt64
	}
	return 0, math.MaxUint32
}

func checkInt(x int64, t types.Type) (types.Datum, error) {
	lo, hi := intRange(t.OID)
	if x < lo || x > hi {
		if isOIDLike(t.OID) {
			return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "OID out of range")
		}
		return types.Datum{}, outOfRange(t.OID)
	}
	return types.Datum{Type: t, Int: x}, nil
}

func castIntInt(c *castContext, d types.Datum) (types.Datum, error) {
	if isOIDLike(c.to.OID) && d.Type.OID != types.Int8 {
		return types.Datum{Type: c.to, Int: int64(uint32(d.Int))}, nil
	}
	if isOIDLike(d.Type.OID) && c.to.OID == types.Int4 {
		return types.Datum{Type: c.to, Int: int64(int32(d.Int))}, nil
	}
	return checkInt(d.Int, c.to)
}

// castNumber converts among integers, floats and numeric.
func castNumber(c *castContext, d types.Datum) (types.Datum, error) {
	f, t := d.Type.OID, c.to.OID
	switch {
	case t == types.Numeric:
		var x types.Decimal
		switch f {
		case types.Float4:
			x = types.DecimalFromFloat(d.Float, 6)
		case types.Float8:
			x = types.DecimalFromFloat(d.Float, 15)
		default:
			x = types.DecimalFromInt(d.Int)
		}
		x, err := x.Fit(c.to)
		return types.Datum{Type: c.to, Bytes: x.Append(nil)}, err
	case f == types.Numeric && isFloat(t):
		x := types.DecodeDecimal(d.Bytes)
		v := x.Float64()
		if math.IsInf(v, 0) && !x.IsInf() {
			return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "%q is out of range for type %s", x.String(), types.Of(t))
		}
		return fitFloat(v, t)
	case f == types.Numeric:
		x := types.DecodeDecimal(d.Bytes)
		if !x.Finite() {
			what := "infinity"
			if x.IsNaN() {
				what = "NaN"
			}
			return d, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert %s to %s", what, types.Of(t))
		}
		v, ok := x.Int64()
		if !ok {
			return d, outOfRange(t)
		}
		return checkInt(v, c.to)
	case isFloat(f) && isFloat(t):
		return fitFloat(d.Float, t)
	case isFloat(t):
		return fitFloat(float64(d.Int), t)
	}
	r := math.RoundToEven(d.Float)
	if !(r >= -9223372036854775808.0 && r < 9223372036854775808.0) {
		return d, outOfRange(t)
	}
	return checkInt(int64(r), c.to)
}

// fitFloat returns v as float8 or, if it fits, float4.
func fitFloat(v float64, t types.OID) (types.Datum, error) {
	if t == types.Float8 {
		return types.FloatDatum(v), nil
	}
	n := float64(float32(v))
	if math.IsInf(n, 0) && !math.IsInf(v, 0) {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	}
	if n == 0 && v != 0 {
		return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
	}
	return types.Datum{Type: types.Of(t), Float: n}, nil
}

func timestampRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}

// dateToMicros is midnight of a day as a timestamp.
func dateToMicros(day int64) (int64, error) {
	if types.Infinite(day) {
		return day, nil
	}
	if day >= 106_751_983 || day < -2_451_545 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return day * usecDay, nil
}

func castDateTime(c *castContext, d types.Datum) (types.Datum, error) {
	out := types.Datum{Type: c.to}
	x, loc := d.Int, c.ec.location()
	if d.Type.OID == types.Interval {
		s := types.DecodeSpan(d.Bytes)
		_, out.Int = types.SplitDay(s.Micros)
		return out, nil
	}
	if d.Type.OID == types.Date {
		var err error
		if x, err = dateToMicros(x); err != nil {
			return d, err
		}
	}
	if d.Type.OID == types.TimeTZ {
		within, _ := types.SplitTimetz(x)
		out.Int = types.RoundMicros(within, int(c.to.Modifier()))
		return out, nil
	}
	local := d.Type.OID != types.Timestamptz
	switch c.to.OID {
	case types.Timestamptz:
		if local {
			x = types.FromLocal(x, loc)
		}
	case types.Interval:
		out.Bytes = types.Span{Micros: x}.Append(nil)
		return out, nil
	case types.TimeTZ:
		return castTimetz(c, d)
	default:
		if !local {
			x = types.ToLocal(x, loc)
		}
	}
	if !types.ValidTimestamp(x) && d.Type.OID != types.Time {
		return d, timestampRange()
	}
	day, within := types.SplitDay(x)
	switch c.to.OID {
	case types.Date:
		if out.Int = day; types.Infinite(x) {
			out.Int = x
		}
	case types.Time:
		if types.Infinite(x) {
			return types.NullOf(c.to), nil
		}
		out.Int = types.RoundMicros(within, int(c.to.Modifier()))
	default:
		out.Int = types.RoundMicros(x, int(c.to.Modifier()))
	}
	return out, nil
}

// castTimetz makes a time with time zone: of the session's zone at that instant, which
// for a time of day is today's.
func castTimetz(c *castContext, d types.Datum) (types.Datum, error) {
	loc := c.ec.location()
	if types.Infinite(d.Int) {
		return types.NullOf(c.to), nil
	}
	at, within := types.FromTime(c.ec.Now), d.Int
	if d.Type.OID == types.Timestamptz {
		at = d.Int
		_, within = types.SplitDay(types.ToLocal(at, loc))
	}
	east, _ := types.ZoneOffset(at, loc)
	return types.Datum{Type: c.to, Int: types.Timetz(types.RoundMicros(within, int(c.to.Modifier())), east)}, nil
}

func castJSONB(c *castContext, d types.Datum) (types.Datum, error) {
	v, err := types.ParseJSON(d.Bytes)
	if err != nil {
		return d, err
	}
	kind := [...]string{"null", "string", "numeric", "boolean", "array", "object"}[v.Kind]
	switch {
	case v.Kind == types.JSONBool && c.to.OID == types.Bool:
		return types.BoolDatum(v.Bool), nil
	case v.Kind == types.JSONNumber && c.to.OID != types.Bool:
		x, err := types.ParseDecimal([]byte(v.Text))
		if err != nil {
			return d, err
		}
		if c.to.OID == types.Numeric {
			x, err = x.Fit(c.to)
			return x.Datum(), err
		}
		return castNumber(c, x.Datum())
	}
	return d, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", kind, types.Of(c.to.OID))
}

func castArray(from, to types.Type) (castFunc, error) {
	fe, te := from.ElemType(), to.ElemType()
	if relabels(fe, te) && fe.Kind() == te.Kind() || fe == te {
		return func(_ *castContext, d types.Datum) (types.Datum, error) {
			d.Type = to
			return d, nil
		}, nil
	}
	elem, err := castFunction(fe, te)
	if err != nil {
		return nil, err
	}
	return func(c *castContext, d types.Datum) (types.Datum, error) {
		a, err := types.ArrayDatum(d)
		if err != nil {
			return d, err
		}
		ec := *c
		ec.to = te
		a.Elem = te
		for i, it := range a.Items {
			if it.Null {
				a.Items[i] = types.NullOf(te)
				continue
			}
			if a.Items[i], err = elem(&ec, it); err != nil {
				return d, err
			}
		}
		return types.Datum{Type: to, Bytes: a.Append(nil)}, nil
	}, nil
}
