package types

import (
	"encoding/binary"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

func (o *TextOptions) location() *time.Location {
	if o == nil || o.Location == nil {
		return time.UTC
	}
	return o.Location
}

func (o *TextOptions) now() int64 {
	if o == nil || o.Now.IsZero() {
		return 0
	}
	return FromTime(o.Now)
}

// specialTimestamp returns the timestamptz of a word.
func specialTimestamp(dt *dateTime, o *TextOptions) int64 {
	switch dt.special {
	case "infinity":
		return maxInt64
	case "-infinity":
		return minInt64
	case "epoch":
		return -epochDays * usecDay
	case "now":
		return o.now()
	}
	day, _ := SplitDay(ToLocal(o.now(), o.location()))
	switch dt.special {
	case "tomorrow":
		day++
	case "yesterday":
		day--
	}
	return FromLocal(day*usecDay+dt.clockMicros(), o.location())
}

func parseTimestamp(text []byte, t Type, o *TextOptions) (int64, error) {
	tz := t.OID == Timestamptz
	if us, off, zone, ok := fastTimestamp(text); ok {
		if tz {
			if zone {
				us -= int64(off) * usecSecond
			} else {
				us = FromLocal(us, o.location())
			}
		}
		return roundTimestamp(us, t), nil
	}
	name := "timestamp"
	if tz {
		name = "timestamp with time zone"
	}
	var dt dateTime
	if e := scanDateTime(text, &dt); e != 0 {
		return 0, dt.fail(e, name, text)
	}
	if dt.special != "" {
		us := specialTimestamp(&dt, o)
		if !tz && dt.special != "epoch" {
			us = ToLocal(us, o.location())
		}
		return roundTimestamp(us, t), nil
	}
	if !dt.hasDate {
		return 0, dt.fail(fieldSyntax, name, text)
	}
	day := DaysFromCivil(dt.year, dt.month, dt.day)
	us := day*usecDay + dt.clockMicros()
	if day > 106_751_990 || day < minDay {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", text)
	}
	if tz {
		switch {
		case dt.loc != nil:
			us = FromLocal(us, dt.loc)
		case dt.hasZone:
			us -= int64(dt.offset) * usecSecond
		default:
			us = FromLocal(us, o.location())
		}
	}
	if !ValidTimestamp(us) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", text)
	}
	return roundTimestamp(us, t), nil
}

func roundTimestamp(us int64, t Type) int64 {
	if p := t.Modifier(); p >= 0 {
		return roundMicros(us, int(p))
	}
	return us
}

func digit2(b []byte) int {
	a, c := b[0]-'0', b[1]-'0'
	if a > 9 || c > 9 {
		return 1000
	}
	return int(a)*10 + int(c)
}

// fastTimestamp reads YYYY-MM-DD[ T]HH:MM:SS[.f{1,6}][Z|±HH[:MM]], nothing else.
func fastTimestamp(b []byte) (us int64, off int, zone, ok bool) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || b[10] != ' ' && b[10] != 'T' {
		return 0, 0, false, false
	}
	y, mo, d := digit2(b)*100+digit2(b[2:]), digit2(b[5:]), digit2(b[8:])
	if y == 0 || y > 9999 || mo < 1 || mo > 12 || d < 1 || d > 28 && d > DaysIn(y, mo) {
		return 0, 0, false, false
	}
	// The eight bytes of HH:MM:SS at once.
	x := binary.LittleEndian.Uint64(b[11:])
	if x&0x0000FF0000FF0000 != 0x00003A00003A0000 {
		return 0, 0, false, false
	}
	h, mi, s := digit2(b[11:]), digit2(b[14:]), digit2(b[17:])
	if h > 23 || mi > 59 || s > 59 {
		return 0, 0, false, false
	}
	us = DaysFromCivil(y, mo, d)*usecDay + int64(h*3600+mi*60+s)*usecSecond
	b = b[19:]
	if len(b) > 1 && b[0] == '.' {
		n, frac := 1, int64(0)
		for ; n < len(b) && b[n]-'0' <= 9; n++ {
			frac = frac*10 + int64(b[n]-'0')
		}
		if n > 7 || n == 1 {
			return 0, 0, false, false
		}
		us += frac * int64(pow10u[7-n])
		b = b[n:]
	}
	switch {
	case len(b) == 0:
		return us, 0, false, true
	case len(b) == 1 && b[0] == 'Z':
		return us, 0, true, true
	case b[0] != '+' && b[0] != '-':
		return 0, 0, false, false
	case len(b) == 3:
		off = digit2(b[1:]) * 3600
	case len(b) == 6 && b[3] == ':':
		off = digit2(b[1:])*3600 + digit2(b[4:])*60
	default:
		return 0, 0, false, false
	}
	if off >= 15*3600 {
		return 0, 0, false, false
	}
	if b[0] == '-' {
		off = -off
	}
	return us, off, true, true
}

