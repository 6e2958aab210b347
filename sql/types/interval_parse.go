package types

import (
	"math"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// spanBuilder accumulates the fields of an interval, with fractions moved down
// to the smaller units as PostgreSQL 15 does.
type spanBuilder struct {
	months, days, micros int64
	overflow             bool
	seen                 map[string]bool // units, none of which may come twice
}

func (b *spanBuilder) add(field *int64, x float64) {
	if math.Abs(x) > 9.2e18 {
		b.overflow = true
		return
	}
	n := *field + int64(x)
	if (n > *field) != (int64(x) > 0) && int64(x) != 0 {
		b.overflow = true
	}
	*field = n
}

func (b *spanBuilder) addMicros(whole int64, frac float64, unit int64) {
	p := whole * unit
	if whole != 0 && p/unit != whole {
		b.overflow = true
	}
	n := b.micros + p
	if (n > b.micros) != (p > 0) && p != 0 {
		b.overflow = true
	}
	b.micros = n
	b.add(&b.micros, math.RoundToEven(frac*float64(unit)))
}

func (b *spanBuilder) addDays(whole int64, frac float64, scale int64) {
	b.days += whole * scale
	f := frac * float64(scale)
	d := math.Trunc(f)
	b.days += int64(d)
	b.add(&b.micros, math.RoundToEven((f-d)*usecDay))
	b.overflow = b.overflow || whole > math.MaxInt32 || whole < math.MinInt32
}

// spanUnits are the names of units, by their spellings.
var spanUnits = map[string]string{
	"us": "microsecond", "usec": "microsecond", "usecs": "microsecond", "usecond": "microsecond", "useconds": "microsecond",
	"microsecond": "microsecond", "microseconds": "microsecond", "microsecon": "microsecond",
	"ms": "millisecond", "msec": "millisecond", "msecs": "millisecond", "msecond": "millisecond", "mseconds": "millisecond",
	"millisecond": "millisecond", "milliseconds": "millisecond", "millisecon": "millisecond",
	"s": "second", "sec": "second", "secs": "second", "second": "second", "seconds": "second",
	"m": "minute", "min": "minute", "mins": "minute", "minute": "minute", "minutes": "minute",
	"h": "hour", "hr": "hour", "hrs": "hour", "hour": "hour", "hours": "hour",
	"d": "day", "day": "day", "days": "day",
	"w": "week", "week": "week", "weeks": "week",
	"mon": "month", "mons": "month", "month": "month", "months": "month",
	"y": "year", "yr": "year", "yrs": "year", "year": "year", "years": "year",
	"dec": "decade", "decs": "decade", "decade": "decade", "decades": "decade",
	"c": "century", "cent": "century", "century": "century", "centuries": "century",
	"mil": "millennium", "mils": "millennium", "millennia": "millennium", "millennium": "millennium",
}

// first reports whether a unit, in any spelling, comes for the first time.
func (b *spanBuilder) first(unit string) bool {
	key := spanUnits[unit]
	if b.seen[key] {
		return false
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[key] = true
	return true
}

func (b *spanBuilder) addUnit(whole int64, frac float64, unit string) bool {
	switch spanUnits[unit] {
	case "microsecond":
		b.addMicros(whole, frac, 1)
	case "millisecond":
		b.addMicros(whole, frac, 1000)
	case "second":
		b.addMicros(whole, frac, usecSecond)
	case "minute":
		b.addMicros(whole, frac, usecMinute)
	case "hour":
		b.addMicros(whole, frac, usecHour)
	case "day":
		b.addDays(whole, frac, 1)
	case "week":
		b.addDays(whole, frac, 7)
	case "month":
		b.months += whole
		b.overflow = b.overflow || b.months != int64(int32(b.months))
		b.addDays(0, frac, 30)
	case "year":
		b.addYears(whole, frac, 12)
	case "decade":
		b.addYears(whole, frac, 120)
	case "century":
		b.addYears(whole, frac, 1200)
	case "millennium":
		b.addYears(whole, frac, 12000)
	default:
		return false
	}
	return true
}

func (b *spanBuilder) addYears(whole int64, frac float64, scale int64) {
	b.months += whole*scale + int64(math.RoundToEven(frac*float64(scale)))
	b.overflow = b.overflow || whole > math.MaxInt32 || whole < math.MinInt32
}

func (b *spanBuilder) span() (Span, bool) {
	ok := !b.overflow && b.months == int64(int32(b.months)) && b.days == int64(int32(b.days))
	return Span{b.micros, int32(b.days), int32(b.months)}, ok
}

// ParseSpan reads any of PostgreSQL's input forms of interval.
func ParseSpan(text []byte, t Type) (Span, error) {
	s := strings.ToLower(string(trimSpace(text)))
	var b spanBuilder
	var ok bool
	if strings.HasPrefix(s, "p") {
		ok = b.iso(s[1:])
	} else {
		ok = b.verbose(s, bareUnit(t))
	}
	if !ok && !b.overflow {
		return Span{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type interval: \"%s\"", text)
	}
	sp, ok := b.span()
	switch {
	case b.overflow:
		return Span{}, sqlerr.New(intervalFieldOverflow, "interval field value out of range: \"%s\"", text)
	case !ok:
		return Span{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
	}
	return sp.Fit(t), nil
}

const intervalFieldOverflow sqlerr.Code = "22015"

// bareUnit is the unit of a number without one: the last field of the type.
func bareUnit(t Type) string {
	if t.Modifier() >= 0 {
		switch r := t.Modifier() >> 16 & 0x7fff; {
		case r == intervalFullRange || r&(1<<12) != 0:
		case r&(1<<11) != 0:
			return "minute"
		case r&(1<<10) != 0:
			return "hour"
		case r&(1<<3) != 0:
			return "day"
		case r&(1<<1) != 0:
			return "month"
		case r&(1<<2) != 0:
			return "year"
		}
	}
	return "second"
}

type spanNumber struct {
	neg   bool
	whole int64
	frac  float64
}

func (n spanNumber) signed() (int64, float64) {
	if n.neg {
		return -n.whole, -n.frac
	}
	return n.whole, n.frac
}

func scanSpanNumber(s string) (n spanNumber, rest string, ok bool) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		n.neg, s = s[0] == '-', s[1:]
	}
	digits, rest := leading(s, isDigit)
	var err error
	if digits != "" {
		if n.whole, err = strconv.ParseInt(digits, 10, 64); err != nil {
			n.whole = math.MaxInt64
		}
	}
	if rest != "" && rest[0] == '.' {
		var f string
		f, rest = leading(rest[1:], isDigit)
		if f != "" {
			n.frac, _ = strconv.ParseFloat("0."+f, 64)
			digits += f
		}
	}
	return n, rest, digits != ""
}

// verbose reads "1 year 2 mons 3 days 04:05:06", "@ 1 minute ago", "1-2 3 4:05".
func (b *spanBuilder) verbose(s, bare string) bool {
	s = strings.TrimPrefix(s, "@")
	any, ago := false, false
	for {
		s = strings.TrimLeft(s, " \t\n\r\v\f,")
		if s == "" {
			break
		}
		if ago {
			return false
		}
		if strings.HasPrefix(s, "ago") && any {
			ago, s = true, s[3:]
			continue
		}
		if s[0] == '+' || s[0] == '-' { // spaces may follow the sign
			s = s[:1] + strings.TrimLeft(s[1:], " \t\n\r\v\f")
		}
		n, rest, ok := scanSpanNumber(s)
		if !ok {
			return false
		}
		any = true
		switch {
		case rest != "" && rest[0] == ':' && n.frac == 0:
			if rest, ok = b.clock(n, rest); !ok {
				return false
			}
			s = rest
			continue
		case len(rest) > 1 && rest[0] == '-' && isDigit(rest[1]):
			digits, r := leading(rest[1:], isDigit)
			m := int64(atoi(digits))
			if m > 11 || r != "" && !isSpace(r[0]) {
				return false
			}
			y, _ := spanNumber{n.neg, n.whole*12 + m, 0}.signed()
			b.months += y
			s = r
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		unit, r := leading(rest, func(c byte) bool { return c >= 'a' && c <= 'z' })
		w, f := n.signed()
		if unit == "" || unit == "ago" {
			unit, r = bare, rest
			if next, _ := leading(rest, func(c byte) bool { return isDigit(c) || c == '+' || c == '-' }); next != "" {
				unit = "day" // a number before a time of day
				if !strings.Contains(rest, ":") {
					return false
				}
			}
		}
		if !b.addUnit(w, f, unit) || !b.first(unit) {
			return false
		}
		s = r
	}
	if ago {
		b.months, b.days, b.micros = -b.months, -b.days, -b.micros
	}
	return any
}

func (b *spanBuilder) clock(n spanNumber, rest string) (string, bool) {
	second, rest := leading(rest[1:], isDigit)
	if second == "" && rest != "" && !isSpace(rest[0]) {
		return rest, false
	}
	h, m, us := n.whole, int64(atoi("0"+second)), int64(0)
	if rest != "" && rest[0] == ':' {
		var sec string
		if sec, rest = leading(rest[1:], isDigit); sec == "" && rest != "" {
			return rest, false
		}
		us = int64(atoi("0"+sec)) * usecSecond
	} else if rest != "" && rest[0] == '.' {
		h, m, us = 0, n.whole, int64(atoi(second))*usecSecond
	}
	if rest != "" && rest[0] == '.' {
		var f string
		f, rest = leading(rest[1:], isDigit)
		us += int64(fractionMicros(f))
	}
	if m > 59 || us >= 61*usecSecond {
		b.overflow = true
	}
	if h > math.MaxInt64/usecHour {
		return rest, b.tooLong(n.neg)
	}
	v := h*usecHour + m*usecMinute + us
	if v < 0 {
		return rest, b.tooLong(n.neg)
	}
	if n.neg {
		v = -v
	}
	b.addMicros(v, 0, 1)
	return rest, true
}

// tooLong notes a time of day beyond what an interval holds; one below it is no
// interval at all.
func (b *spanBuilder) tooLong(neg bool) bool {
	b.overflow = b.overflow || !neg
	return !neg
}

// iso reads the rest of P1Y2M3DT4H5M6S, P1W, P0001-02-03T04:05:06.
func (b *spanBuilder) iso(s string) bool {
	inTime, any, before := false, false, false
	for s != "" {
		if s[0] == 't' {
			inTime, before, s = true, false, s[1:]
			continue
		}
		n, rest, ok := scanSpanNumber(s)
		if !ok {
			return false
		}
		any = true
		if rest == "" || rest[0] == '-' || rest[0] == ':' {
			return !before && b.isoAlternative(s, inTime)
		}
		before = true
		w, f := n.signed()
		unit := map[byte]string{'y': "year", 'm': "month", 'w': "week", 'd': "day"}[rest[0]]
		if inTime {
			unit = map[byte]string{'h': "hour", 'm': "minute", 's': "second"}[rest[0]]
		}
		if unit == "" || !b.addUnit(w, f, unit) {
			return false
		}
		s = rest[1:]
	}
	return any
}

func (b *spanBuilder) isoAlternative(s string, inTime bool) bool {
	date, clock, _ := strings.Cut(s, "t")
	if inTime {
		date, clock = "", s
	}
	if date != "" {
		for i, part := range strings.SplitN(date, "-", 3) {
			n, rest, ok := scanSpanNumber(part)
			if !ok || rest != "" || !b.addUnit(n.whole, n.frac, []string{"year", "month", "day"}[i]) {
				return false
			}
		}
	}
	if clock != "" {
		for i, part := range strings.SplitN(clock, ":", 3) {
			n, rest, ok := scanSpanNumber(part)
			if !ok || rest != "" || !b.addUnit(n.whole, n.frac, []string{"hour", "minute", "second"}[i]) {
				return false
			}
		}
	}
	return true
}
