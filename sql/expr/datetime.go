package expr

import (
	"math"
	"strings"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func span(d types.Datum) types.Span { return types.DecodeSpan(d.Bytes) }

func intervalRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
}

func spanResult(s types.Span, ok bool) (types.Datum, error) {
	if !ok {
		return types.Datum{}, intervalRange()
	}
	return s.Datum(), nil
}

// stamp returns a timestamp or timestamptz after the range check.
func stamp(t types.OID, us int64) (types.Datum, error) {
	if !types.ValidTimestamp(us) {
		return types.Datum{}, timestampRange()
	}
	return types.IntDatum(t, us), nil
}

// addMonths moves a local timestamp by months, to the month's last day at most.
func addMonths(us int64, months int32) (int64, bool) {
	day, within := types.SplitDay(us)
	y, m, d := types.CivilFromDays(day)
	n := y*12 + m - 1 + int(months)
	y, m = n/12, n%12
	if m < 0 {
		y, m = y-1, m+12
	}
	if y > 300_000 || y < -5000 {
		return 0, false
	}
	return types.DaysFromCivil(y, m+1, min(d, types.DaysIn(y, m+1)))*usecDay + within, true
}

// addSpan adds an interval to a timestamp; loc is nil for plain timestamps.
// Months and days move the local clock, the rest is elapsed time.
func addSpan(us int64, s types.Span, loc *time.Location) (int64, error) {
	if types.Infinite(us) {
		return us, nil
	}
	if s.Months != 0 || s.Days != 0 {
		local := us
		if loc != nil {
			local = types.ToLocal(us, loc)
		}
		if s.Months != 0 {
			var ok bool
			if local, ok = addMonths(local, s.Months); !ok {
				return 0, timestampRange()
			}
		}
		moved, ok := addInt(local, int64(s.Days)*usecDay)
		if !ok {
			return 0, timestampRange()
		}
		if us = moved; loc != nil {
			us = types.FromLocal(moved, loc)
		}
	}
	r, ok := addInt(us, s.Micros)
	if !ok || !types.ValidTimestamp(r) || types.Infinite(r) {
		return 0, timestampRange()
	}
	return r, nil
}

func datetimeOperators() []overload {
	var out []overload
	add := func(sig string, f rowFunc) { out = append(out, fn(sig, "date and time arithmetic", f)) }
	plus := func(t types.OID, sign int, swap bool) rowFunc {
		return func(ec *Context, a []types.Datum) (types.Datum, error) {
			x, s := a[0], a[len(a)-1]
			if swap {
				x, s = s, x
			}
			sp := span(s)
			if sign < 0 {
				var ok bool
				if sp, ok = sp.Neg(); !ok {
					return types.Datum{}, intervalRange()
				}
			}
			us := x.Int
			if x.Type.OID == types.Date {
				var err error
				if us, err = dateToMicros(us); err != nil {
					return types.Datum{}, err
				}
			}
			var loc *time.Location
			if t == types.Timestamptz {
				loc = ec.location()
			}
			r, err := addSpan(us, sp, loc)
			return types.IntDatum(t, r), err
		}
	}
	add("+(timestamp,interval) timestamp", plus(types.Timestamp, 1, false))
	add("-(timestamp,interval) timestamp", plus(types.Timestamp, -1, false))
	add("+(interval,timestamp) timestamp", plus(types.Timestamp, 1, true))
	add("+(date,interval) timestamp", plus(types.Timestamp, 1, false))
	add("-(date,interval) timestamp", plus(types.Timestamp, -1, false))
	add("+(interval,date) timestamp", plus(types.Timestamp, 1, true))
	for _, sig := range []struct {
		sig  string
		sign int
		swap bool
	}{{"+(timestamptz,interval) timestamptz", 1, false}, {"-(timestamptz,interval) timestamptz", -1, false}, {"+(interval,timestamptz) timestamptz", 1, true}} {
		out = append(out, fn(sig.sig, "date and time arithmetic", plus(types.Timestamptz, sig.sign, sig.swap)).stable())
	}
	return append(append(append(out, dayOperators()...), clockOperators()...), intervalOperators()...)
}

