package types

import (
	"time"
)

const (
	usecSecond = 1_000_000
	usecMinute = 60 * usecSecond
	usecHour   = 60 * usecMinute
	usecDay    = 24 * usecHour

	// epochDays is 2000-01-01 in days since 1970.
	epochDays = 10957
	// minDay and maxDay bound dates: 4713-11-24 BC to 5874897-12-31.
	minDay = -2451545
	maxDay = 2145031948
	// minTimestamp and endTimestamp bound timestamps.
	minTimestamp = -211813488000000000
	endTimestamp = 9223371331200000000
)

// DaysFromCivil returns the days since 2000-01-01 of a proleptic Gregorian date.
// Year 0 is 1 BC.
func DaysFromCivil(y, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := (153*((m+9)%12)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 719468 - epochDays
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (y, m, d int) {
	z := days + epochDays + 719468
	era := z / 146097
	if z < 0 && z%146097 != 0 {
		era--
	}
	doe := int(z - era*146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = doy - (153*mp+2)/5 + 1
	m = mp + 3
	if m > 12 {
		m -= 12
	}
	y = yoe + int(era)*400
	if m <= 2 {
		y++
	}
	return y, m, d
}

// DaysIn returns the number of days of a month.
func DaysIn(y, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// SplitDay returns the day and the microseconds within it.
func SplitDay(us int64) (day, within int64) {
	day, within = us/usecDay, us%usecDay
	if within < 0 {
		day, within = day-1, within+usecDay
	}
	return day, within
}

// Infinite reports whether a date, timestamp or timestamptz is ±infinity.
func Infinite(us int64) bool { return us == minInt64 || us == maxInt64 }

const (
	minInt64 = -1 << 63
	maxInt64 = 1<<63 - 1
)

// ZoneOffset returns the offset of loc from UTC in seconds at a timestamptz, and
// the zone's abbreviation.
func ZoneOffset(us int64, loc *time.Location) (int, string) {
	if loc == nil || loc == time.UTC {
		return 0, "UTC"
	}
	day, within := SplitDay(us)
	name, off := time.Unix((day+epochDays)*86400+within/usecSecond, 0).In(loc).Zone()
	return off, name
}

// ToLocal converts a timestamptz to the local timestamp in loc.
func ToLocal(us int64, loc *time.Location) int64 {
	if Infinite(us) {
		return us
	}
	off, _ := ZoneOffset(us, loc)
	return us + int64(off)*usecSecond
}

// FromLocal converts a local timestamp in loc to a timestamptz. A local time
// that a transition skips counts from the offset before it, one that occurs
// twice means the second, as in PostgreSQL.
func FromLocal(us int64, loc *time.Location) int64 {
	if Infinite(us) || loc == nil || loc == time.UTC {
		return us
	}
	day, within := SplitDay(us)
	local := (day+epochDays)*86400 + within/usecSecond
	t := time.Unix(local-86400, 0).In(loc)
	_, before := t.Zone()
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return us - int64(before)*usecSecond
	}
	_, after := end.Zone()
	boundary := end.Unix()
	b, a := local-int64(before), local-int64(after)
	off := after
	if b < boundary && a < boundary || (b < boundary) != (a < boundary) && b > a {
		off = before
	}
	return us - int64(off)*usecSecond
}

// FromTime converts to a timestamptz.
func FromTime(t time.Time) int64 { return t.UnixMicro() - epochDays*usecDay }

// ToTime converts a finite timestamptz.
func ToTime(us int64) time.Time { return time.UnixMicro(us + epochDays*usecDay) }

// ValidTimestamp reports whether us is within PostgreSQL's range or infinite.
func ValidTimestamp(us int64) bool { return Infinite(us) || us >= minTimestamp && us < endTimestamp }

// ValidDate reports whether a day number is within PostgreSQL's range or infinite.
func ValidDate(d int64) bool { return Infinite(d) || d >= minDay && d <= maxDay }
