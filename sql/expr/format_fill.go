package expr

import (
	"fmt"
	"strings"
)

// filling puts a number into the places of a template, from left to right.
type filling struct {
	*numberTemplate
	shownNumber
	out        []byte
	at         int  // digit that comes next
	place      int  // number of the digit pattern, the point included
	places     int  // how many there are to come to the end of the number
	signed     bool // the sign is written, or is not wanted
	started    bool // the last place had a digit, so that a separator has a meaning
	last       int  // with FM and a point: the last digit that matters; -1 for all
	signStyle  signStyle
	inBrackets bool
}

// fill returns the text of a number.
func (t *numberTemplate) fill(n shownNumber) string {
	f := &filling{numberTemplate: t, shownNumber: n, last: -1, signStyle: t.sign, inBrackets: t.brackets}
	if t.roman {
		f.signStyle, f.inBrackets = signAuto, false
	}
	f.begin()
	for _, p := range t.parts {
		if p.pattern == "" {
			f.out = append(f.out, p.literal...)
		} else {
			f.pattern(p.pattern)
		}
	}
	return string(f.out)
}

// begin decides about the sign and about what FM leaves out.
func (f *filling) begin() {
	if f.plus || f.minus { // the patterns write it, but for PL, which knows plus only
		f.signed = f.minus
	} else {
		f.inBrackets = f.inBrackets && (f.negative || !f.compact)
		f.signed = !f.negative && f.compact && f.sign == signAuto
		if f.signStyle == signFirst && f.signAt == f.whole {
			f.signStyle = signLast
		}
	}
	f.places = f.whole + f.shift + f.frac - 1
	if point := strings.IndexByte(f.digits, '.'); f.compact && f.point && point >= 0 {
		f.last = point + len(strings.TrimRight(f.digits[point+1:], "0"))
		if f.zeroTo > f.blanks {
			f.last = max(f.last, min(len(f.digits)-1, f.zeroTo-f.blanks))
		}
	}
	if !f.signed && f.blanks == 0 {
		f.places++
	}
}

func (f *filling) write(s string) { f.out = append(f.out, s...) }

// pad writes a blank, unless FM says not to.
func (f *filling) pad() {
	if !f.compact {
		f.write(" ")
	}
}

func (f *filling) pattern(p string) {
	switch p {
	case "9", "0", ".", "D":
		if !f.roman {
			f.digit(p == "0")
		}
	case ",", "G":
		if f.started {
			f.write(",")
		} else {
			f.pad()
		}
	case "L":
		f.write(" ") // the locale is C
	case "RN", "rn":
		s := f.digits
		if p == "rn" {
			s = strings.ToLower(s)
		}
		if !f.compact {
			s = fmt.Sprintf("%*s", romanWidth, s)
		}
		f.write(s)
	case "TH", "th":
		if f.roman || f.digits[0] == '#' || f.negative || f.point {
			return
		}
		if s := ordinalEnding(f.digits); p == "th" {
			f.write(s)
		} else {
			f.write(strings.ToUpper(s))
		}
	case "MI":
		f.either(f.negative, "-")
	case "PL":
		f.either(!f.negative, "+")
	case "SG":
		f.write(f.signText())
	}
}

// either writes a sign, or a blank in its place.
func (f *filling) either(yes bool, sign string) {
	if yes {
		f.write(sign)
	} else {
		f.pad()
	}
}

func (f *filling) signText() string {
	if f.negative {
		return "-"
	}
	return "+"
}

// leadingZero reports whether the next digit is the 0 before the point of a number
// below one, which the template shows only if it has a 0.
func (f *filling) leadingZero() bool {
	return f.zeroFrom < 0 && f.at == 0 && f.digits[0] == '0' && f.frac != 0
}

// bare reports whether FM leaves nothing behind the point.
func (f *filling) bare() bool { return f.last >= 0 && f.digits[f.last] == '.' }

// digit fills one place.
func (f *filling) digit(zero bool) {
	f.started = false
	begins := f.place >= f.blanks || f.zeroFrom >= 0 && f.zeroFrom == f.place
	if !f.signed && begins && (!f.leadingZero() || f.bare()) {
		f.leadingSign()
	}
	switch {
	case f.place < f.blanks && (f.zeroFrom < 0 || f.zeroFrom > f.place):
		f.pad()
	case f.place < f.blanks:
		f.write("0")
		f.started = true
	default:
		f.next(zero)
	}
	f.end()
	f.place++
}

func (f *filling) leadingSign() {
	switch {
	case f.sign != signAuto:
		if f.signStyle != signFirst {
			return
		}
		f.write(f.signText())
	case f.inBrackets && f.negative:
		f.write("<")
	case f.inBrackets:
		f.write(" ")
	case f.negative:
		f.write("-")
	default:
		f.pad()
	}
	f.signed = true
}

// next writes the next digit or the point.
func (f *filling) next(zero bool) {
	c := byte(0) // beyond the end, as of NaN
	if f.at < len(f.digits) {
		c = f.digits[f.at]
	}
	switch {
	case c == '.':
		if !f.bare() || f.compact {
			f.write(".")
		}
	case f.last >= 0 && f.at > f.last && !zero:
	case f.leadingZero() && !f.compact:
		f.write(" ")
	case f.leadingZero():
		if f.bare() {
			f.write("0")
		}
	default:
		f.out = append(f.out, c)
		f.started = true
	}
	if f.at < len(f.digits) {
		f.at++
	}
}

// end writes what stands behind the last place of the number.
func (f *filling) end() {
	end := f.places
	if f.blanks > 0 {
		end++
	}
	if f.point {
		end++
	}
	if f.last >= 0 && f.last == f.at {
		end = f.place
	}
	if f.place+1 != end {
		return
	}
	switch {
	case f.signed && f.inBrackets && f.negative:
		f.write(">")
	case f.signed && f.inBrackets:
		f.write(" ")
	case f.sign != signAuto && f.signStyle == signLast:
		f.write(f.signText())
	}
}
