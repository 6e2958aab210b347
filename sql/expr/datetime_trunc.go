package expr

import (
	"strings"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func truncFunctions() []overload {
	bin := func(t types.OID) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			return dateBin(t, span(a[0]), a[1].Int, a[2].Int)
		}
	}
	bucket := func(t types.OID) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) { return timeBucket(t, span(a[0]), a[1].Int) }
	}
	return []overload{
		fn("date_trunc(text,timestamp) timestamp", "truncate to a unit", func(_ *Context, a []types.Datum) (types.Datum, error) {
			us, err := truncate(str(a[0]), a[1].Int, types.Timestamp)
			return types.IntDatum(types.Timestamp, us), err
		}).prepared(truncKernel),
		fn("date_trunc(text,timestamptz) timestamptz", "truncate to a unit", truncZoned).stable().prepared(truncKernel),
		fn("date_trunc(text,timestamptz,text) timestamptz", "truncate to a unit in a zone", truncZoned).stable(),
		fn("date_trunc(text,interval) interval", "truncate to a unit", truncInterval),
		fn("date_bin(interval,timestamp,timestamp) timestamp", "start of the bin from an origin", bin(types.Timestamp)),
		fn("date_bin(interval,timestamptz,timestamptz) timestamptz", "start of the bin from an origin", bin(types.Timestamptz)),
		fn("time_bucket(interval,timestamp) timestamp", "start of the bucket", bucket(types.Timestamp)),
		fn("time_bucket(interval,timestamptz) timestamptz", "start of the bucket, in UTC", bucket(types.Timestamptz)),
	}
}

func (f overload) prepared(p func(*Context, []arg) kernel) overload { f.prepare = p; return f }

// truncKernel truncates to a constant unit in UTC. What a day becomes is computed once
// for rows of the same day that follow one another.
func truncKernel(ec *Context, args []arg) kernel {
	if args[0].mask != 0 || args[0].v.IsNull(0) {
		return nil
	}
	t := args[1].v.Type.OID
	unit := string(args[0].v.Bytes(0))
	if _, err := truncate(unit, 0, t); err != nil || t == types.Timestamptz && ec.location() != time.UTC && ec.location().String() != "UTC" {
		return nil
	}
	if clock := clockUnits[strings.ToLower(unit)]; clock != 0 {
		return func(args []arg, n int, out *types.Vector) error {
			x, mask := args[1].v.Ints, args[1].mask
			for i := range out.Ints[:n] {
				us := x[i&mask]
				within := us % clock
				if within < 0 {
					within += clock
				}
				if types.Infinite(us) {
					within = 0
				}
				out.Ints[i] = us - within
			}
			return nil
		}
	}
	return func(args []arg, n int, out *types.Vector) error {
		x, mask := args[1].v.Ints, args[1].mask
		from, start := int64(1), int64(0) // the day, by its first microsecond, and what it becomes; no day begins at 1
		for i := range out.Ints[:n] {
			us := x[i&mask]
			if us < from || us-from >= usecDay || from == 1 {
				if types.Infinite(us) {
					out.Ints[i] = us
					continue
				}
				day, _ := types.SplitDay(us)
				from = day * usecDay
				start, _ = truncate(unit, us, t) // it did not fail for another time
			}
			out.Ints[i] = start
		}
		return nil
	}
}

func truncZoned(ec *Context, a []types.Datum) (types.Datum, error) {
	loc := ec.location()
	if len(a) > 2 {
		var err error
		if loc, err = types.LoadZone(str(a[2])); err != nil {
			return types.Datum{}, err
		}
	}
	x := a[1].Int
	local, err := truncate(str(a[0]), types.ToLocal(x, loc), types.Timestamptz)
	if err != nil {
		return types.Datum{}, err
	}
	switch strings.ToLower(str(a[0])) {
	case "hour", "minute", "second", "milliseconds", "microseconds": // keep the offset in a doubled hour
		return types.IntDatum(types.Timestamptz, local+x-types.ToLocal(x, loc)), nil
	}
	return types.IntDatum(types.Timestamptz, types.FromLocal(local, loc)), nil
}

var clockUnits = map[string]int64{
	"microseconds": 1, "microsecond": 1, "milliseconds": 1000, "millisecond": 1000, "second": 1_000_000, "seconds": 1_000_000,
	"minute": 60_000_000, "minutes": 60_000_000, "hour": 3_600_000_000, "hours": 3_600_000_000,
}

// yearUnits are the years of the units above a year.
var yearUnits = map[string]int{
	"year": 1, "years": 1, "decade": 10, "decades": 10, "century": 100, "centuries": 100, "millennium": 1000, "millennia": 1000,
}

