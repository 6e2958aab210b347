package expr

import (
	"fmt"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// timePatterns are to_char's patterns; a longer one comes before its prefix.
var timePatterns = []string{
	"A.D.", "B.C.", "A.M.", "P.M.", "a.d.", "b.c.", "a.m.", "p.m.", "Y,YYY", "HH24", "HH12", "SSSSS", "SSSS", "MONTH", "Month",
	"month", "IYYY", "YYYY", "IDDD", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "DDD", "DAY", "Day", "day", "MON", "Mon", "mon",
	"IYY", "YYY", "TZH", "TZM", "HH", "MI", "SS", "MS", "US", "AM", "PM", "am", "pm", "YY", "IY", "BC", "AD", "bc", "ad", "MM",
	"DD", "DY", "Dy", "dy", "ID", "IW", "WW", "CC", "RM", "rm", "TZ", "tz", "OF", "FM", "TM", "FX", "TH", "th", "Y", "I", "D", "W", "Q", "J",
}

var monthNames = []string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
}

var dayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// nextPattern returns the pattern at the start of s, in the spelling of the
// table, or "". Numeric patterns are found in any case.
func nextPattern(s string) string {
	for _, p := range timePatterns {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	for _, p := range timePatterns {
		if len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) && p == strings.ToUpper(p) {
			return p
		}
	}
	return ""
}

// clockFields are the values that patterns show.
type clockFields struct {
	y, m, d     int
	day, within int64
	hour        int64
	offset      int
	zone        string
	zoned       bool
	interval    bool
}

func timeTemplate(ec *Context, d types.Datum, tmpl string) (types.Datum, error) {
	if d.Type.OID != types.Interval && types.Infinite(d.Int) {
		return types.NullOf(types.Of(types.Text)), nil
	}
	var f clockFields
	if d.Type.OID == types.Interval {
		s := span(d)
		f = clockFields{y: int(s.Months / 12), m: int(s.Months % 12), d: int(s.Days), within: s.Micros, hour: s.Micros / 3_600_000_000, interval: true}
		// The date patterns take it for a date: months 0 and less are those of the year before.
		f.day = types.DaysFromCivil(f.y+(f.m-12)/12, (f.m+11)%12+1, f.d)
		if f.m > 0 {
			f.day = types.DaysFromCivil(f.y, f.m, f.d)
		}
	} else {
		us := d.Int
		if d.Type.OID == types.Timestamptz {
			f.offset, f.zone = types.ZoneOffset(us, ec.location())
			us, f.zoned = types.ToLocal(us, ec.location()), true
		}
		f.day, f.within = types.SplitDay(us)
		f.y, f.m, f.d = types.CivilFromDays(f.day)
		f.hour = f.within / 3_600_000_000
	}
	var b strings.Builder
	fm, lastNumber := false, -1
	for i := 0; i < len(tmpl); {
		if tmpl[i] == '"' {
			end := strings.IndexByte(tmpl[i+1:], '"')
			if end < 0 {
				end = len(tmpl) - i - 1
			}
			b.WriteString(tmpl[i+1 : i+1+end])
			i = min(i+end+2, len(tmpl))
			continue
		}
		p := nextPattern(tmpl[i:])
		switch p {
		case "":
			b.WriteByte(tmpl[i])
			i++
			continue
		case "FM":
			fm = true
			i += 2
			continue
		case "TM", "FX":
			i += 2
			continue
		case "TH", "th":
			b.WriteString(ordinal(lastNumber, p == "TH"))
			i += 2
			continue
		}
		s, err := f.show(p, fm)
		if err != nil {
			return types.Datum{}, err
		}
		lastNumber = s.number
		b.WriteString(s.text)
		i += len(p)
		fm = false
	}
	return text(b.String())
}

func ordinal(n int, upper bool) string {
	s := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			s = "st"
		case 2:
			s = "nd"
		case 3:
			s = "rd"
		}
	}
	if upper {
		return strings.ToUpper(s)
	}
	return s
}

func caseLike(p, s string) string {
	switch {
	case p == strings.ToUpper(p):
		return strings.ToUpper(s)
	case p == strings.ToLower(p):
		return strings.ToLower(s)
	}
	return s
}

// fieldText is what a pattern shows, and the number in it for the ordinal's ending.
type fieldText struct {
	text   string
	number int
}