// dayOperators count in whole days.
func dayOperators() []overload {
	var out []overload
	add := func(sig string, f rowFunc) { out = append(out, fn(sig, "date arithmetic", f)) }
	days := func(sign int64, swap bool) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			x, n := a[0].Int, a[1].Int
			if swap {
				x, n = n, x
			}
			if types.Infinite(x) {
				return types.IntDatum(types.Date, x), nil
			}
			if r := x + sign*n; types.ValidDate(r) {
				return types.IntDatum(types.Date, r), nil
			}
			return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range")
		}
	}
	add("+(date,int4) date", days(1, false))
	add("-(date,int4) date", days(-1, false))
	add("+(int4,date) date", days(1, true))
	add("-(date,date) int4", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if types.Infinite(a[0].Int) || types.Infinite(a[1].Int) {
			return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
		}
		return types.IntDatum(types.Int4, a[0].Int-a[1].Int), nil
	})
	moment := func(date, clock types.Datum) (types.Datum, error) {
		us, err := dateToMicros(date.Int)
		if err != nil || types.Infinite(us) {
			return types.IntDatum(types.Timestamp, us), err
		}
		return stamp(types.Timestamp, us+clock.Int)
	}
	add("+(date,time) timestamp", func(_ *Context, a []types.Datum) (types.Datum, error) { return moment(a[0], a[1]) })
	add("+(time,date) timestamp", func(_ *Context, a []types.Datum) (types.Datum, error) { return moment(a[1], a[0]) })
	instant := func(date, clock types.Datum) (types.Datum, error) {
		us, err := dateToMicros(date.Int)
		if err != nil || types.Infinite(us) {
			return types.IntDatum(types.Timestamptz, us), err
		}
		within, east := types.SplitTimetz(clock.Int)
		return stamp(types.Timestamptz, us+within-int64(east)*1_000_000)
	}
	add("+(date,timetz) timestamptz", func(_ *Context, a []types.Datum) (types.Datum, error) { return instant(a[0], a[1]) })
	add("+(timetz,date) timestamptz", func(_ *Context, a []types.Datum) (types.Datum, error) { return instant(a[1], a[0]) })
	return out
}

// clockOperators subtract instants and move times of day.
func clockOperators() []overload {
	var out []overload
	add := func(sig string, f rowFunc) { out = append(out, fn(sig, "date and time arithmetic", f)) }
	for _, t := range []string{"timestamp", "timestamptz"} {
		add("-("+t+","+t+") interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if types.Infinite(a[0].Int) || types.Infinite(a[1].Int) {
				return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
			}
			r, ok := subInt(a[0].Int, a[1].Int)
			if !ok {
				return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
			}
			return types.Span{Micros: r % usecDay, Days: int32(r / usecDay)}.Datum(), nil
		})
	}
	clock := func(sign int64) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			_, within := types.SplitDay(a[0].Int + sign*(span(a[1]).Micros%usecDay))
			return types.IntDatum(types.Time, within), nil
		}
	}
	add("+(time,interval) time", clock(1))
	add("-(time,interval) time", clock(-1))
	zoned := func(sign int64) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			at, east := types.SplitTimetz(a[0].Int)
			_, within := types.SplitDay(at + sign*(span(a[1]).Micros%usecDay))
			return types.IntDatum(types.TimeTZ, types.Timetz(within, east)), nil
		}
	}
	add("+(timetz,interval) timetz", zoned(1))
	add("-(timetz,interval) timetz", zoned(-1))
	add("-(time,time) interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Span{Micros: a[0].Int - a[1].Int}.Datum(), nil
	})
	return out
}

func intervalOperators() []overload {
	scale := func(f float64, s types.Span) (types.Datum, error) { return spanResult(s.Times(f)) }
	return []overload{
		fn("+(interval,interval) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return spanResult(span(a[0]).Add(span(a[1])))
		}),
		fn("-(interval,interval) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n, ok := span(a[1]).Neg()
			if !ok {
				return types.Datum{}, intervalRange()
			}
			return spanResult(span(a[0]).Add(n))
		}),
		fn("-(interval) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return spanResult(span(a[0]).Neg())
		}),
		fn("*(interval,float8) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return scale(a[1].Float, span(a[0]))
		}),
		fn("*(float8,interval) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return scale(a[0].Float, span(a[1]))
		}),
		fn("/(interval,float8) interval", "interval arithmetic", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[1].Float == 0 {
				return types.Datum{}, divisionByZero()
			}
			return spanResult(span(a[0]).Over(a[1].Float))
		}),
	}
}

