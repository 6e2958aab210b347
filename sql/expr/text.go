package expr

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

func str(d types.Datum) string { return string(d.Bytes) }

func text(s string) (types.Datum, error) { return types.TextDatum(s), nil }

func int4(n int) (types.Datum, error) { return types.IntDatum(types.Int4, int64(n)), nil }

func boolean(b bool) (types.Datum, error) { return types.BoolDatum(b), nil }

// text1 adapts a function of one string.
func text1(f func(string) string) rowFunc {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return text(f(str(a[0]))) }
}

const maxText = 1 << 28

// maxParts is how many parts a string may be cut into.
const maxParts = 1 << 22

// joined is the parts with a separator between them.
func joined(parts []string, sep string) (types.Datum, error) {
	total := len(sep) * len(parts)
	for _, p := range parts {
		if total += len(p); total > maxText+len(sep) {
			return types.Datum{}, tooLong()
		}
	}
	return text(strings.Join(parts, sep))
}

func tooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
}

func textFunctions() []overload {
	runes := func(_ *Context, a []types.Datum) (types.Datum, error) { return int4(utf8.RuneCount(a[0].Bytes)) }
	octets := func(_ *Context, a []types.Datum) (types.Datum, error) { return int4(len(a[0].Bytes)) }
	bpchar := func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int4(utf8.RuneCount(bytes.TrimRight(a[0].Bytes, " ")))
	}
	position := func(_ *Context, a []types.Datum) (types.Datum, error) {
		return int4(runePosition(str(a[0]), str(a[1])))
	}
	out := []overload{
		fn("length(text) int4", "characters", runes), fn("char_length(text) int4", "characters", runes),
		fn("character_length(text) int4", "characters", runes), fn("length(bpchar) int4", "characters", bpchar),
		fn("char_length(bpchar) int4", "characters", bpchar),
		fn("octet_length(text) int4", "bytes", octets), fn("octet_length(bytea) int4", "bytes", octets),
		fn("octet_length(bpchar) int4", "bytes", octets),
		fn("length(bytea) int4", "bytes", octets),
		fn("bit_length(text) int4", "bits", func(_ *Context, a []types.Datum) (types.Datum, error) { return int4(8 * len(a[0].Bytes)) }),
		fn("lower(text) text", "lower case", text1(strings.ToLower)), fn("upper(text) text", "upper case", text1(strings.ToUpper)),
		fn("initcap(text) text", "capitals at the start of words", text1(initcap)),
		fn("reverse(text) text", "reversed", text1(reverse)),
		fn("position(text,text) int4", "position of substring", position), fn("strpos(text,text) int4", "position of substring", position),
		fn("substring(text,int4) text", "part of a string", substring), fn("substring(text,int4,int4) text", "part of a string", substring),
		fn("substr(text,int4) text", "part of a string", substring), fn("substr(text,int4,int4) text", "part of a string", substring),
	}
	return append(append(out, textEdits()...), trimFunctions()...)
}