func (f *clockFields) show(p string, fm bool) (fieldText, error) {
	number := func(n, width int) fieldText { return fieldText{paddedNumber(n, width, fm), n} }
	signed := func(n, width int) fieldText { return number(n, width+b2i(n < 0)) }
	word := func(s string, width int) fieldText {
		if s = caseLike(p, s); !fm && len(s) < width {
			s += strings.Repeat(" ", width-len(s))
		}
		return fieldText{text: s}
	}
	year := f.y
	if !f.interval && year <= 0 {
		year = 1 - year
	}
	switch p {
	case "YYYY":
		return signed(year, 4), nil
	case "YYY", "YY", "Y":
		return number(year%yearDigits[len(p)], len(p)+b2i(year < 0 && len(p) > 1)), nil
	case "Y,YYY":
		return fieldText{fmt.Sprintf("%d,%03d", year/1000, year%1000), year}, nil
	case "MM":
		return signed(f.m, 2), nil
	case "DD":
		return number(f.d, 2), nil
	case "HH24":
		return signed(int(f.hour), 2), nil
	case "HH", "HH12":
		hour := int(f.hour % 12)
		if hour == 0 {
			hour = 12
		}
		return number(hour, 2+b2i(f.hour < 0)), nil
	case "MI":
		return signed(int(f.within/60_000_000%60), 2), nil
	case "SS":
		return signed(int(f.within/1_000_000%60), 2), nil
	case "MS":
		return number(int(f.within/1000%1000), 3), nil
	case "US":
		return number(int(f.within%1_000_000), 6), nil
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return fieldText{text: fmt.Sprintf("%06d", f.within%1_000_000)[:p[2]-'0']}, nil
	case "SSSS", "SSSSS":
		return fieldText{itoa(int(f.within / 1_000_000)), int(f.within / 1_000_000)}, nil
	case "AM", "PM", "am", "pm", "A.M.", "P.M.", "a.m.", "p.m.":
		s := "AM"
		if f.hour%24 >= 12 {
			s = "PM"
		}
		if len(p) == 4 {
			s = s[:1] + "." + s[1:] + "."
		}
		return fieldText{text: caseLike(p, s)}, nil
	}
	if f.interval {
		if p == "Q" && f.m == 0 {
			return fieldText{text: ""}, nil
		}
		if n, width, ok := f.showSpan(p); ok {
			return number(n, width), nil
		}
		return fieldText{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
			WithHint("Intervals are not tied to specific calendar dates.")
	}
	return f.showCalendar(p, number, word)
}

// yearDigits is what the patterns of so many last digits of a year divide by.
var yearDigits = map[int]int{3: 1000, 2: 100, 1: 10}

// paddedNumber shows a number, with zeros in front unless the pattern has FM.
func paddedNumber(n, width int, fm bool) string {
	if fm {
		return itoa(n)
	}
	return fmt.Sprintf("%0*d", width, n)
}

// showSpan returns what the patterns of dates that PostgreSQL has for intervals as well
// show, and its width; false for the others.
func (f *clockFields) showSpan(p string) (n, width int, ok bool) {
	isoYear, week := isoWeek(f.day)
	switch p {
	case "IYYY":
		n, width = isoYear, 4+b2i(f.y < 0)
	case "IYY", "IY", "I":
		n, width = isoYear%yearDigits[len(p)], len(p)+b2i(f.y < 0 && len(p) > 1)
	case "IW":
		n, width = week, 2
	case "DDD":
		n, width = (f.y*12+f.m)*30+f.d, 3
	case "WW":
		n, width = ((f.y*12+f.m)*30+f.d-1)/7+1, 2
	case "W":
		n, width = (f.d-1)/7+1, 1
	case "CC":
		n, width = f.y/100, 2+b2i(f.y/100 < 0)
	case "J":
		n = int(f.day) + 2451545
	case "Q":
		n = (f.m-1)/3 + 1
	default:
		return 0, 0, false
	}
	return n, width, true
}

func (f *clockFields) showCalendar(p string, number func(n, width int) fieldText, word func(s string, width int) fieldText) (fieldText, error) {
	isoYear, week := isoWeek(f.day)
	doy := int(f.day-types.DaysFromCivil(f.y, 1, 1)) + 1
	switch p {
	case "MONTH", "Month", "month":
		return word(monthNames[f.m-1], 9), nil
	case "MON", "Mon", "mon":
		return word(monthNames[f.m-1][:3], 0), nil
	case "DAY", "Day", "day":
		return word(dayNames[isoWeekday(f.day)%7], 9), nil
	case "DY", "Dy", "dy":
		return word(dayNames[isoWeekday(f.day)%7][:3], 0), nil
	case "RM", "rm":
		return word(romanMonths[f.m-1], 4), nil
	case "DDD":
		return number(doy, 3), nil
	case "D":
		return number(isoWeekday(f.day)%7+1, 1), nil
	case "ID":
		return number(isoWeekday(f.day), 1), nil
	case "IDDD":
		return number((week-1)*7+isoWeekday(f.day), 3), nil
	case "W":
		return number((f.d-1)/7+1, 1), nil
	case "WW":
		return number((doy-1)/7+1, 2), nil
	case "IW":
		return number(week, 2), nil
	case "IYYY":
		return number(isoYear, 4), nil
	case "IYY", "IY", "I":
		return number(isoYear%yearDigits[len(p)], len(p)), nil
	case "Q":
		return number((f.m-1)/3+1, 1), nil
	case "CC":
		return number(centuryOf(f.y, 100), 2), nil
	case "J":
		return number(int(f.day)+2451545, 1), nil
	case "BC", "AD", "bc", "ad", "B.C.", "A.D.", "b.c.", "a.d.":
		s := "AD"
		if f.y <= 0 {
			s = "BC"
		}
		if len(p) == 4 {
			s = s[:1] + "." + s[1:] + "."
		}
		return fieldText{text: caseLike(p, s)}, nil
	case "TZ", "tz":
		return fieldText{text: caseLike(p, f.zone)}, nil
	case "TZH":
		return fieldText{text: string(types.AppendOffset(nil, f.offset/3600*3600, false))}, nil
	case "TZM":
		return fieldText{text: fmt.Sprintf("%02d", abs(f.offset)/60%60)}, nil
	case "OF":
		return fieldText{text: string(types.AppendOffset(nil, f.offset, false))}, nil
	}
	return fieldText{}, sqlerr.New(sqlerr.FeatureNotSupported, "to_char() pattern %q is not supported", p)
}
