package types

import "math"

// Times multiplies an interval as PostgreSQL does: fractions of months become days,
// 30 to a month, fractions of days time. ok is false where it overflows.
func (s Span) Times(f float64) (out Span, ok bool) {
	return spread(float64(s.Months)*f, float64(s.Days)*f, float64(s.Micros)*f)
}

// Over is Times for a division.
func (s Span) Over(f float64) (out Span, ok bool) {
	return spread(float64(s.Months)/f, float64(s.Days)/f, float64(s.Micros)/f)
}

func fitsInt32(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 }

// spread moves fractions of months to days and of days to time.
func spread(months, days, micros float64) (out Span, ok bool) {
	if !fitsInt32(months) || !fitsInt32(days) {
		return Span{}, false
	}
	out.Months, out.Days = int32(months), int32(days)
	round := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	rest := round((months - float64(out.Months)) * 30)
	seconds := (days - float64(out.Days) + rest - float64(int32(rest))) * 86400
	seconds = round(seconds)
	whole := int64(out.Days) + int64(int32(rest))
	if math.Abs(seconds) >= 86400 {
		whole += int64(seconds / 86400)
		seconds -= float64(int64(seconds/86400)) * 86400
	}
	if whole != int64(int32(whole)) {
		return Span{}, false
	}
	out.Days = int32(whole)
	us := math.RoundToEven(micros + seconds*1e6)
	if !(math.Abs(us) < 9.2e18) {
		return Span{}, false
	}
	out.Micros = int64(us)
	return out, true
}