// textEdits are the functions that cut, pad and rewrite strings.
func textEdits() []overload {
	return []overload{
		fn("left(text,int4) text", "first n characters", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return text(leftPart(str(a[0]), a[1].Int))
		}),
		fn("right(text,int4) text", "last n characters", func(_ *Context, a []types.Datum) (types.Datum, error) {
			s, n := str(a[0]), a[1].Int
			count := int64(utf8.RuneCountInString(s))
			if n < 0 {
				return text(s[len(leftPart(s, min(-n, count))):])
			}
			return text(s[len(leftPart(s, max(count-n, 0))):])
		}),
		fn("lpad(text,int4) text", "padded on the left", pad(true)), fn("lpad(text,int4,text) text", "padded on the left", pad(true)),
		fn("rpad(text,int4) text", "padded on the right", pad(false)), fn("rpad(text,int4,text) text", "padded on the right", pad(false)),
		fn("replace(text,text,text) text", "all occurrences replaced", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if len(a[1].Bytes) == 0 {
				return a[0], nil
			}
			if more := len(a[2].Bytes) - len(a[1].Bytes); more > 0 &&
				bytes.Count(a[0].Bytes, a[1].Bytes) > (maxText-len(a[0].Bytes))/more {
				return types.Datum{}, tooLong()
			}
			return text(strings.ReplaceAll(str(a[0]), str(a[1]), str(a[2])))
		}),
		fn("translate(text,text,text) text", "characters mapped", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return text(translate(str(a[0]), []rune(str(a[1])), []rune(str(a[2]))))
		}),
		fn("split_part(text,text,int4) text", "nth part", splitPart),
		fn("repeat(text,int4) text", "repeated", func(_ *Context, a []types.Datum) (types.Datum, error) {
			n := max(a[1].Int, 0)
			if int64(len(a[0].Bytes))*n > maxText {
				return types.Datum{}, tooLong()
			}
			return text(strings.Repeat(str(a[0]), int(n)))
		}),
		fn("ascii(text) int4", "code of the first character", func(_ *Context, a []types.Datum) (types.Datum, error) {
			r, n := utf8.DecodeRune(a[0].Bytes)
			if n == 0 {
				r = 0
			}
			return int4(int(r))
		}),
		fn("chr(int4) text", "character with a code", func(_ *Context, a []types.Datum) (types.Datum, error) {
			switch n := a[0].Int; {
			case n == 0:
				return types.Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
			case n < 0:
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "character number must be positive")
			case n > unicode.MaxRune || n >= 0xD800 && n < 0xE000:
				return types.Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", n)
			}
			return text(string(rune(a[0].Int)))
		}),
		fn("starts_with(text,text) bool", "begins with a prefix", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return boolean(bytes.HasPrefix(a[0].Bytes, a[1].Bytes))
		}),
		fn("overlay(text,text,int4) text", "part replaced", overlay), fn("overlay(text,text,int4,int4) text", "part replaced", overlay),
		fn("concat(...any) text", "joined texts", concat).onNull().stable(),
		fn("concat_ws(text,...any) text", "joined with a separator", concatWS).onNull().stable(),
		fn("text(bpchar) text", "as text", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return text(strings.TrimRight(str(a[0]), " "))
		}),
	}
}

func trimFunctions() []overload {
	var out []overload
	for _, t := range []struct {
		name        string
		left, right bool
	}{{"btrim", true, true}, {"ltrim", true, false}, {"rtrim", false, true}, {"trim", true, true}} {
		f := func(_ *Context, a []types.Datum) (types.Datum, error) {
			s, cut := str(a[0]), " "
			if len(a) > 1 {
				cut = str(a[1])
			}
			return text(trim(s, cut, t.left, t.right))
		}
		out = append(out, fn(t.name+"(text) text", "trimmed", f), fn(t.name+"(text,text) text", "trimmed", f))
	}
	return out
}

func trim(s, cut string, left, right bool) string {
	if cut == "" {
		return s
	}
	if left {
		s = strings.TrimLeft(s, cut)
	}
	if right {
		s = strings.TrimRight(s, cut)
	}
	return s
}

