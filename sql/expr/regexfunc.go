package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// regexSearch says which matches of a pattern are asked for.
type regexSearch struct {
	from  int  // byte to begin at
	first bool // the first match alone
	// proper skips empty matches at an end of the text and behind another match, as
	// splitting does.
	proper bool
}

// matches calls fn with each match of re in s, as offsets into s, until it returns
// false. A search goes on behind a match, behind an empty one a character later.
func (re *regex) matches(s []byte, how regexSearch, fn func(m []int) bool) {
	previous := 0
	for at := how.from; at <= len(s); {
		engine := re.Regexp
		if at > 0 {
			engine = re.rest
		}
		m := engine.FindSubmatchIndex(s[at:])
		if m == nil {
			return
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		if !how.proper || m[0] < len(s) && m[1] > previous {
			if !fn(m) || how.first {
				return
			}
		}
		if previous = m[1]; how.first {
			return
		}
		if at = m[1]; m[0] == m[1] {
			_, size := utf8.DecodeRune(s[at:])
			at += max(size, 1)
		}
	}
}

// splitAround calls fn with the parts of s between the matches, until it returns false.
func (re *regex) splitAround(s []byte, fn func(part []byte) bool) {
	start, going := 0, true
	re.matches(s, regexSearch{proper: true}, func(m []int) bool {
		going = fn(s[start:m[0]])
		start = m[1]
		return going
	})
	if going {
		fn(s[start:])
	}
}

// regexArgs is what the arguments of a function say beside text and pattern.
type regexArgs struct {
	*regex
	text       []byte
	global     bool
	start, nth int // character to begin at, number of the match: from 1
}

// parseRegexArgs compiles the pattern. name is the function's, where it has no use
// for the flag g.
func parseRegexArgs(s, pattern types.Datum, flags, name string) (*regexArgs, error) {
	a := &regexArgs{text: s.Bytes, global: strings.Contains(flags, "g"), start: 1, nth: 1}
	if a.global && name != "" {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s does not support the \"global\" option", name)
	}
	var err error
	a.regex, err = compileRegex(str(pattern), flags)
	return a, err
}

func regexParameter(name string, d types.Datum, least int64) (int, error) {
	if d.Int < least {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, d.Int)
	}
	return int(d.Int), nil
}

// from is the byte at which character start begins; past the end there is none.
func (a *regexArgs) from() int {
	at := 0
	for range a.start - 1 {
		if at >= len(a.text) {
			return len(a.text) + 1
		}
		_, size := utf8.DecodeRune(a.text[at:])
		at += size
	}
	return at
}

// nthMatch returns the match of number nth, nil if there are fewer.
func (a *regexArgs) nthMatch() []int {
	var found []int
	n := 0
	a.matches(a.text, regexSearch{from: a.from()}, func(m []int) bool {
		if n++; n == a.nth {
			found = m
		}
		return n < a.nth
	})
	return found
}

func flagsArg(a []types.Datum, i int) string {
	if i < len(a) {
		return str(a[i])
	}
	return ""
}

func regexFunctions() []overload {
	out := []overload{
		fn("substring(text,text) text", "first match", substringRegex),
		fn("substring(text,text,text) text", "part that an SQL regular expression marks", substringSimilar),
	}
	each := func(name, ret, desc string, signatures []string, row rowFunc) {
		for _, s := range signatures {
			out = append(out, fn(name+"("+s+") "+ret, desc, row))
		}
	}
	each("regexp_replace", "text", "matches replaced", []string{
		"text,text,text", "text,text,text,text", "text,text,text,int4", "text,text,text,int4,int4", "text,text,text,int4,int4,text",
	}, regexpReplace)
	each("regexp_match", "_text", "captured groups of the first match", []string{"text,text", "text,text,text"}, regexpMatch)
	each("regexp_like", "bool", "matches", []string{"text,text", "text,text,text"}, regexpLike)
	each("regexp_count", "int4", "number of matches", []string{"text,text", "text,text,int4", "text,text,int4,text"}, regexpCount)
	each("regexp_instr", "int4", "place of a match", []string{
		"text,text", "text,text,int4", "text,text,int4,int4", "text,text,int4,int4,int4",
		"text,text,int4,int4,int4,text", "text,text,int4,int4,int4,text,int4",
	}, regexpInstr)
	each("regexp_substr", "text", "a match", []string{
		"text,text", "text,text,int4", "text,text,int4,int4", "text,text,int4,int4,text", "text,text,int4,int4,text,int4",
	}, regexpSubstr)
	each("regexp_split_to_array", "_text", "parts between matches", []string{"text,text", "text,text,text"}, regexpSplit)
	return out
}

