package expr

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// numberToChar is to_char of a number.
func numberToChar(_ *Context, a []types.Datum) (types.Datum, error) {
	t, err := parseNumberTemplate(str(a[1]))
	if err != nil {
		return types.Datum{}, err
	}
	var n shownNumber
	switch d := a[0]; {
	case t.roman:
		n, err = t.romanNumber(d)
	case t.scientific:
		return text(t.science(d))
	case d.Type.Kind() == types.KindFloat:
		n = t.floatDigits(d)
	default:
		n, err = t.decimalDigits(d)
	}
	if err != nil {
		return types.Datum{}, err
	}
	if last := n.digits[len(n.digits)-1]; t.ordinal && !t.point && !t.roman && last > '9' {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%s\" is not a number", n.digits)
	}
	out := t.fill(n)
	if end := strings.IndexByte(out, 0); end >= 0 { // places that NaN has no characters for
		out = out[:end]
	}
	return text(out)
}

// numberTemplate is the template of to_char and to_number for numbers, and what its
// patterns say together.
type numberTemplate struct {
	parts []templatePart
	// Digits before and after the point, and those that V shifts by.
	whole, frac, shift int
	shifted            bool // V was given
	zeroFrom, zeroTo   int  // places of the first and behind the last 0; -1, 0 for none
	point              bool
	compact            bool // FM: no padding
	sign               signStyle
	signAt             int // digits before S
	minus, plus        bool
	brackets           bool
	roman, scientific  bool
	ordinal            bool // TH or th
}

// templatePart is a pattern, or literal text.
type templatePart struct {
	pattern string // upper case, but for th and rn
	literal string
}

type signStyle uint8

const (
	signAuto  signStyle = iota
	signFirst           // S before the digits
	signLast            // S behind them
)

// numberPatterns are the patterns, longer ones before those that they begin with.
var numberPatterns = []string{",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP", "S", "TH", "V"}