func initcap(s string) string {
	word := false
	return strings.Map(func(r rune) rune {
		inside := word
		word = unicode.IsLetter(r) || unicode.IsDigit(r)
		if inside {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func runePosition(s, sub string) int {
	i := strings.Index(s, sub)
	if i < 0 {
		return 0
	}
	return utf8.RuneCountInString(s[:i]) + 1
}

// leftPart returns the first n characters, or all but the last -n.
func leftPart(s string, n int64) string {
	if n < 0 {
		n = max(int64(utf8.RuneCountInString(s))+n, 0)
	}
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, k := utf8.DecodeRuneInString(s[end:])
		end += k
	}
	return s[:end]
}

// sliceRunes returns characters [from, from+count), counting from 1.
func sliceRunes(s string, from, count int64) string {
	if from < 1 {
		count += from - 1
		from = 1
	}
	if count <= 0 {
		return ""
	}
	return leftPart(s[len(leftPart(s, from-1)):], count)
}

func substring(_ *Context, a []types.Datum) (types.Datum, error) {
	count := int64(maxText)
	if len(a) > 2 {
		if count = a[2].Int; count < 0 {
			return types.Datum{}, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
	} else if a[1].Int < 1 {
		return a[0], nil
	}
	return text(sliceRunes(str(a[0]), a[1].Int, count))
}

func overlay(_ *Context, a []types.Datum) (types.Datum, error) {
	s, from := str(a[0]), a[2].Int
	count := int64(utf8.RuneCount(a[1].Bytes))
	if len(a) > 3 {
		count = a[3].Int
	}
	if from <= 0 {
		return types.Datum{}, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
	}
	return text(leftPart(s, from-1) + str(a[1]) + s[len(leftPart(s, max(from-1+count, 0))):])
}

func pad(left bool) rowFunc {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		s, n, fill := str(a[0]), max(a[1].Int, 0), " "
		if len(a) > 2 {
			fill = str(a[2])
		}
		if n > maxText/4 {
			return types.Datum{}, tooLong()
		}
		count := int64(utf8.RuneCountInString(s))
		if count >= n || fill == "" {
			return text(leftPart(s, n))
		}
		need := n - count
		padding := leftPart(strings.Repeat(fill, int(need)/utf8.RuneCountInString(fill)+1), need)
		if left {
			return text(padding + s)
		}
		return text(s + padding)
	}
}

func translate(s string, from, to []rune) string {
	return strings.Map(func(r rune) rune {
		for i, f := range from {
			if f == r {
				if i < len(to) {
					return to[i]
				}
				return -1
			}
		}
		return r
	}, s)
}

func splitPart(_ *Context, a []types.Datum) (types.Datum, error) {
	n := a[2].Int
	if n == 0 {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "field position must not be zero")
	}
	parts := []string{str(a[0])}
	if sep := str(a[1]); sep != "" {
		if strings.Count(parts[0], sep) >= maxParts {
			return types.Datum{}, tooLong()
		}
		parts = strings.Split(parts[0], sep)
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return text("")
	}
	return text(parts[n-1])
}

// shown is the text of a value as concat and format see it: booleans as t and f.
func shown(ec *Context, d types.Datum) string { return types.FormatDatum(d, ec.TextOptions()) }

// castText is the text of a value as a cast gives it.
func castText(ec *Context, d types.Datum) string {
	if d.Type.OID == types.Bool {
		return strconv.FormatBool(d.Int != 0)
	}
	return shown(ec, d)
}

func concat(ec *Context, a []types.Datum) (types.Datum, error) {
	var b strings.Builder
	for _, d := range a {
		b.WriteString(shown(ec, d))
		if b.Len() > maxText {
			return types.Datum{}, tooLong()
		}
	}
	return text(b.String())
}

func concatWS(ec *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullOf(types.Of(types.Text)), nil
	}
	var parts []string
	for _, d := range a[1:] {
		if !d.Null {
			parts = append(parts, shown(ec, d))
		}
	}
	return joined(parts, str(a[0]))
}

func textOperators() []overload {
	join := func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.Datum{Type: types.Of(types.Text), Bytes: append(bytes.Clone(a[0].Bytes), a[1].Bytes...)}, nil
	}
	out := []overload{
		fn("||(text,text) text", "concatenate", join), fn("||(bytea,bytea) bytea", "concatenate", join),
		fn("||(text,anynonarray) text", "concatenate", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return text(str(a[0]) + castText(ec, a[1]))
		}).stable(),
		fn("||(anynonarray,text) text", "concatenate", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return text(castText(ec, a[0]) + str(a[1]))
		}).stable(),
		fn("^@(text,text) bool", "starts with", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return boolean(bytes.HasPrefix(a[0].Bytes, a[1].Bytes))
		}),
	}
	for _, p := range []struct {
		op        string
		fold, not bool
	}{{"~~", false, false}, {"!~~", false, true}, {"~~*", true, false}, {"!~~*", true, true}} {
		f := fn(p.op+"(text,text) bool", "matches LIKE pattern", func(_ *Context, a []types.Datum) (types.Datum, error) {
			ok, err := likeMatch(str(a[0]), str(a[1]), '\\', p.fold)
			return types.BoolDatum(ok != p.not), err
		})
		if !p.fold {
			f = f.prepared(likeKernel(p.not))
		}
		out = append(out, f)
	}
	for _, p := range []struct {
		op        string
		fold, not bool
	}{{"~", false, false}, {"!~", false, true}, {"~*", true, false}, {"!~*", true, true}} {
		out = append(out, fn(p.op+"(text,text) bool", "matches regular expression", func(_ *Context, a []types.Datum) (types.Datum, error) {
			flags := ""
			if p.fold {
				flags = "i"
			}
			re, err := compileRegex(str(a[1]), flags)
			if err != nil {
				return types.Datum{}, err
			}
			return boolean(re.Match(a[0].Bytes) != p.not)
		}))
	}
	return out
}
