package expr

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// regexes remembers compiled patterns; it is emptied when it has grown.
var regexes = struct {
	sync.Mutex
	m map[string]*regexp.Regexp
}{m: map[string]*regexp.Regexp{}}

// compileRegex compiles a PostgreSQL regular expression with its flags. What
// RE2 cannot do (back references, look-around) is 0A000.
func compileRegex(pattern, flags string) (*regexp.Regexp, error) {
	key := flags + "\x00" + pattern
	regexes.Lock()
	re := regexes.m[key]
	regexes.Unlock()
	if re != nil {
		return re, nil
	}
	re, err := translateRegex(pattern, flags)
	if err != nil {
		return nil, err
	}
	regexes.Lock()
	if len(regexes.m) >= 256 {
		clear(regexes.m)
	}
	regexes.m[key] = re
	regexes.Unlock()
	return re, nil
}

func translateRegex(pattern, flags string) (*regexp.Regexp, error) {
	mode := "s"
	for _, f := range flags {
		switch f {
		case 'i':
			mode += "i"
		case 'c':
			mode = strings.ReplaceAll(mode, "i", "")
		case 'n', 'm':
			mode = strings.ReplaceAll(mode, "s", "") + "m"
		case 'p':
			mode = strings.ReplaceAll(mode, "s", "")
		case 'w':
			mode += "m"
		case 's', 'e', 'g', 't':
		case 'q':
			pattern = regexp.QuoteMeta(pattern)
		case 'x':
			pattern = stripExpanded(pattern)
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", f)
		}
	}
	if strings.HasPrefix(pattern, "***=") {
		pattern = regexp.QuoteMeta(pattern[4:])
	}
	pattern = strings.TrimPrefix(pattern, "***:")
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, look) {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "regular expressions with look-around are not supported")
		}
	}
	re, err := regexp.Compile("(?" + mode + ")" + convertEscapes(pattern))
	if err == nil {
		return re, nil
	}
	if backReference(pattern) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "regular expressions with back references are not supported")
	}
	return nil, sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", regexReason(err))
}

func regexReason(err error) string {
	s := err.Error()
	switch {
	case strings.Contains(s, "missing closing )"), strings.Contains(s, "unexpected )"):
		return "parentheses () not balanced"
	case strings.Contains(s, "missing closing ]"):
		return "brackets [] not balanced"
	case strings.Contains(s, "missing argument to repetition"), strings.Contains(s, "invalid nested repetition"):
		return "quantifier operand invalid"
	case strings.Contains(s, "character class range"):
		return "invalid character range"
	case strings.Contains(s, "escape"), strings.Contains(s, "backslash"):
		return "invalid escape \\ sequence"
	}
	return "invalid repetition count(s)"
}

func backReference(p string) bool {
	for i := 0; i+1 < len(p); i++ {
		if p[i] == '\\' {
			if p[i+1] >= '1' && p[i+1] <= '9' {
				return true
			}
			i++
		}
	}
	return false
}

// convertEscapes rewrites escapes that RE2 spells differently.
func convertEscapes(p string) string {
	if strings.IndexByte(p, '\\') < 0 && !strings.Contains(p, "[[:<:]]") && !strings.Contains(p, "[[:>:]]") {
		return p
	}
	p = strings.ReplaceAll(strings.ReplaceAll(p, "[[:<:]]", `\b`), "[[:>:]]", `\b`)
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			b.WriteByte(p[i])
			continue
		}
		i++
		switch p[i] {
		case 'y', 'm', 'M':
			b.WriteString(`\b`)
		case 'Y':
			b.WriteString(`\B`)
		case 'Z':
			b.WriteString(`\z`)
		default:
			b.WriteByte('\\')
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// stripExpanded removes white space and comments of an expanded pattern.
func stripExpanded(p string) string {
	var b strings.Builder
	class, comment := false, false
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case comment:
			comment = c != '\n'
		case c == '\\' && i+1 < len(p):
			b.WriteString(p[i : i+2])
			i++
		case !class && c == '#':
			comment = true
		case !class && strings.IndexByte(" \t\n\r\v\f", c) >= 0:
		default:
			class = c == '[' || class && c != ']'
			b.WriteByte(c)
		}
	}
	return b.String()
}

func flagsArg(a []types.Datum, i int) string {
	if i < len(a) {
		return str(a[i])
	}
	return ""
}

