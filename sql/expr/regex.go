package expr

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// regex is a compiled pattern.
type regex struct {
	*regexp.Regexp
	// rest is the pattern where a search goes on inside a text, which ^ does not match.
	rest *regexp.Regexp
}

// regexes remembers compiled patterns; it is emptied when it has grown.
var regexes = struct {
	sync.Mutex
	m map[string]*regex
}{m: map[string]*regex{}}

// compileRegex compiles a PostgreSQL regular expression with its flags. What
// RE2 cannot do (back references, look-around) is 0A000.
func compileRegex(pattern, flags string) (*regex, error) {
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

func translateRegex(pattern, flags string) (*regex, error) {
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
	re, err := compiled("(?" + mode + ")" + convertEscapes(pattern))
	if err == nil {
		return re, nil
	}
	if backReference(pattern) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "regular expressions with back references are not supported")
	}
	return nil, sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", regexReason(err))
}

// compiled compiles a pattern of RE2, with PostgreSQL's preference: of the matches
// that begin first the longest, or the shortest where the first quantifier is not
// greedy, whatever the other quantifiers say.
func compiled(pattern string) (*regex, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	shortest := preference(tree) == preferShort
	anchored := false
	forEachRegex(tree, func(n *syntax.Regexp) {
		if n.Op >= syntax.OpStar && n.Op <= syntax.OpRepeat {
			if n.Flags &^= syntax.NonGreedy; shortest {
				n.Flags |= syntax.NonGreedy
			}
		}
		anchored = anchored || n.Op == syntax.OpBeginText
	})
	compile := func() (*regexp.Regexp, error) {
		re, err := regexp.Compile(tree.String())
		if err == nil && !shortest {
			re.Longest()
		}
		return re, err
	}
	re, err := compile()
	if err != nil || !anchored {
		return &regex{re, re}, err
	}
	forEachRegex(tree, func(n *syntax.Regexp) {
		if n.Op == syntax.OpBeginText {
			n.Op = syntax.OpNoMatch
		}
	})
	rest, err := compile()
	return &regex{re, rest}, err
}

func forEachRegex(n *syntax.Regexp, fn func(*syntax.Regexp)) {
	fn(n)
	for _, sub := range n.Sub {
		forEachRegex(sub, fn)
	}
}

type matchPreference uint8

const (
	noPreference matchPreference = iota
	preferLong
	preferShort
)

// preference is what the first quantifier of a pattern prefers. An alternation
// always prefers the longest.
func preference(n *syntax.Regexp) matchPreference {
	switch n.Op {
	case syntax.OpAlternate:
		return preferLong
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if n.Flags&syntax.NonGreedy != 0 {
			return preferShort
		}
		return preferLong
	}
	for _, sub := range n.Sub {
		if p := preference(sub); p != noPreference {
			return p
		}
	}
	return noPreference
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

// regexClasses are character classes, which are Unicode's.
var regexClasses = strings.NewReplacer(
	"[:alpha:]", `\p{L}`, "[:alnum:]", `\p{L}\p{N}`, "[:upper:]", `\p{Lu}`, "[:lower:]", `\p{Ll}`,
)

// convertEscapes rewrites escapes and classes that RE2 spells differently.
func convertEscapes(p string) string {
	if strings.IndexByte(p, '\\') < 0 && !strings.Contains(p, "[:") {
		return p
	}
	p = strings.ReplaceAll(strings.ReplaceAll(p, "[[:<:]]", `\b`), "[[:>:]]", `\b`)
	p = regexClasses.Replace(p)
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			class = p[i] == '[' || class && p[i] != ']'
			b.WriteByte(p[i])
			continue
		}
		i++
		switch {
		case p[i] == 'y' || p[i] == 'm' || p[i] == 'M':
			b.WriteString(`\b`)
		case p[i] == 'Y':
			b.WriteString(`\B`)
		case p[i] == 'Z':
			b.WriteString(`\z`)
		case p[i] == 'w' && class:
			b.WriteString(`\p{L}\p{N}_`)
		case p[i] == 'w':
			b.WriteString(`[\p{L}\p{N}_]`)
		case p[i] == 'W' && !class:
			b.WriteString(`[^\p{L}\p{N}_]`)
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
