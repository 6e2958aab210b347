package types

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// dateTime collects the fields of a date or time in text.
type dateTime struct {
	year, month, day             int
	hour, minute, second, micros int
	hasDate, hasTime, hasZone    bool
	bc, pm, am                   bool
	loc                          *time.Location // of a zone by name
	offset                       int            // of a zone by number, seconds east
	special                      string
	shortYear                    bool   // of two digits: 1970 to 2069, unless BC
	zone                         string // a zone by name that is not known
}

type fieldError uint8

const (
	fieldSyntax fieldError = iota + 1
	fieldRange
	fieldZone
	fieldZoneName
)

var months = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10,
	"nov": 11, "dec": 12, "january": 1, "february": 2, "march": 3, "april": 4, "june": 6, "july": 7, "august": 8,
	"september": 9, "october": 10, "november": 11, "december": 12,
}

var weekdays = map[string]bool{
	"sun": true, "mon": true, "tue": true, "tues": true, "wed": true, "weds": true, "thu": true, "thur": true,
	"thurs": true, "fri": true, "sat": true, "sunday": true, "monday": true, "tuesday": true, "wednesday": true,
	"thursday": true, "friday": true, "saturday": true,
}

// zoneAbbreviations are the common entries of PostgreSQL's Default set, in hours.
var zoneAbbreviations = map[string]float64{
	"z": 0, "utc": 0, "gmt": 0, "ut": 0, "zulu": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1,
	"mest": 2, "eet": 2, "eest": 3, "msk": 3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
	"pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "jst": 9, "kst": 9, "ast": -4, "adt": -3, "aest": 10,
	"aedt": 11, "nzst": 12, "nzdt": 13, "sgt": 8, "hkt": 8, "ict": 7, "ist": 2,
}

// scanDateTime splits text into fields and fills dt. PostgreSQL's default
// DateStyle (ISO, MDY) decides the order of 1/2/2020.
func scanDateTime(text []byte, dt *dateTime) fieldError {
	s := strings.ToLower(string(trimSpace(text)))
	if s == "" || len(s) > 128 {
		return fieldSyntax
	}
	for s != "" {
		var e fieldError
		c := s[0]
		switch {
		case c == ' ' || c == ',' || c == '(' || c == ')' || c >= '\t' && c <= '\r': // other punctuation separates, too
			s = s[1:]
			continue
		case c >= '0' && c <= '9':
			s, e = dt.number(s)
		case c == '+' || c == '-':
			s, e = dt.signed(s)
		case c >= 'a' && c <= 'z':
			s, e = dt.word(s)
		default:
			return fieldSyntax
		}
		if e != 0 {
			return e
		}
	}
	return dt.finish()
}