// truncate works on local time.
func truncate(unit string, us int64, t types.OID) (int64, error) {
	u := strings.ToLower(unit)
	day, within := types.SplitDay(us)
	y, m := 0, 0
	if types.Infinite(us) {
		day, within = 0, 0
	}
	y, m, _ = types.CivilFromDays(day)
	switch {
	case clockUnits[u] != 0:
		within -= within % clockUnits[u]
	case u == "day" || u == "days":
		within = 0
	case u == "week" || u == "weeks":
		within = 0
		day -= int64(isoWeekday(day) - 1)
	case u == "month" || u == "months":
		day, within = types.DaysFromCivil(y, m, 1), 0
	case u == "quarter":
		day, within = types.DaysFromCivil(y, (m-1)/3*3+1, 1), 0
	case yearUnits[u] != 0:
		day, within = types.DaysFromCivil(truncYear(y, yearUnits[u]), 1, 1), 0
	case strings.HasPrefix(u, "timezone"):
		return 0, unsupportedUnit(unit, t)
	default:
		return 0, unitError(unit, t)
	}
	if types.Infinite(us) {
		return us, nil
	}
	return day*usecDay + within, nil
}

// truncYear returns the first year of the decade, century or millennium.
func truncYear(y, n int) int {
	switch {
	case n == 1:
		return y
	case n == 10:
		return floorDivInt(y, 10) * 10
	case y > 0:
		return (y-1)/n*n + 1
	}
	return -((n - 1 - (y - 1)) / n * n) + 1
}

func floorDivInt(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// isoWeekday is 1 for Monday … 7 for Sunday; day 0 was a Saturday.
func isoWeekday(day int64) int {
	n := int((day + 5) % 7)
	if n < 0 {
		n += 7
	}
	return n + 1
}

func truncInterval(_ *Context, a []types.Datum) (types.Datum, error) {
	s, u := span(a[1]), strings.ToLower(str(a[0]))
	switch {
	case clockUnits[u] != 0:
		s.Micros -= s.Micros % clockUnits[u]
	case u == "day" || u == "days":
		s.Micros = 0
	case u == "month" || u == "months":
		s = types.Span{Months: s.Months}
	case u == "quarter":
		s = types.Span{Months: s.Months / 3 * 3}
	case yearUnits[u] != 0:
		n := int32(12 * yearUnits[u])
		s = types.Span{Months: s.Months / n * n}
	case u == "week" || u == "weeks":
		return types.Datum{}, sqlerr.From(unsupportedUnit(u, types.Interval)).
			WithDetail("Months usually have fractional weeks.")
	default:
		return types.Datum{}, unitError(u, types.Interval)
	}
	return s.Datum(), nil
}

func strideMicros(s types.Span, what string) (int64, error) {
	if s.Months != 0 {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	us, ok := addInt(int64(s.Days)*usecDay, s.Micros)
	if !ok || int64(s.Days)*usecDay/usecDay != int64(s.Days) {
		return 0, intervalRange()
	}
	if us <= 0 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "%s must be greater than zero", what)
	}
	return us, nil
}

func dateBin(t types.OID, s types.Span, x, origin int64) (types.Datum, error) {
	if types.Infinite(x) {
		return types.IntDatum(t, x), nil
	}
	if types.Infinite(origin) {
		return types.Datum{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "origin out of range")
	}
	stride, err := strideMicros(s, "stride")
	if err != nil {
		return types.Datum{}, err
	}
	diff, ok := subInt(x, origin)
	if !ok {
		return types.Datum{}, intervalRange()
	}
	rest := diff % stride
	if rest < 0 {
		rest += stride
	}
	return stamp(t, x-rest)
}

// timeBucket aligns buckets of days and less to Monday 2000-01-03, of months to
// the first of January 2000.
func timeBucket(t types.OID, s types.Span, x int64) (types.Datum, error) {
	if s.Months == 0 {
		return dateBin(t, s, x, 2*usecDay)
	}
	if s.Months < 0 || s.Days != 0 || s.Micros != 0 {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "a bucket of months cannot have days or time")
	}
	if types.Infinite(x) {
		return types.IntDatum(t, x), nil
	}
	day, _ := types.SplitDay(x)
	y, m, _ := types.CivilFromDays(day)
	n := floorDivInt((y-2000)*12+m-1, int(s.Months)) * int(s.Months)
	years := floorDivInt(n, 12)
	return stamp(t, types.DaysFromCivil(2000+years, n-years*12+1, 1)*usecDay)
}