func parseNumberTemplate(s string) (*numberTemplate, error) {
	t := &numberTemplate{zeroFrom: -1}
	for s != "" {
		p := ""
		for _, k := range numberPatterns {
			if strings.HasPrefix(s, k) || strings.HasPrefix(s, strings.ToLower(k)) {
				p = k
				break
			}
		}
		if p == "" {
			s = t.literal(s)
			continue
		}
		shown := p
		if s[0] >= 'a' && (p == "TH" || p == "RN") {
			shown = s[:2]
		}
		s = s[len(p):]
		t.parts = append(t.parts, templatePart{pattern: shown})
		if err := t.note(p); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// literal takes text in quotes, or one character that is no pattern.
func (t *numberTemplate) literal(s string) (rest string) {
	if s[0] != '"' {
		_, n := utf8.DecodeRuneInString(s)
		if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
			s, n = s[1:], 1
		}
		t.parts = append(t.parts, templatePart{literal: s[:n]})
		return s[n:]
	}
	var b strings.Builder
	i := 1
	for ; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	t.parts = append(t.parts, templatePart{literal: b.String()})
	return s[min(i+1, len(s)):]
}

func templateError(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

// note takes account of a pattern.
func (t *numberTemplate) note(p string) error {
	if t.scientific {
		return templateError("\"EEEE\" must be the last pattern used")
	}
	signs := t.minus || t.plus || t.brackets
	switch p {
	case "9", "0":
		switch {
		case t.brackets:
			return templateError("\"%s\" must be ahead of \"PR\"", p)
		case p == "9" && t.shifted:
			t.shift++
			return nil
		}
		if p == "0" && t.zeroFrom < 0 && !t.point {
			t.zeroFrom = t.whole
		}
		if t.point {
			t.frac++
		} else {
			t.whole++
		}
		if p == "0" {
			t.zeroTo = t.whole + t.frac
		}
	case ".", "D":
		if t.point {
			return templateError("multiple decimal points")
		}
		if t.shifted {
			return templateError("cannot use \"V\" and decimal point together")
		}
		t.point = true
	case "V":
		if t.point {
			return templateError("cannot use \"V\" and decimal point together")
		}
		t.shifted = true
	case "FM":
		t.compact = true
	case "S", "MI", "PL", "SG", "PR":
		return t.noteSign(p, signs)
	case "RN":
		t.roman = true
	case "TH":
		t.ordinal = true
	case "EEEE":
		if t.compact || t.sign != signAuto || signs || t.roman || t.shifted {
			return sqlerr.New(sqlerr.SyntaxError, "\"EEEE\" is incompatible with other formats").
				WithDetail("\"EEEE\" may only be used together with digit and decimal point patterns.")
		}
		t.scientific = true
	}
	return nil
}

// noteSign takes account of a pattern for the sign; others says that one of another
// style came before.
func (t *numberTemplate) noteSign(p string, others bool) error {
	switch {
	case p == "S" && t.sign != signAuto:
		return templateError("cannot use \"S\" twice")
	case p == "S" && others:
		return templateError("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
	case p == "S" && t.point:
		t.sign = signLast
	case p == "S":
		t.sign, t.signAt = signFirst, t.whole
	case p == "PR":
		if t.sign != signAuto || others {
			return templateError("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		t.brackets = true
	case t.sign != signAuto:
		return templateError("cannot use \"S\" and \"%s\" together", p)
	default:
		t.minus, t.plus = t.minus || p != "PL", t.plus || p != "MI"
	}
	return nil
}

// shownNumber is a number made ready for its places: its sign, and its digits with
// a point between them.
type shownNumber struct {
	negative bool
	digits   string
	blanks   int // places before the first digit
}

// fit finds the places of the digits, or fills all places where there are too few.
func (t *numberTemplate) fit(s string) shownNumber {
	n := shownNumber{}
	if n.digits = s; s[0] == '-' {
		n.negative, n.digits = true, s[1:]
	}
	length, places := strings.IndexByte(n.digits, '.'), t.whole+t.shift
	if length < 0 {
		length = len(n.digits)
	}
	if length > places {
		n.digits = strings.Repeat("#", places) + "." + strings.Repeat("#", t.frac)
	}
	n.blanks = max(0, places-length)
	return n
}

func (t *numberTemplate) decimalDigits(d types.Datum) (shownNumber, error) {
	x := types.DecimalFromInt(d.Int)
	if d.Type.Kind() != types.KindInt {
		x = dec(d)
	}
	if t.shift > 0 {
		ten, err := types.NumericPower(types.DecimalFromInt(10), types.DecimalFromInt(int64(t.shift)))
		if err != nil {
			return shownNumber{}, err
		}
		if x, err = types.NumericMul(x, ten); err != nil {
			return shownNumber{}, err
		}
	}
	return t.fit(x.Round(t.frac).String()), nil
}

// floatDigits shows a float with no more digits than its type holds.
func (t *numberTemplate) floatDigits(d types.Datum) shownNumber {
	x, most := d.Float, 15
	if d.Type.OID == types.Float4 {
		most = 6
	}
	if t.shift > 0 {
		x *= math.Pow(10, float64(t.shift))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return t.fit(types.FormatDatum(types.FloatDatum(x), nil))
	}
	length := len(strconv.FormatFloat(math.Abs(x), 'f', 0, 64))
	frac := max(0, min(t.frac, most-length))
	t.frac = frac
	return t.fit(strconv.FormatFloat(x, 'f', frac, 64))
}

// science is the number with an exponent, which has a template of its own.
func (t *numberTemplate) science(d types.Datum) string {
	x := d.Float
	switch {
	case d.Type.Kind() == types.KindFloat:
	case d.Type.Kind() == types.KindInt:
		x = float64(d.Int)
	default:
		n := dec(d)
		if n.Finite() {
			return signed(n.Scientific(t.frac))
		}
		x = n.Float64()
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return " " + strings.Repeat("#", t.whole) + "." + strings.Repeat("#", t.frac+4)
	}
	return signed(strconv.FormatFloat(x, 'e', t.frac, 64))
}

// signed leaves room for a sign.
func signed(s string) string {
	if s[0] == '-' {
		return s
	}
	return " " + s
}

const romanWidth = 15

// romanNumber is 1 to 3999 in Roman digits.
func (t *numberTemplate) romanNumber(d types.Datum) (shownNumber, error) {
	x := d.Float
	switch {
	case d.Type.Kind() == types.KindInt:
		x = float64(d.Int)
	case d.Type.Kind() != types.KindFloat:
		switch n := dec(d); {
		case n.IsNaN():
			return shownNumber{}, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to integer")
		case n.IsInf():
			return shownNumber{}, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to integer")
		default:
			if x = n.Round(0).Float64(); x < math.MinInt32 || x > math.MaxInt32 {
				return shownNumber{}, outOfRange(types.Int4)
			}
		}
	}
	if x = math.RoundToEven(x); !(x >= 1 && x <= 3999) {
		return shownNumber{digits: strings.Repeat("#", romanWidth)}, nil
	}
	n := int(x)
	var b strings.Builder
	for _, r := range []struct {
		value int
		text  string
	}{
		{1000, "M"},
		{900, "CM"},
		{500, "D"},
		{400, "CD"},
		{100, "C"},
		{90, "XC"},
		{50, "L"},
		{40, "XL"},
		{10, "X"},
		{9, "IX"},
		{5, "V"},
		{4, "IV"},
		{1, "I"},
	} {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.text)
		}
	}
	return shownNumber{digits: b.String()}, nil
}

// ordinalEnding is the ending of an ordinal number.
func ordinalEnding(digits string) string {
	n := len(digits)
	if n > 1 && digits[n-2] == '1' {
		return "th"
	}
	switch digits[n-1] {
	case '1':
		return "st"
	case '2':
		return "nd"
	case '3':
		return "rd"
	}
	return "th"
}
