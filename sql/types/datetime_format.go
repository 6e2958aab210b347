package types

import (
	"strconv"
	"time"
)

func appendPadded(dst []byte, x, width int) []byte {
	var tmp [20]byte
	s := strconv.AppendInt(tmp[:0], int64(x), 10)
	for n := len(s); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

func appendInfinity(dst []byte, x int64) []byte {
	if x < 0 {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

// appendCivil appends YYYY-MM-DD and reports whether the year is BC.
func appendCivil(dst []byte, day int64) ([]byte, bool) {
	y, m, d := CivilFromDays(day)
	bc := y <= 0
	if bc {
		y = 1 - y
	}
	dst = append(appendPadded(dst, y, 4), '-')
	dst = append(appendPadded(dst, m, 2), '-')
	return appendPadded(dst, d, 2), bc
}

// appendClock appends HH:MM:SS[.ffffff].
func appendClock(dst []byte, us int64) []byte {
	dst = append(appendPadded(dst, int(us/usecHour), 2), ':')
	dst = append(appendPadded(dst, int(us/usecMinute%60), 2), ':')
	dst = appendPadded(dst, int(us/usecSecond%60), 2)
	return appendFraction(dst, int(us%usecSecond))
}

func appendFraction(dst []byte, us int) []byte {
	if us == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), us, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendDate(dst []byte, day int64) []byte {
	if Infinite(day) {
		return appendInfinity(dst, day)
	}
	dst, bc := appendCivil(dst, day)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendTimestamp(dst []byte, us int64, sep byte) []byte {
	if Infinite(us) {
		return appendInfinity(dst, us)
	}
	day, within := SplitDay(us)
	dst, bc := appendCivil(dst, day)
	dst = appendClock(append(dst, sep), within)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendTimestamptz(dst []byte, us int64, loc *time.Location, sep byte) []byte {
	if Infinite(us) {
		return appendInfinity(dst, us)
	}
	off, _ := ZoneOffset(us, loc)
	day, within := SplitDay(us + int64(off)*usecSecond)
	dst, bc := appendCivil(dst, day)
	dst = appendClock(append(dst, sep), within)
	dst = AppendOffset(dst, off, sep == 'T')
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// AppendOffset appends a zone offset as +HH[:MM[:SS]]; full always shows minutes.
func AppendOffset(dst []byte, off int, full bool) []byte {
	sign := byte('+')
	if off < 0 {
		sign, off = '-', -off
	}
	dst = appendPadded(append(dst, sign), off/3600, 2)
	if off%3600 != 0 || full {
		dst = appendPadded(append(dst, ':'), off/60%60, 2)
	}
	if off%60 != 0 {
		dst = appendPadded(append(dst, ':'), off%60, 2)
	}
	return dst
}
