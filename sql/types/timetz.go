package types

import "time"

// A time with time zone is stored as one integer that orders as PostgreSQL orders: by
// the instant, then the zone, of which the westernmost comes last.
//
//	(microseconds of the day + seconds west · 10⁶) · 2¹⁷ + seconds west + 2¹⁶
const (
	timetzShift = 17
	timetzBias  = 1 << 16
	maxOffset   = 16*3600 - 1 // of a zone, in seconds
)

// Timetz makes a value of a time of day in microseconds and the offset of its zone in
// seconds east of UTC, which is less than sixteen hours.
func Timetz(within int64, east int) int64 {
	west := int64(-east)
	return (within+west*usecSecond)<<timetzShift + west + timetzBias
}

// SplitTimetz is the inverse of Timetz.
func SplitTimetz(x int64) (within int64, east int) {
	west := x&(1<<timetzShift-1) - timetzBias
	return x>>timetzShift - west*usecSecond, int(-west)
}

// roundTimetz applies the precision of a type.
func roundTimetz(x int64, t Type) int64 {
	within, east := SplitTimetz(x)
	return Timetz(RoundMicros(within, int(t.Modifier())), east)
}

// parseTimetz reads a time of day; one without a zone is in the session's, as are zones
// with summer time read at the date there is, or else today.
func parseTimetz(text []byte, t Type, o *TextOptions) (int64, error) {
	dt, err := scanTime(text, t)
	if err != nil {
		return 0, err
	}
	now := o.now()
	loc := o.location()
	if dt.special == "now" {
		east, _ := ZoneOffset(now, loc)
		_, within := SplitDay(ToLocal(now, loc))
		return roundTimetz(Timetz(within, east), t), nil
	}
	if dt.hasZone && dt.loc == nil {
		return roundTimetz(Timetz(dt.clockMicros(), dt.offset), t), nil
	}
	if dt.loc != nil {
		if loc = dt.loc; !dt.hasDate && !fixedZone(loc) { // which offset depends on the day
			return 0, dt.fail(fieldSyntax, catalogByOID[t.OID].SQLName, text)
		}
	}
	if dt.hasDate {
		now = FromLocal(DaysFromCivil(dt.year, dt.month, dt.day)*usecDay+dt.clockMicros(), loc)
	}
	east, _ := ZoneOffset(now, loc)
	return roundTimetz(Timetz(dt.clockMicros(), east), t), nil
}

// fixedZone reports whether a zone has had one offset always, looked at every half year
// from 1850 to 2050.
func fixedZone(loc *time.Location) bool {
	const half = 182 * usecDay
	first, _ := ZoneOffset(-150*2*half, loc)
	for n := -150 * 2; n < 50*2; n++ {
		if off, _ := ZoneOffset(int64(n)*half, loc); off != first {
			return false
		}
	}
	return true
}

func appendTimetz(dst []byte, x int64) []byte {
	within, east := SplitTimetz(x)
	return AppendOffset(appendClock(dst, within), east, false)
}