func parseDate(text []byte, o *TextOptions) (int64, error) {
	if len(text) == 10 && text[4] == '-' && text[7] == '-' {
		y, m, d := digit2(text)*100+digit2(text[2:]), digit2(text[5:]), digit2(text[8:])
		if y > 0 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= DaysIn(y, m) {
			return DaysFromCivil(y, m, d), nil
		}
	}
	var dt dateTime
	if e := scanDateTime(text, &dt); e != 0 {
		return 0, dt.fail(e, "date", text)
	}
	switch dt.special {
	case "":
	case "infinity", "-infinity":
		return specialTimestamp(&dt, o), nil
	case "epoch":
		return -epochDays, nil
	default:
		day, _ := SplitDay(ToLocal(specialTimestamp(&dt, o), o.location()))
		return day, nil
	}
	if !dt.hasDate {
		return 0, dt.fail(fieldSyntax, "date", text)
	}
	day := DaysFromCivil(dt.year, dt.month, dt.day)
	if !ValidDate(day) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", text)
	}
	return day, nil
}

func parseTime(text []byte, t Type, o *TextOptions) (int64, error) {
	dt, err := scanTime(text, t)
	if err != nil {
		return 0, err
	}
	if dt.special == "now" {
		_, within := SplitDay(ToLocal(o.now(), o.location()))
		return roundTimestamp(within, t), nil
	}
	return roundTimestamp(dt.clockMicros(), t), nil
}

// scanTime reads a time of day, or now.
func scanTime(text []byte, t Type) (dateTime, error) {
	var dt dateTime
	typ := catalogByOID[t.OID].SQLName
	if t.OID == Time {
		typ = "time"
	}
	s := trimSpace(text)
	if len(s) > 1 && (s[0] == 'T' || s[0] == 't') && isDigit(s[1]) {
		s = s[1:]
	}
	if n, zone := leading(string(s), isDigit); (len(n) == 6 || len(n) == 4) && (zone == "" || zone[0] == '+' || zone[0] == '-' && len(n) == 6) {
		dt.hasDate, dt.year, dt.month, dt.day = true, 2000, 1, 1 // 040506 is a time here
	}
	noDate := dt.hasDate
	if e := scanDateTime(s, &dt); e != 0 {
		return dt, dt.fail(e, typ, text)
	}
	if dt.special != "now" && (!dt.hasTime || dt.special != "") {
		return dt, dt.fail(fieldSyntax, typ, text)
	}
	dt.hasDate = dt.hasDate && !noDate
	return dt, nil
}

// RoundMicros rounds to p digits of a second; p outside 0..5 leaves us as it is.
func RoundMicros(us int64, p int) int64 {
	if p < 0 {
		return us
	}
	return roundMicros(us, p)
}

// HasZone reports whether the text of a timestamptz names its zone, so that it
// means the same in every session.
func HasZone(text []byte) bool {
	if _, _, zone, ok := fastTimestamp(text); ok {
		return zone
	}
	var dt dateTime
	if e := scanDateTime(text, &dt); e != 0 {
		return true // an error in every session
	}
	switch dt.special {
	case "":
		return dt.hasZone
	case "infinity", "-infinity", "epoch":
		return true
	}
	return false
}

// RelativeTime reports whether the text of a date or time depends on the clock.
func RelativeTime(text []byte) bool {
	var dt dateTime
	if _, _, _, ok := fastTimestamp(text); ok || scanDateTime(text, &dt) != 0 {
		return false
	}
	switch dt.special {
	case "now", "today", "tomorrow", "yesterday":
		return true
	}
	return false
}
