package expr

import (
	"math"
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// isPartUnit reports whether extract knows a unit that date_trunc does not.
func isPartUnit(u string) bool {
	switch u {
	case "dow", "isodow", "doy", "epoch", "isoyear", "julian", "timezone", "timezone_hour", "timezone_minute":
		return true
	}
	return false
}

func partFunctions() []overload {
	var out []overload
	for _, t := range []types.OID{types.Timestamp, types.Timestamptz, types.Date, types.Time, types.TimeTZ, types.Interval} {
		info, _ := types.Lookup(t)
		part := func(ec *Context, a []types.Datum) (types.Datum, error) { return extract(ec, str(a[0]), a[1]) }
		asFloat := func(ec *Context, a []types.Datum) (types.Datum, error) {
			d, err := part(ec, a)
			if err != nil || d.Null {
				return types.NullOf(types.Of(types.Float8)), err
			}
			return types.FloatDatum(dec(d).Float64()), nil
		}
		e := fn("extract(text,"+info.Name+") numeric", "field of a date or time", part)
		p := fn("date_part(text,"+info.Name+") float8", "field of a date or time", asFloat)
		if t == types.Timestamptz {
			e, p = e.stable(), p.stable()
		}
		out = append(out, e, p)
	}
	return out
}

// NewExtract is EXTRACT(field FROM source).
func NewExtract(field string, source Expr) (Expr, error) {
	return NewFunction("extract", []Expr{&Const{Datum: types.TextDatum(strings.ToLower(field))}, source})
}

// scaled returns x / 10^scale as a numeric showing scale digits.
func scaled(x int64, scale int) (types.Datum, error) {
	d := types.DecimalFromInt(x)
	p := types.DecimalFromInt(1)
	for range scale {
		p, _ = types.NumericMul(p, types.DecimalFromInt(10))
	}
	q, err := types.NumericDiv(d, p)
	return q.Round(scale).Datum(), err
}

func wholePart(x int64) (types.Datum, error) { return types.DecimalFromInt(x).Datum(), nil }

func extract(ec *Context, field string, d types.Datum) (types.Datum, error) {
	u, t := strings.ToLower(field), d.Type.OID
	switch t {
	case types.Interval:
		return extractSpan(u, span(d))
	case types.Time:
		if r, ok, err := clockPart(u, d.Int); ok {
			return r, err
		}
		if u == "epoch" {
			return scaled(d.Int, 6)
		}
		return types.Datum{}, partError(u, t)
	case types.TimeTZ:
		return extractTimetz(u, d.Int)
	}
	us := d.Int
	if t == types.Date && !types.Infinite(us) {
		if _, clock := clockUnits[u]; clock || strings.HasPrefix(u, "timezone") {
			return types.Datum{}, unsupportedUnit(u, t)
		}
		return datePart(u, us, t)
	}
	if types.Infinite(us) {
		return infinitePart(u, us, t)
	}
	local := us
	if t == types.Timestamptz {
		local = types.ToLocal(us, ec.location())
		off := (local - us) / 1_000_000
		switch u {
		case "timezone":
			return wholePart(off)
		case "timezone_hour":
			return wholePart(off / 3600)
		case "timezone_minute":
			return wholePart(off / 60 % 60)
		}
	}
	if u == "epoch" {
		if sum, ok := addInt(us, 10957*usecDay); ok {
			return scaled(sum, 6)
		}
		sum, err := types.NumericAdd(types.DecimalFromInt(us), types.DecimalFromInt(10957*usecDay))
		if err != nil {
			return types.Datum{}, err
		}
		return decResult(types.NumericDiv(sum, types.DecimalFromInt(1_000_000).Round(6)))
	}
	day, within := types.SplitDay(local)
	if r, ok, err := clockPart(u, within); ok {
		return r, err
	}
	if u == "julian" {
		q, err := types.NumericDiv(types.DecimalFromInt(within), types.DecimalFromInt(usecDay))
		if err != nil {
			return types.Datum{}, err
		}
		return decResult(types.NumericAdd(types.DecimalFromInt(day+2451545), q))
	}
	return datePart(u, day, t)
}

func partError(u string, t types.OID) error {
	_, clock := clockUnits[u]
	switch {
	case clock, yearUnits[u] != 0, isPartUnit(u), u == "day", u == "month", u == "week", u == "quarter":
		return unsupportedUnit(u, t)
	}
	return unitError(u, t)
}

func clockPart(u string, within int64) (types.Datum, bool, error) {
	var d types.Datum
	var err error
	switch u {
	case "microseconds", "microsecond":
		d, err = wholePart(within % 60_000_000)
	case "milliseconds", "millisecond":
		d, err = scaled(within%60_000_000, 3)
	case "second", "seconds":
		d, err = scaled(within%60_000_000, 6)
	case "minute", "minutes":
		d, err = wholePart(within / 60_000_000 % 60)
	case "hour", "hours":
		d, err = wholePart(within / 3_600_000_000)
	default:
		return d, false, nil
	}
	return d, true, err
}

func infinitePart(u string, x int64, t types.OID) (types.Datum, error) {
	switch u {
	case "year", "decade", "century", "millennium", "julian", "isoyear", "epoch":
		if x < 0 {
			return types.DecimalNegInf.Datum(), nil
		}
		return types.DecimalInf.Datum(), nil
	case "day", "month", "quarter", "week", "dow", "isodow", "doy", "hour", "minute", "second", "milliseconds", "microseconds",
		"timezone", "timezone_hour", "timezone_minute":
		return types.NullOf(types.Of(types.Numeric)), nil
	}
	return types.Datum{}, unitError(u, t)
}

func datePart(u string, day int64, t types.OID) (types.Datum, error) {
	if types.Infinite(day) {
		return infinitePart(u, day, t)
	}
	y, m, d := types.CivilFromDays(day)
	year := y
	if y <= 0 {
		year = y - 1
	}
	switch u {
	case "day", "days":
		return wholePart(int64(d))
	case "month", "months":
		return wholePart(int64(m))
	case "quarter":
		return wholePart(int64((m-1)/3 + 1))
	case "year", "years":
		return wholePart(int64(year))
	case "decade", "decades":
		return wholePart(int64(floorDivInt(y, 10)))
	case "century", "centuries":
		return wholePart(int64(centuryOf(y, 100)))
	case "millennium", "millennia":
		return wholePart(int64(centuryOf(y, 1000)))
	case "week", "weeks":
		_, w := isoWeek(day)
		return wholePart(int64(w))
	case "isoyear":
		iy, _ := isoWeek(day)
		if iy <= 0 {
			iy--
		}
		return wholePart(int64(iy))
	case "dow":
		return wholePart(int64(isoWeekday(day) % 7))
	case "isodow":
		return wholePart(int64(isoWeekday(day)))
	case "doy":
		return wholePart(day - types.DaysFromCivil(y, 1, 1) + 1)
	case "julian":
		return wholePart(day + 2451545)
	case "epoch":
		return wholePart((day + 10957) * 86400)
	}
	return types.Datum{}, partError(u, t)
}

func centuryOf(y, n int) int {
	if y > 0 {
		return (y + n - 1) / n
	}
	return -((n - 1 - (y - 1)) / n)
}

// isoWeek returns the ISO 8601 year (0 is 1 BC) and week.
func isoWeek(day int64) (year, week int) {
	thursday := day - int64(isoWeekday(day)-1) + 3
	y, _, _ := types.CivilFromDays(thursday)
	return y, int(thursday-types.DaysFromCivil(y, 1, 1))/7 + 1
}

func extractTimetz(u string, x int64) (types.Datum, error) {
	within, east := types.SplitTimetz(x)
	switch u {
	case "timezone":
		return wholePart(int64(east))
	case "timezone_hour":
		return wholePart(int64(east / 3600))
	case "timezone_minute":
		return wholePart(int64(east / 60 % 60))
	case "epoch":
		return scaled(within-int64(east)*1_000_000, 6)
	}
	if r, ok, err := clockPart(u, within); ok {
		return r, err
	}
	return types.Datum{}, partError(u, types.TimeTZ)
}

func extractSpan(u string, s types.Span) (types.Datum, error) {
	switch u {
	case "microseconds", "milliseconds", "second", "minute", "seconds", "minutes":
		d, _, err := clockPart(u, s.Micros)
		return d, err
	case "hour", "hours":
		return wholePart(s.Micros / 3_600_000_000)
	case "day", "days":
		return wholePart(int64(s.Days))
	case "month", "months":
		return wholePart(int64(s.Months % 12))
	case "quarter":
		return wholePart(int64(s.Months%12/3 + 1))
	case "year", "years":
		return wholePart(int64(s.Months / 12))
	case "decade":
		return wholePart(int64(s.Months / 120))
	case "century":
		return wholePart(int64(s.Months / 1200))
	case "millennium":
		return wholePart(int64(s.Months / 12000))
	case "epoch":
		seconds := int64(s.Months/12)*31557600 + int64(s.Months%12)*2592000 + int64(s.Days)*86400
		if math.Abs(float64(seconds)) < 9e12 {
			if us, ok := addInt(seconds*1_000_000, s.Micros); ok {
				return scaled(us, 6)
			}
		}
		whole := types.DecimalFromInt(seconds)
		us, err := scaled(s.Micros, 6)
		if err != nil {
			return us, err
		}
		return decResult(types.NumericAdd(whole, dec(us)))
	}
	return types.Datum{}, partError(u, types.Interval)
}

func intervalFunctions() []overload {
	justify := func(f func(types.Span) types.Span) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) { return f(span(a[0])).Datum(), nil }
	}
	return []overload{
		fn("justify_hours(interval) interval", "24 hours as days", justify(justifyHours)),
		fn("justify_days(interval) interval", "30 days as months", justify(justifyDays)),
		fn("justify_interval(interval) interval", "hours as days and days as months", justify(func(s types.Span) types.Span {
			s = justifyDays(justifyHours(s))
			switch {
			case s.Months > 0 && (s.Days < 0 || s.Days == 0 && s.Micros < 0):
				s.Days, s.Months = s.Days+30, s.Months-1
			case s.Months < 0 && (s.Days > 0 || s.Days == 0 && s.Micros > 0):
				s.Days, s.Months = s.Days-30, s.Months+1
			}
			return justifySign(s)
		})),
		fn("make_interval() interval", "interval from its parts", makeInterval),
		fn("make_interval(int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4,int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4,int4,int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4,int4,int4,int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4,int4,int4,int4,int4) interval", "interval from its parts", makeInterval),
		fn("make_interval(int4,int4,int4,int4,int4,int4,float8) interval", "interval from its parts", makeInterval),
	}
}