func datetimeFunctions() []overload {
	now := func(t types.OID) rowFunc {
		return func(ec *Context, _ []types.Datum) (types.Datum, error) {
			us := types.FromTime(ec.Now)
			if t == types.Timestamptz {
				return types.IntDatum(t, us), nil
			}
			east, _ := types.ZoneOffset(us, ec.location())
			us = types.ToLocal(us, ec.location())
			day, within := types.SplitDay(us)
			switch t {
			case types.TimeTZ:
				us = types.Timetz(within, east)
			case types.Date:
				us = day
			case types.Time:
				us = within
			}
			return types.IntDatum(t, us), nil
		}
	}
	var out []overload
	for _, name := range []string{"now", "current_timestamp", "transaction_timestamp", "statement_timestamp", "clock_timestamp"} {
		f := fn(name+"() timestamptz", "time of the statement", now(types.Timestamptz)).stable()
		if name == "clock_timestamp" {
			f = f.volatile()
		}
		out = append(out, f)
	}
	out = append(out,
		fn("current_date() date", "date of the statement", now(types.Date)).stable(),
		fn("localtimestamp() timestamp", "local time of the statement", now(types.Timestamp)).stable(),
		fn("localtime() time", "local time of day", now(types.Time)).stable(),
		fn("current_time() timetz", "time of day with the session's zone", now(types.TimeTZ)).stable(),
		fn("timeofday() text", "time of the statement as text", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			return text(ec.Now.In(ec.location()).Format("Mon Jan 02 15:04:05.000000 2006 MST"))
		}).volatile(),
		fn("to_timestamp(float8) timestamptz", "seconds since 1970", epochTimestamp),
		fn("make_date(int4,int4,int4) date", "date from its parts", makeDate),
		fn("make_time(int4,int4,float8) time", "time from its parts", makeTime),
		fn("make_timestamp(int4,int4,int4,int4,int4,float8) timestamp", "timestamp from its parts", makeTimestamp),
		fn("make_timestamptz(int4,int4,int4,int4,int4,float8) timestamptz", "timestamp from its parts", makeTimestamptz).stable(),
		fn("make_timestamptz(int4,int4,int4,int4,int4,float8,text) timestamptz", "timestamp from its parts", makeTimestamptz).stable(),
		fn("isfinite(date) bool", "not infinite", finite), fn("isfinite(timestamp) bool", "not infinite", finite),
		fn("isfinite(timestamptz) bool", "not infinite", finite),
		fn("isfinite(interval) bool", "not infinite", func(*Context, []types.Datum) (types.Datum, error) { return boolean(true) }),
		fn("timezone(text,timestamptz) timestamp", "local time in a zone", atZone),
		fn("timezone(text,timestamp) timestamptz", "instant of a local time in a zone", atZone),
		fn("timezone(interval,timestamptz) timestamp", "local time at an offset", atZone),
		fn("timezone(text,timetz) timetz", "time of day in a zone", clockAtZone).stable(),
		fn("timezone(interval,timetz) timetz", "time of day at an offset", clockAtZone).stable(),
		fn("timezone(interval,timestamp) timestamptz", "instant of a local time at an offset", atZone),
		fn("age(timestamp,timestamp) interval", "difference in years, months and days", age),
		fn("age(timestamptz,timestamptz) interval", "difference in years, months and days", age).stable(),
		fn("age(timestamp) interval", "age at midnight of today", ageToday).stable(),
		fn("age(timestamptz) interval", "age at midnight of today", ageToday).stable(),
		fn("overlaps(timestamp,timestamp,timestamp,timestamp) bool", "periods overlap", overlaps),
		fn("overlaps(time,time,time,time) bool", "periods overlap", overlaps),
		fn("overlaps(timestamptz,timestamptz,timestamptz,timestamptz) bool", "periods overlap", overlaps),
	)
	return append(append(out, truncFunctions()...), partFunctions()...)
}

func overlaps(_ *Context, a []types.Datum) (types.Datum, error) {
	s1, e1, s2, e2 := a[0].Int, a[1].Int, a[2].Int, a[3].Int
	s1, e1, s2, e2 = min(s1, e1), max(s1, e1), min(s2, e2), max(s2, e2)
	return boolean(s1 == s2 || s1 > s2 && s1 < e2 || s2 > s1 && s2 < e1)
}

func finite(_ *Context, a []types.Datum) (types.Datum, error) {
	return boolean(!types.Infinite(a[0].Int))
}

func epochTimestamp(_ *Context, a []types.Datum) (types.Datum, error) {
	f := a[0].Float
	switch {
	case math.IsNaN(f):
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case math.IsInf(f, 1):
		return types.IntDatum(types.Timestamptz, math.MaxInt64), nil
	case math.IsInf(f, -1):
		return types.IntDatum(types.Timestamptz, math.MinInt64), nil
	case math.Abs(f) > 1e13:
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", types.AppendFloat(nil, f, 64))
	}
	f -= 946684800
	return stamp(types.Timestamptz, int64(math.RoundToEven(f*1e6)))
}

func dateParts(y, m, d int64) (int64, error) {
	year := int(y)
	if y < 0 {
		year++
	}
	if y == 0 || m < 1 || m > 12 || d < 1 || d > int64(types.DaysIn(year, int(m))) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	day := types.DaysFromCivil(year, int(m), int(d))
	if !types.ValidDate(day) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", y, m, d)
	}
	return day, nil
}

func makeDate(_ *Context, a []types.Datum) (types.Datum, error) {
	day, err := dateParts(a[0].Int, a[1].Int, a[2].Int)
	return types.IntDatum(types.Date, day), err
}