func regexpLike(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 2), "regexp_like()")
	if err != nil {
		return types.Datum{}, err
	}
	return boolean(re.Match(re.text))
}

func substringRegex(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], "", "")
	if err != nil {
		return types.Datum{}, err
	}
	group := min(re.NumSubexp(), 1)
	return re.part(re.FindSubmatchIndex(re.text), group), nil
}

// part is a group of a match as text, NULL where it is not there.
func (a *regexArgs) part(m []int, group int) types.Datum {
	if 2*group >= len(m) || m[2*group] < 0 {
		return types.NullOf(types.Of(types.Text))
	}
	return types.TextDatum(string(a.text[m[2*group]:m[2*group+1]]))
}

// substringSimilar is substring(s SIMILAR pattern ESCAPE e): what stands between the
// two places of the pattern that are marked by the escape and a quote.
func substringSimilar(_ *Context, a []types.Datum) (types.Datum, error) {
	esc, err := escapeRune(str(a[2]))
	if err != nil {
		return types.Datum{}, err
	}
	pattern := str(a[1])
	if esc != 0 {
		parts := strings.Split(pattern, string(esc)+`"`)
		switch len(parts) {
		case 1:
		case 3:
			return substringMarked(a[0], parts, esc)
		case 2:
			return types.NullOf(types.Of(types.Text)), nil
		default:
			return types.Datum{}, tooManySeparators()
		}
	}
	re, err := compileRegex(similarToRegex(pattern, esc), "")
	if err != nil || !re.Match(a[0].Bytes) {
		return types.NullOf(types.Of(types.Text)), err
	}
	return a[0], nil
}

func tooManySeparators() error {
	return sqlerr.New(sqlerr.Code("2200C"), "SQL regular expression may not contain more than two escape-double-quote separators")
}

// substringMarked matches the parts of a marked pattern, the first as short as it
// can be.
func substringMarked(s types.Datum, parts []string, esc rune) (types.Datum, error) {
	inner := func(i int) string {
		p := similarToRegex(parts[i], esc)
		return p[len("^(?:") : len(p)-len(")$")]
	}
	re, err := compileRegex("(?U)^(?:"+inner(0)+")(?-U:("+inner(1)+"))(?-U:"+inner(2)+")$", "")
	if err != nil {
		return types.Datum{}, err
	}
	x := regexArgs{regex: re, text: s.Bytes}
	return x.part(re.FindSubmatchIndex(x.text), 1), nil
}

// groups returns the groups of a match as an array; all of it without groups.
func (a *regexArgs) groups(m []int) types.Datum {
	first := min(a.NumSubexp(), 1)
	items := make([]types.Datum, 0, len(m)/2)
	for g := first; g < len(m)/2; g++ {
		items = append(items, a.part(m, g))
	}
	return types.NewArray(types.Of(types.Text), items).Datum()
}

func regexpMatch(_ *Context, a []types.Datum) (types.Datum, error) {
	flags := flagsArg(a, 2)
	if strings.Contains(flags, "g") {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
			WithHint("Use the regexp_matches function instead.")
	}
	re, err := parseRegexArgs(a[0], a[1], flags, "")
	if err != nil {
		return types.Datum{}, err
	}
	m := re.FindSubmatchIndex(re.text)
	if m == nil {
		return types.NullOf(types.Of(types.TextArray)), nil
	}
	return re.groups(m), nil
}

