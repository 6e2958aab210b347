package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// templateParser reads a local timestamp by the template of to_timestamp and to_date.
type templateParser struct {
	s                            string
	i                            int
	year, month, day, doy        int
	hour, minute, second, micros int
	pm, half, bc                 bool
	julian                       int
	isoYear, isoWeek, isoDay     int
	clock                        int // seconds of the day, from 1; 0 is none
	zone                         int // seconds east of UTC
	zoned                        bool
}

// parseTemplate returns a local timestamp, and the offset in seconds of the zone
// that the text gives; zoned is false where it gives none.
func parseTemplate(s, tmpl string) (us int64, zone int, zoned bool, err error) {
	p := &templateParser{s: s, month: 1, day: 1}
	for k := 0; k < len(tmpl) && p.i < len(s); {
		pattern := nextPattern(tmpl[k:])
		if pattern == "" {
			if s[p.i] < '0' || s[p.i] > '9' {
				p.i++
			}
			k++
			continue
		}
		k += len(pattern)
		last := k >= len(tmpl) || nextPattern(tmpl[k:]) == ""
		if err := p.field(pattern, last); err != nil {
			return 0, 0, false, err
		}
	}
	us, err = p.finish()
	return us, p.zone, p.zoned, err
}

// digits reads up to width digits; none at the end of the text is 0.
func (p *templateParser) digits(width int, pattern string) (int, error) {
	for p.i < len(p.s) && p.s[p.i] == ' ' {
		p.i++
	}
	start, n := p.i, 0
	for p.i < len(p.s) && p.i-start < width && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		n, p.i = n*10+int(p.s[p.i]-'0'), p.i+1
	}
	if p.i == start && p.i < len(p.s) {
		return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", p.s[p.i:min(len(p.s), p.i+width)], pattern).
			WithDetail("Value must be an integer.")
	}
	return n, nil
}

// mark reads two letters and reports whether they are want.
func (p *templateParser) mark(want string) bool {
	if len(p.s)-p.i < 2 {
		return false
	}
	p.i += 2
	return strings.EqualFold(p.s[p.i-2:p.i], want)
}

// field reads one pattern; last says that no digits of another pattern follow.
func (p *templateParser) field(pattern string, last bool) (err error) {
	switch pattern {
	case "YYYY":
		width := 4
		if last {
			width = 9
		}
		if p.i < len(p.s) && p.s[p.i] == '-' {
			p.i++
			p.bc = true
		}
		p.year, err = p.digits(width, pattern)
	case "YY":
		if p.year, err = p.digits(2, pattern); p.year < 70 {
			p.year += 2000
		} else {
			p.year += 1900
		}
	case "MM":
		p.month, err = p.digits(2, pattern)
	case "DD":
		p.day, err = p.digits(2, pattern)
	case "DDD":
		p.doy, err = p.digits(3, pattern)
	case "HH24":
		p.hour, err = p.digits(2, pattern)
	case "HH", "HH12":
		p.hour, err = p.digits(2, pattern)
		p.half = true
	case "MI":
		p.minute, err = p.digits(2, pattern)
	case "SS":
		p.second, err = p.digits(2, pattern)
	case "MS", "US":
		start := p.i
		p.micros, err = p.digits(map[string]int{"MS": 3, "US": 6}[pattern], pattern)
		for n := p.i - start; n < 6; n++ {
			p.micros *= 10
		}
	case "AM", "PM", "am", "pm":
		p.pm, p.half = p.mark("pm"), true
	case "BC", "AD", "bc", "ad":
		p.bc = p.mark("bc")
	case "MON", "Mon", "mon", "MONTH", "Month", "month":
		p.month, p.i, err = monthAt(p.s, p.i, len(pattern) == 3)
	case "FM", "TM", "FX", "TH", "th":
	default:
		return p.rareField(pattern)
	}
	return err
}

// rareField reads the other patterns.
func (p *templateParser) rareField(pattern string) (err error) {
	switch pattern {
	case "J":
		p.julian, err = p.digits(9, pattern)
	case "IYYY":
		p.isoYear, err = p.digits(4, pattern)
	case "IW":
		p.isoWeek, err = p.digits(2, pattern)
	case "ID":
		p.isoDay, err = p.digits(1, pattern)
	case "SSSS", "SSSSS":
		p.clock, err = p.digits(5, pattern)
		p.clock++
	case "Q":
		_, err = p.digits(1, pattern) // the months say it
	case "DAY", "Day", "day", "DY", "Dy", "dy":
		for p.i < len(p.s) && (p.s[p.i]|0x20 >= 'a' && p.s[p.i]|0x20 <= 'z') { // the date says it
			p.i++
		}
	case "RM", "rm":
		p.month, err = p.romanMonth(pattern)
	case "TZH":
		sign := 1
		if p.i < len(p.s) && (p.s[p.i] == '-' || p.s[p.i] == '+') {
			if p.s[p.i] == '-' {
				sign = -1
			}
			p.i++
		}
		p.zoned = true
		p.zone, err = p.digits(2, pattern)
		p.zone *= sign * 3600
	case "TZM":
		var minutes int
		minutes, err = p.digits(2, pattern)
		p.zone += minutes * 60
		if p.zone < 0 {
			p.zone -= 2 * minutes * 60
		}
	default:
		return sqlerr.New(sqlerr.FeatureNotSupported, "to_timestamp() pattern %q is not supported", pattern)
	}
	return err
}

func (p *templateParser) romanMonth(pattern string) (int, error) {
	for m := len(romanMonths) - 1; m >= 0; m-- { // longer ones first
		for k, r := range romanMonths {
			if len(r) == m && len(p.s)-p.i >= m && strings.EqualFold(p.s[p.i:p.i+m], r) {
				p.i += m
				return k + 1, nil
			}
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", p.s[p.i:min(len(p.s), p.i+4)], pattern).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

func (p *templateParser) finish() (int64, error) {
	if p.half {
		if p.hour < 1 || p.hour > 12 {
			return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", p.hour).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		p.hour = p.hour%12 + 12*b2i(p.pm)
	}
	if p.bc {
		p.year = 1 - p.year
	}
	if p.doy > 0 {
		p.month, p.day = 1, 1
	}
	if p.month < 1 || p.month > 12 || p.day < 1 || p.day > types.DaysIn(p.year, p.month) || p.hour > 23 || p.minute > 59 ||
		p.second > 59 || p.doy > 366 || p.year > 290_000 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", p.s)
	}
	day := types.DaysFromCivil(p.year, p.month, p.day) + int64(max(p.doy-1, 0))
	if p.isoYear > 0 {
		first := types.DaysFromCivil(p.isoYear, 1, 4) // is in week 1
		day = first - int64(isoWeekday(first)-1) + int64(max(p.isoWeek-1, 0)*7+max(p.isoDay-1, 0))
	}
	if p.julian > 0 {
		day = int64(p.julian) - 2451545
	}
	seconds := p.hour*3600 + p.minute*60 + p.second
	if p.clock > 0 {
		seconds = p.clock - 1
	}
	return day*usecDay + int64(seconds)*1_000_000 + int64(p.micros), nil
}

func monthAt(s string, i int, short bool) (month, next int, err error) {
	for k, name := range monthNames {
		n := len(name)
		if short {
			n = 3
		}
		if len(s)-i >= n && strings.EqualFold(s[i:i+n], name[:n]) {
			return k + 1, i + n, nil
		}
	}
	return 0, i, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value %q for %q", s[i:min(len(s), i+3)], "Mon").
		WithDetail("The given value did not match any of the allowed values for this field.")
}