func clockParts(h, m int64, s float64) (int64, error) {
	if h < 0 || m < 0 || m > 59 || !(s >= 0) || s > 60 || h > 24 || h == 24 && (m > 0 || s > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02g", h, m, s)
	}
	return (h*60+m)*60_000_000 + int64(math.RoundToEven(s*1e6)), nil
}

func makeTime(_ *Context, a []types.Datum) (types.Datum, error) {
	us, err := clockParts(a[0].Int, a[1].Int, a[2].Float)
	return types.IntDatum(types.Time, us), err
}

func makeTimestamp(_ *Context, a []types.Datum) (types.Datum, error) {
	day, err := dateParts(a[0].Int, a[1].Int, a[2].Int)
	if err != nil {
		return types.Datum{}, err
	}
	us, err := clockParts(a[3].Int, a[4].Int, a[5].Float)
	if err != nil {
		return types.Datum{}, err
	}
	return stamp(types.Timestamp, day*usecDay+us)
}

func makeTimestamptz(ec *Context, a []types.Datum) (types.Datum, error) {
	d, err := makeTimestamp(ec, a[:6])
	if err != nil {
		return d, err
	}
	loc := ec.location()
	if len(a) > 6 {
		if loc, err = types.LoadZone(str(a[6])); err != nil {
			return d, err
		}
	}
	return stamp(types.Timestamptz, types.FromLocal(d.Int, loc))
}

func zoneOf(d types.Datum) (*time.Location, error) {
	if d.Type.OID != types.Interval {
		return types.LoadZone(str(d))
	}
	s := span(d)
	if s.Months != 0 || s.Days != 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "interval time zone \"%s\" must not include months or days", s.AppendText(nil))
	}
	return time.FixedZone("", int(s.Micros/1_000_000)), nil
}

func atZone(_ *Context, a []types.Datum) (types.Datum, error) {
	loc, err := zoneOf(a[0])
	if err != nil {
		return types.Datum{}, err
	}
	if a[1].Type.OID == types.Timestamptz {
		return stamp(types.Timestamp, types.ToLocal(a[1].Int, loc))
	}
	return stamp(types.Timestamptz, types.FromLocal(a[1].Int, loc))
}

// clockAtZone moves a time of day to another zone, as that is today.
func clockAtZone(ec *Context, a []types.Datum) (types.Datum, error) {
	loc, err := zoneOf(a[0])
	if err != nil {
		return types.Datum{}, err
	}
	within, from := types.SplitTimetz(a[1].Int)
	to, _ := types.ZoneOffset(types.FromTime(ec.Now), loc)
	_, within = types.SplitDay(within + int64(to-from)*1_000_000)
	return types.IntDatum(types.TimeTZ, types.Timetz(within, to)), nil
}

// NewAtTimeZone is x AT TIME ZONE zone.
func NewAtTimeZone(x, zone Expr) (Expr, error) { return NewFunction("timezone", []Expr{zone, x}) }

func ageToday(ec *Context, a []types.Datum) (types.Datum, error) {
	us := types.ToLocal(types.FromTime(ec.Now), ec.location())
	day, _ := types.SplitDay(us)
	today := types.IntDatum(types.Timestamp, day*usecDay)
	x := a[0]
	if x.Type.OID == types.Timestamptz {
		x = types.IntDatum(types.Timestamp, types.ToLocal(x.Int, ec.location()))
	}
	return age(ec, []types.Datum{today, x})
}

func age(ec *Context, a []types.Datum) (types.Datum, error) {
	x, y := a[0].Int, a[1].Int
	if types.Infinite(x) || types.Infinite(y) {
		return types.Datum{}, timestampRange()
	}
	if a[0].Type.OID == types.Timestamptz {
		x, y = types.ToLocal(x, ec.location()), types.ToLocal(y, ec.location())
	}
	neg := x < y
	if neg {
		x, y = y, x
	}
	d1, t1 := types.SplitDay(x)
	d2, t2 := types.SplitDay(y)
	y1, m1, day1 := types.CivilFromDays(d1)
	y2, m2, day2 := types.CivilFromDays(d2)
	us, days, months := t1-t2, day1-day2, (y1-y2)*12+m1-m2
	if us < 0 {
		us, days = us+usecDay, days-1
	}
	if days < 0 { // borrow the month of the earlier one
		days += types.DaysIn(y2, m2)
		months--
	}
	s := types.Span{Micros: us, Days: int32(days), Months: int32(months)}
	if neg {
		s, _ = s.Neg()
	}
	return s.Datum(), nil
}

func unitError(unit string, t types.OID) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit %q not recognized for type %s", strings.ToLower(unit), types.Of(t))
}

func unsupportedUnit(unit string, t types.OID) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "unit %q not supported for type %s", strings.ToLower(unit), types.Of(t))
}