func regexpCount(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 3), "regexp_count()")
	if err != nil {
		return types.Datum{}, err
	}
	if len(a) > 2 {
		if re.start, err = regexParameter("start", a[2], 1); err != nil {
			return types.Datum{}, err
		}
	}
	n := 0
	re.matches(re.text, regexSearch{from: re.from()}, func([]int) bool { n++; return true })
	return int4(n)
}

// place reads start, number and group of regexp_instr and regexp_substr; the
// others of their arguments are theirs.
func (a *regexArgs) place(d []types.Datum, groupAt int) (group int, err error) {
	if len(d) > 2 {
		if a.start, err = regexParameter("start", d[2], 1); err != nil {
			return 0, err
		}
	}
	if len(d) > 3 {
		if a.nth, err = regexParameter("n", d[3], 1); err != nil {
			return 0, err
		}
	}
	if len(d) > groupAt {
		return regexParameter("subexpr", d[groupAt], 0)
	}
	return 0, nil
}

func regexpInstr(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 5), "regexp_instr()")
	if err != nil {
		return types.Datum{}, err
	}
	end := int64(0)
	if len(a) > 4 {
		if end = a[4].Int; end != 0 && end != 1 {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"endoption\": %d", end)
		}
	}
	group, err := re.place(a, 6)
	if err != nil {
		return types.Datum{}, err
	}
	m := re.nthMatch()
	if 2*group >= len(m) || m[2*group] < 0 {
		return int4(0)
	}
	return int4(utf8.RuneCount(re.text[:m[2*group+int(end)]]) + 1)
}

func regexpSubstr(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 4), "regexp_substr()")
	if err != nil {
		return types.Datum{}, err
	}
	group, err := re.place(a, 5)
	if err != nil {
		return types.Datum{}, err
	}
	return re.part(re.nthMatch(), group), nil
}

func textArray(parts []string) types.Datum {
	items := make([]types.Datum, len(parts))
	for i, p := range parts {
		items[i] = types.TextDatum(p)
	}
	return types.NewArray(types.Of(types.Text), items).Datum()
}

func regexpSplit(_ *Context, a []types.Datum) (types.Datum, error) {
	re, err := parseRegexArgs(a[0], a[1], flagsArg(a, 2), "regexp_split_to_array()")
	if err != nil {
		return types.Datum{}, err
	}
	var parts []string
	re.splitAround(re.text, func(part []byte) bool {
		parts = append(parts, string(part))
		return len(parts) <= maxParts
	})
	if len(parts) > maxParts {
		return types.Datum{}, tooLong()
	}
	return textArray(parts), nil
}

// regexpReplace replaces the match of a number, or all from it on for 0; without a
// number the first, or all with the flag g.
func regexpReplace(_ *Context, a []types.Datum) (types.Datum, error) {
	numbered := len(a) > 3 && a[3].Type.OID == types.Int4
	flags := ""
	switch {
	case numbered:
		flags = flagsArg(a, 5)
	case len(a) > 3:
		if flags = str(a[3]); flags != "" && flags[0] >= '0' && flags[0] <= '9' {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", flags[0]).
				WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
		}
	}
	re, err := parseRegexArgs(a[0], a[1], flags, "")
	if err != nil {
		return types.Datum{}, err
	}
	if re.global {
		re.nth = 0
	}
	if numbered {
		if re.start, err = regexParameter("start", a[3], 1); err != nil {
			return types.Datum{}, err
		}
		if len(a) > 4 {
			if re.nth, err = regexParameter("n", a[4], 0); err != nil {
				return types.Datum{}, err
			}
		}
	}
	return re.replace(str(a[2]))
}

func (a *regexArgs) replace(by string) (types.Datum, error) {
	var out []byte
	last, n := 0, 0
	a.matches(a.text, regexSearch{from: a.from()}, func(m []int) bool {
		if n++; a.nth > 0 && n < a.nth {
			return true
		}
		out = append(out, a.text[last:m[0]]...)
		out = appendReplacement(out, by, a.text, m)
		last = m[1]
		return len(out) <= maxText && a.nth == 0
	})
	if len(out) > maxText {
		return types.Datum{}, tooLong()
	}
	return types.Datum{Type: types.Of(types.Text), Bytes: append(out, a.text[last:]...)}, nil
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