func justifyHours(s types.Span) types.Span {
	s.Days += int32(s.Micros / usecDay)
	s.Micros %= usecDay
	return justifySign(s)
}

// justifySign gives days and time one sign.
func justifySign(s types.Span) types.Span {
	switch {
	case s.Days > 0 && s.Micros < 0:
		s.Micros, s.Days = s.Micros+usecDay, s.Days-1
	case s.Days < 0 && s.Micros > 0:
		s.Micros, s.Days = s.Micros-usecDay, s.Days+1
	}
	return s
}

func justifyDays(s types.Span) types.Span {
	s.Months += s.Days / 30
	s.Days %= 30
	switch {
	case s.Months > 0 && s.Days < 0:
		s.Days, s.Months = s.Days+30, s.Months-1
	case s.Months < 0 && s.Days > 0:
		s.Days, s.Months = s.Days-30, s.Months+1
	}
	return s
}

func makeInterval(_ *Context, a []types.Datum) (types.Datum, error) {
	var p [6]int64
	secs := 0.0
	for i, d := range a {
		if i < 6 {
			p[i] = d.Int
		} else {
			secs = d.Float
		}
	}
	months, days := p[0]*12+p[1], p[2]*7+p[3]
	us := float64(p[4])*3.6e9 + float64(p[5])*6e7 + math.RoundToEven(secs*1e6)
	if months != int64(int32(months)) || days != int64(int32(days)) || !(math.Abs(us) < 9.2e18) {
		return types.Datum{}, intervalRange()
	}
	micros := p[4]*3_600_000_000 + p[5]*60_000_000 + int64(math.RoundToEven(secs*1e6))
	return types.Span{Micros: micros, Days: int32(days), Months: int32(months)}.Datum(), nil
}