func regexFunctions() []overload {
	return []overload{
		fn("regexp_replace(text,text,text) text", "first match replaced", regexpReplace),
		fn("regexp_replace(text,text,text,text) text", "matches replaced", regexpReplace),
		fn("regexp_match(text,text) _text", "captured groups of the first match", regexpMatch),
		fn("regexp_match(text,text,text) _text", "captured groups of the first match", regexpMatch),
		fn("regexp_like(text,text) bool", "matches", regexpLike),
		fn("regexp_like(text,text,text) bool", "matches", regexpLike),
		fn("regexp_count(text,text) int4", "number of matches", func(_ *Context, a []types.Datum) (types.Datum, error) {
			re, err := compileRegex(str(a[1]), "")
			if err != nil {
				return types.Datum{}, err
			}
			return int4(len(re.FindAllIndex(a[0].Bytes, -1)))
		}),
		fn("regexp_split_to_array(text,text) _text", "parts between matches", regexpSplit),
		fn("regexp_split_to_array(text,text,text) _text", "parts between matches", regexpSplit),
		fn("regexp_substr(text,text) text", "first match", substringRegex),
		fn("substring(text,text) text", "first match", substringRegex),
	}
}

func regexpLike(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := compileRegex(str(a[1]), flagsArg(a, 2))
	if err != nil {
		return types.Datum{}, err
	}
	return boolean(re.Match(a[0].Bytes))
}

func substringRegex(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := compileRegex(str(a[1]), "")
	if err != nil {
		return types.Datum{}, err
	}
	m := re.FindSubmatchIndex(a[0].Bytes)
	k := 0
	if re.NumSubexp() > 0 {
		k = 2
	}
	if m == nil || m[k] < 0 {
		return types.NullOf(types.Of(types.Text)), nil
	}
	return text(string(a[0].Bytes[m[k]:m[k+1]]))
}

func regexpMatch(_ *Context, a []types.Datum) (types.Datum, error) {
	flags := flagsArg(a, 2)
	if strings.Contains(flags, "g") {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
			WithHint("Use the regexp_matches function instead.")
	}
	re, err := compileRegex(str(a[1]), flags)
	if err != nil {
		return types.Datum{}, err
	}
	m := re.FindSubmatchIndex(a[0].Bytes)
	if m == nil {
		return types.NullOf(types.Of(types.TextArray)), nil
	}
	if len(m) > 2 {
		m = m[2:]
	}
	var items []types.Datum
	for i := 0; i < len(m); i += 2 {
		if m[i] < 0 {
			items = append(items, types.NullOf(types.Of(types.Text)))
		} else {
			items = append(items, types.TextDatum(string(a[0].Bytes[m[i]:m[i+1]])))
		}
	}
	return types.NewArray(types.Of(types.Text), items).Datum(), nil
}

func textArray(parts []string) types.Datum {
	items := make([]types.Datum, len(parts))
	for i, p := range parts {
		items[i] = types.TextDatum(p)
	}
	return types.NewArray(types.Of(types.Text), items).Datum()
}

func regexpSplit(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := compileRegex(str(a[1]), flagsArg(a, 2))
	if err != nil {
		return types.Datum{}, err
	}
	s := str(a[0])
	var parts []string
	start := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[1] == m[0] && (m[0] == 0 || m[0] == len(s) || m[0] == start) {
			if m[0] != start || m[0] == 0 || m[0] == len(s) {
				continue
			}
		}
		parts = append(parts, s[start:m[0]])
		start = m[1]
	}
	return textArray(append(parts, s[start:])), nil
}

func regexpReplace(_ *Context, a []types.Datum) (types.Datum, error) {
	flags := flagsArg(a, 3)
	re, err := compileRegex(str(a[1]), flags)
	if err != nil {
		return types.Datum{}, err
	}
	n := 1
	if strings.Contains(flags, "g") {
		n = -1
	}
	s := a[0].Bytes
	var out []byte
	last := 0
	for _, m := range re.FindAllSubmatchIndex(s, n) {
		out = append(out, s[last:m[0]]...)
		out = appendReplacement(out, str(a[2]), s, m)
		if last = m[1]; len(out) > maxText {
			return types.Datum{}, tooLong()
		}
	}
	return types.Datum{Type: types.Of(types.Text), Bytes: append(out, s[last:]...)}, nil
}

// appendReplacement expands \1 … \9, \& and \\.
func appendReplacement(dst []byte, repl string, s []byte, m []int) []byte {
	for i := 0; i < len(repl); i++ {
		if repl[i] != '\\' || i+1 == len(repl) {
			dst = append(dst, repl[i])
			continue
		}
		i++
		switch c := repl[i]; {
		case c >= '1' && c <= '9':
			if k := int(c-'0') * 2; k < len(m) && m[k] >= 0 {
				dst = append(dst, s[m[k]:m[k+1]]...)
			}
		case c == '&':
			dst = append(dst, s[m[0]:m[1]]...)
		case c == '\\':
			dst = append(dst, '\\')
		default:
			_, k := utf8.DecodeRuneInString(repl[i:])
			dst = append(append(dst, '\\'), repl[i:i+k]...)
			i += k - 1
		}
	}
	return dst
}
