package types

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Span is an interval. It is stored in KindBytes as on the wire: Micros, Days
// and Months, big-endian, 16 bytes.
type Span struct {
	Micros int64
	Days   int32
	Months int32
}

// DecodeSpan reads the stored form.
func DecodeSpan(b []byte) Span {
	if len(b) != 16 {
		return Span{}
	}
	return Span{
		Micros: int64(binary.BigEndian.Uint64(b)),
		Days:   int32(binary.BigEndian.Uint32(b[8:])),
		Months: int32(binary.BigEndian.Uint32(b[12:])),
	}
}

// Append appends the stored form.
func (s Span) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.Micros))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Days))
	return binary.BigEndian.AppendUint32(dst, uint32(s.Months))
}

// Datum returns s as an interval.
func (s Span) Datum() Datum { return Datum{Type: Of(Interval), Bytes: s.Append(nil)} }

// linear returns the value that orders intervals, microseconds with months of
// 30 days, as a 128-bit number.
func (s Span) linear() (hi int64, lo uint64) {
	days := int64(s.Months)*30 + int64(s.Days)
	h, l := bits.Mul64(uint64(abs64(days)), usecDay)
	if days < 0 {
		var borrow uint64
		l, borrow = bits.Sub64(0, l, 0)
		h, _ = bits.Sub64(0, h, borrow)
	}
	l, carry := bits.Add64(l, uint64(s.Micros), 0)
	h, _ = bits.Add64(h, uint64(s.Micros>>63), carry)
	return int64(h), l
}

func abs64(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// Cmp orders intervals as PostgreSQL does: 1 month = 30 days = 720 hours.
func (s Span) Cmp(o Span) int {
	h1, l1 := s.linear()
	h2, l2 := o.linear()
	switch {
	case h1 != h2:
		if h1 < h2 {
			return -1
		}
		return 1
	case l1 < l2:
		return -1
	case l1 > l2:
		return 1
	}
	return 0
}

// Neg returns -s; ok is false on overflow.
func (s Span) Neg() (Span, bool) {
	if s.Micros == math.MinInt64 || s.Days == math.MinInt32 || s.Months == math.MinInt32 {
		return s, false
	}
	return Span{-s.Micros, -s.Days, -s.Months}, true
}

// Add returns s + o; ok is false on overflow.
func (s Span) Add(o Span) (Span, bool) {
	us := s.Micros + o.Micros
	d := int64(s.Days) + int64(o.Days)
	m := int64(s.Months) + int64(o.Months)
	ok := (us > s.Micros) == (o.Micros > 0) && d == int64(int32(d)) && m == int64(int32(m))
	return Span{us, int32(d), int32(m)}, ok
}

// AppendText appends PostgreSQL's default output style.
func (s Span) AppendText(dst []byte) []byte {
	start := len(dst)
	before := false
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before && n > 0 {
			dst = append(dst, '+')
		}
		dst = append(strconv.AppendInt(dst, n, 10), ' ')
		dst = append(dst, unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
		before = n < 0
	}
	part(int64(s.Months/12), "year")
	part(int64(s.Months%12), "mon")
	part(int64(s.Days), "day")
	if len(dst) > start && s.Micros == 0 {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	u := uint64(s.Micros)
	if s.Micros < 0 {
		dst, u = append(dst, '-'), -u
	} else if before {
		dst = append(dst, '+')
	}
	dst = append(appendPadded(dst, int(u/usecHour), 2), ':')
	dst = append(appendPadded(dst, int(u/usecMinute%60), 2), ':')
	dst = appendPadded(dst, int(u/usecSecond%60), 2)
	return appendFraction(dst, int(u%usecSecond))
}

// Fit applies the modifier of an interval type.
func (s Span) Fit(t Type) Span {
	m := t.Modifier()
	if m < 0 {
		return s
	}
	switch r := m >> 16 & 0x7fff; {
	case r == intervalFullRange:
	case r == 1<<2:
		s = Span{Months: s.Months / 12 * 12}
	case r == 1<<1 || r == 1<<2|1<<1:
		s = Span{Months: s.Months}
	case r == 1<<3:
		s.Micros = 0
	case r&(1<<12) != 0:
	case r&(1<<11) != 0:
		s.Micros -= s.Micros % usecMinute
	default:
		s.Micros -= s.Micros % usecHour
	}
	if p := m & 0xffff; p != intervalFullPrecision {
		s.Micros = roundMicros(s.Micros, int(p))
	}
	return s
}

// roundMicros rounds to p digits of a second, half away from zero.
func roundMicros(us int64, p int) int64 {
	if p >= 6 || Infinite(us) {
		return us
	}
	unit := int64(pow10u[6-p])
	if us >= 0 {
		return (us + unit/2) / unit * unit
	}
	return -((-us + unit/2) / unit * unit)
}