func leading(s string, ok func(byte) bool) (string, string) {
	i := 0
	for i < len(s) && ok(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a field that begins with a digit: a time, a date, or part of one.
func (dt *dateTime) number(s string) (string, fieldError) {
	digits, rest := leading(s, isDigit)
	if rest != "" && rest[0] == ':' {
		return dt.clock(s)
	}
	if rest != "" && (rest[0] == '-' || rest[0] == '/' || rest[0] == '.') && !dt.hasDate {
		if !(len(digits) == 6 && rest[0] == '.') {
			return dt.separated(digits, rest)
		}
	}
	switch {
	case len(digits) == 8 && !dt.hasDate:
		dt.year, dt.month, dt.day, dt.hasDate = atoi(digits[:4]), atoi(digits[4:6]), atoi(digits[6:]), true
		if rest != "" && rest[0] == 't' {
			rest = rest[1:]
		}
		return rest, 0
	case len(digits) == 6 && !dt.hasDate && rest == "" && dt.month == 0:
		dt.setYear(digits[:2])
		dt.month, dt.day, dt.hasDate = atoi(digits[2:4]), atoi(digits[4:]), true
		return rest, 0
	case len(digits) == 6 && !dt.hasTime && (dt.hasDate || rest != "" && rest[0] == '.'):
		dt.hour, dt.minute, dt.second, dt.hasTime = atoi(digits[:2]), atoi(digits[2:4]), atoi(digits[4:]), true
		return dt.fraction(rest)
	case len(digits) == 4 && dt.hasDate && !dt.hasTime && dt.year != 0:
		dt.hour, dt.minute, dt.hasTime = atoi(digits[:2]), atoi(digits[2:4]), true
		return rest, 0
	case dt.month != 0 && !dt.hasDate:
		return rest, dt.dayOrYear(digits)
	case dt.month == 0 && dt.day == 0 && dt.year == 0 && !dt.hasDate:
		if len(digits) > 2 {
			dt.year = atoi(digits)
		} else {
			dt.day = atoi(digits)
		}
		if rest != "" && rest[0] != ' ' {
			return rest, fieldSyntax
		}
		return rest, 0
	case !dt.hasTime && dt.hasDate && len(digits) <= 2:
		t, _ := leading(strings.TrimLeft(rest, " "), func(c byte) bool { return c >= 'a' && c <= 'z' })
		if t == "am" || t == "pm" {
			dt.hour, dt.hasTime = atoi(digits), true
			return rest, 0
		}
	}
	return s, fieldSyntax
}

func (dt *dateTime) dayOrYear(digits string) fieldError {
	switch {
	case dt.day == 0 && len(digits) <= 2:
		dt.day = atoi(digits)
	case dt.year == 0:
		dt.setYear(digits)
	default:
		return fieldSyntax
	}
	dt.hasDate = dt.day != 0 && dt.year != 0
	return 0
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
}

func (dt *dateTime) setYear(s string) {
	dt.year, dt.shortYear = atoi(s), len(s) <= 2
}

// expandYear gives a year of two digits its century.
func (dt *dateTime) expandYear() {
	if !dt.shortYear || dt.bc {
		return
	}
	if dt.year < 70 {
		dt.year += 100
	}
	dt.year += 1900
}

// separated reads a date whose parts are joined by -, / or a point.
func (dt *dateTime) separated(first, rest string) (string, fieldError) {
	sep := rest[0]
	second, rest := leading(rest[1:], func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' })
	if second == "" {
		return rest, fieldSyntax
	}
	if rest == "" || rest[0] != sep {
		if len(first) >= 4 && len(second) == 3 && isDigit(second[0]) { // day of year
			dt.year, dt.month, dt.day, dt.hasDate = atoi(first), 1, atoi(second), true
			y, m, d := CivilFromDays(DaysFromCivil(dt.year, 1, 1) + int64(dt.day) - 1)
			dt.year, dt.month, dt.day = y, m, d
			return rest, 0
		}
		return rest, fieldSyntax
	}
	third, rest := leading(rest[1:], isDigit)
	if third == "" {
		return rest, fieldSyntax
	}
	dt.hasDate = true
	if m, ok := months[second]; ok {
		dt.month = m
		if len(first) > 2 {
			dt.year, dt.day = atoi(first), atoi(third)
		} else {
			dt.day = atoi(first)
			dt.setYear(third)
		}
	} else if !isDigit(second[0]) {
		return rest, fieldSyntax
	} else if len(first) > 2 {
		dt.year, dt.month, dt.day = atoi(first), atoi(second), atoi(third)
	} else {
		dt.month, dt.day = atoi(first), atoi(second)
		dt.setYear(third)
	}
	if dt.year == 0 && !dt.shortYear {
		return rest, fieldRange
	}
	if rest != "" && rest[0] == 't' && len(rest) > 1 && isDigit(rest[1]) {
		rest = rest[1:]
	}
	return rest, 0
}

// clock reads H:MM[:SS[.ffffff]].
func (dt *dateTime) clock(s string) (string, fieldError) {
	if dt.hasTime {
		return s, fieldSyntax
	}
	var part string
	part, s = leading(s, isDigit)
	dt.hour, dt.hasTime = atoi(part), true
	part, s = leading(s[1:], isDigit)
	if part == "" && s != "" {
		return s, fieldSyntax
	}
	dt.minute = atoi("0" + part)
	if s != "" && s[0] == ':' {
		if part, s = leading(s[1:], isDigit); part == "" && s != "" {
			return s, fieldSyntax
		}
		dt.second = atoi("0" + part)
		return dt.fraction(s)
	}
	return s, 0
}

func (dt *dateTime) fraction(s string) (string, fieldError) {
	if s == "" || s[0] != '.' {
		return s, 0
	}
	var part string
	part, s = leading(s[1:], isDigit)
	dt.micros = fractionMicros(part)
	return s, 0
}

// fractionMicros rounds the digits of a fraction to microseconds: as a float8, halves to
// the even neighbour, as PostgreSQL does.
func fractionMicros(digits string) int {
	if len(digits) > 6 {
		f, _ := strconv.ParseFloat("0."+digits, 64) // digits only
		return int(math.RoundToEven(f * 1e6))
	}
	us := 0
	for i := range 6 {
		us *= 10
		if i < len(digits) {
			us += int(digits[i] - '0')
		}
	}
	return us
}

// signed reads a numeric zone offset, or -infinity.
func (dt *dateTime) signed(s string) (string, fieldError) {
	if strings.HasPrefix(s, "-infinity") && s == "-infinity" {
		dt.special = s
		return "", 0
	}
	if strings.HasPrefix(s, "+infinity") && s == "+infinity" {
		dt.special = "infinity"
		return "", 0
	}
	if dt.hasZone || !dt.hasTime && !dt.hasDate {
		return s, fieldSyntax
	}
	off, rest, ok := scanOffset(s)
	if !ok {
		return s, fieldSyntax
	}
	if off <= -16*3600 || off >= 16*3600 {
		return s, fieldZone
	}
	dt.offset, dt.hasZone = off, true
	return rest, 0
}

// scanOffset reads ±HH[:MM[:SS]] or ±HHMM, in seconds east.
func scanOffset(s string) (int, string, bool) {
	neg := s[0] == '-'
	digits, rest := leading(s[1:], isDigit)
	h, m, sec := 0, 0, 0
	switch {
	case digits == "" || len(digits) > 6:
		return 0, rest, false
	case len(digits) <= 2:
		h = atoi(digits)
		if rest != "" && rest[0] == ':' {
			if digits, rest = leading(rest[1:], isDigit); digits == "" {
				return 0, rest, false
			}
			m = atoi(digits)
			if rest != "" && rest[0] == ':' {
				digits, rest = leading(rest[1:], isDigit)
				sec = atoi("0" + digits)
			}
		}
	case len(digits) <= 4:
		h, m = atoi(digits[:len(digits)-2]), atoi(digits[len(digits)-2:])
	default:
		h, m, sec = atoi(digits[:len(digits)-4]), atoi(digits[len(digits)-4:len(digits)-2]), atoi(digits[len(digits)-2:])
	}
	if h > 200 || m > 59 || sec > 59 {
		return 16 * 3600, rest, true
	}
	off := h*3600 + m*60 + sec
	if neg {
		off = -off
	}
	return off, rest, true
}

func (dt *dateTime) word(s string) (string, fieldError) {
	w, rest := leading(s, func(c byte) bool {
		return c >= 'a' && c <= 'z' || c == '/' || c == '_' || c >= 0x80
	})
	if strings.Contains(w, "/") {
		more, r := leading(rest, func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c == '-' || c == '+' })
		w, rest = w+more, r
	}
	switch w {
	case "infinity", "epoch", "now", "today", "tomorrow", "yesterday":
		if dt.special != "" || dt.hasDate {
			return s, fieldSyntax
		}
		dt.special = w
		return rest, 0
	case "allballs":
		dt.hasTime, dt.hasZone = true, true
		return rest, 0
	case "bc", "ad":
		dt.bc = w == "bc"
		return rest, 0
	case "am", "pm":
		dt.am, dt.pm = w == "am", w == "pm"
		return rest, 0
	case "t":
		if dt.hasDate && rest != "" && isDigit(rest[0]) {
			return rest, 0
		}
		return s, fieldSyntax
	}
	if m, ok := months[w]; ok && dt.month == 0 {
		dt.month = m
		if len(rest) > 1 && rest[0] == '-' && isDigit(rest[1]) { // Jan-02-2020
			rest = strings.Replace(rest, "-", " ", 2)
		}
		dt.hasDate = dt.day != 0 && dt.year != 0
		return rest, 0
	}
	if weekdays[w] {
		return rest, 0
	}
	if h, ok := zoneAbbreviations[w]; ok && !dt.hasZone {
		dt.offset, dt.hasZone = int(h*3600), true
		if len(rest) > 1 && (w == "utc" || w == "gmt") && (rest[0] == '+' || rest[0] == '-') {
			off, r, ok := scanOffset(rest)
			if !ok {
				return s, fieldSyntax
			}
			dt.offset, rest = -off, r
		}
		return rest, 0
	}
	if loc, err := LoadZone(w); err == nil && !dt.hasZone && (dt.hasDate || dt.hasTime) {
		dt.loc, dt.hasZone = loc, true
		return rest, 0
	}
	if strings.Contains(w, "/") {
		dt.zone = w
		return s, fieldZoneName
	}
	if digits, r := leading(rest, isDigit); w == "j" && digits != "" && !dt.hasDate && len(digits) < 9 {
		dt.year, dt.month, dt.day = CivilFromDays(int64(atoi(digits)) - 2451545)
		dt.hasDate = true
		return r, 0
	}
	return s, fieldSyntax
}

func (dt *dateTime) finish() fieldError {
	if dt.am || dt.pm {
		if !dt.hasTime {
			return fieldSyntax
		}
		if dt.hour < 1 || dt.hour > 12 {
			return fieldRange
		}
		dt.hour %= 12
		if dt.pm {
			dt.hour += 12
		}
	}
	if dt.special == "" && !dt.hasDate && (dt.month != 0 || dt.day != 0 || dt.year != 0) {
		return fieldSyntax
	}
	if dt.hasDate {
		dt.expandYear()
		if dt.bc {
			dt.year = 1 - dt.year
		}
		if dt.month < 1 || dt.month > 12 || dt.day < 1 || dt.year > 300_000_000 ||
			dt.day > DaysIn(dt.year, dt.month) {
			return fieldRange
		}
	}
	if dt.hour > 24 || dt.minute > 59 || dt.second > 60 ||
		dt.hour == 24 && (dt.minute > 0 || dt.second > 0 || dt.micros > 0) {
		return fieldRange
	}
	return 0
}

func (dt *dateTime) clockMicros() int64 {
	return int64(dt.hour)*usecHour + int64(dt.minute)*usecMinute + int64(dt.second)*usecSecond + int64(dt.micros)
}

func (dt *dateTime) fail(e fieldError, typ string, text []byte) error {
	switch e {
	case fieldRange:
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", text)
	case fieldZoneName:
		return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", dt.zone)
	case fieldZone:
		return sqlerr.New(invalidZoneDisplacement, "time zone displacement out of range: \"%s\"", text)
	}
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, text)
}

const invalidZoneDisplacement sqlerr.Code = "22009"
