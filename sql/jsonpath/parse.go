package jsonpath

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Path is a parsed path.
type Path struct {
	strict bool
	root   node
}

// node is an expression: of items, or a predicate.
type node interface{ isNode() }

type (
	// start is $ (""), @ ("@"), last ("last") or $name.
	start struct {
		name     string
		variable bool
	}
	literal  struct{ value *types.JSONValue }
	accessor struct {
		base node
		step step
	}
	unary struct {
		op  string // + - ! exists unknown
		arg node
	}
	binary struct {
		op          string
		left, right node
	}
	matches struct { // like_regex and starts with
		arg    node
		re     *regexp.Regexp
		prefix node
	}
)

func (start) isNode()     {}
func (literal) isNode()   {}
func (*accessor) isNode() {}
func (*unary) isNode()    {}
func (*binary) isNode()   {}
func (*matches) isNode()  {}

// step is one accessor.
type step struct {
	kind     stepKind
	key      string // of a member, or the name of a method
	ranges   []indexRange
	from, to int // levels of .**; to < 0 is no end
	filter   node
}

type stepKind uint8

const (
	memberStep stepKind = iota
	anyMemberStep
	deepStep
	anyElementStep
	elementStep
	filterStep
	methodStep
)

// indexRange is one subscript: an index, or from one to another.
type indexRange struct{ from, to node }

// maxDepth limits how deep paths nest, maxTokens how long they are.
const (
	maxDepth  = 200
	maxTokens = 10_000
)

type parser struct {
	tokens []token
	at     int
	depth  int
	filter int // filters around, in which @ has a meaning
	index  int // subscripts around, in which last has one
}

// Parse parses a path.
func Parse(s string) (*Path, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	if len(tokens) > maxTokens {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "a jsonpath has more than %d parts", maxTokens)
	}
	if len(tokens) == 1 {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath: \"%s\"", s)
	}
	p := &parser{tokens: tokens}
	out := &Path{}
	if p.word("strict") {
		out.strict = true
	} else {
		p.word("lax")
	}
	if out.root, err = p.or(); err != nil {
		return nil, err
	}
	if p.cur().kind != endToken {
		return nil, p.fail()
	}
	return out, nil
}

func (p *parser) cur() token { return p.tokens[p.at] }

func (p *parser) fail() error { return syntaxError(p.cur().text) }

func (p *parser) word(w string) bool {
	if t := p.cur(); t.kind == nameToken && t.text == w {
		p.at++
		return true
	}
	return false
}

func (p *parser) symbol(s string) bool {
	if t := p.cur(); t.kind == symbolToken && t.text == s {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(s string) error {
	if !p.symbol(s) {
		return p.fail()
	}
	return nil
}

// chain parses operators of one strength, which group to the left.
func (p *parser) chain(next func() (node, error), ops ...string) (node, error) {
	left, err := next()
	for err == nil {
		op := ""
		for _, o := range ops {
			if p.symbol(o) {
				op = o
				break
			}
		}
		if op == "" {
			break
		}
		var right node
		if right, err = next(); err == nil {
			left = &binary{op, left, right}
		}
	}
	return left, err
}

// enter goes one level deeper; what it returns comes back.
func (p *parser) enter() (leave func(), err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "a jsonpath nests deeper than %d levels", maxDepth)
	}
	return func() { p.depth-- }, nil
}

func (p *parser) or() (node, error) {
	leave, err := p.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return p.chain(p.and, "||")
}

func (p *parser) and() (node, error) { return p.chain(p.comparison, "&&") }

var comparisons = map[string]string{"==": "==", "=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

func (p *parser) comparison() (node, error) {
	if p.symbol("!") {
		leave, err := p.enter()
		if err != nil {
			return nil, err
		}
		defer leave()
		arg, err := p.comparison()
		return &unary{"!", arg}, err
	}
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	t := p.cur()
	if op := comparisons[t.text]; t.kind == symbolToken && op != "" {
		p.at++
		right, err := p.sum()
		return &binary{op, left, right}, err
	}
	switch {
	case p.word("starts"):
		if !p.word("with") {
			return nil, p.fail()
		}
		prefix, err := p.primary()
		return &matches{arg: left, prefix: prefix}, err
	case p.word("like_regex"):
		return p.likeRegex(left)
	case p.word("is"):
		if !p.word("unknown") {
			return nil, p.fail()
		}
		return &unary{"unknown", left}, nil
	}
	return left, nil
}

func (p *parser) likeRegex(arg node) (node, error) {
	pattern := p.cur()
	if pattern.kind != stringToken {
		return nil, p.fail()
	}
	p.at++
	flags := ""
	if p.word("flag") {
		f := p.cur()
		if f.kind != stringToken {
			return nil, p.fail()
		}
		p.at++
		quote := false
		for _, c := range f.text {
			switch c {
			case 'i', 's', 'm':
				flags += string(c)
			case 'q':
				quote = true
			default:
				return nil, sqlerr.New(sqlerr.SyntaxError, "invalid input syntax for type jsonpath").
					WithDetail("Unrecognized flag character \"%c\" in LIKE_REGEX predicate.", c)
			}
		}
		if quote {
			pattern.text = regexp.QuoteMeta(pattern.text)
		}
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	re, err := regexp.Compile(flags + pattern.text)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &matches{arg: arg, re: re}, nil
}

func (p *parser) sum() (node, error) { return p.chain(p.product, "+", "-") }

func (p *parser) product() (node, error) { return p.chain(p.sign, "*", "/", "%") }

func (p *parser) sign() (node, error) {
	for _, op := range []string{"+", "-"} {
		if p.symbol(op) {
			leave, err := p.enter()
			if err != nil {
				return nil, err
			}
			defer leave()
			arg, err := p.sign()
			return &unary{op, arg}, err
		}
	}
	n, err := p.primary()
	for err == nil {
		var s *step
		if s, err = p.accessor(); s == nil {
			break
		}
		n = &accessor{n, *s}
	}
	return n, err
}

func (p *parser) primary() (node, error) {
	t := p.cur()
	p.at++
	switch {
	case t.kind == variableToken:
		return start{t.text, t.text != ""}, nil
	case t.kind == stringToken:
		return literal{&types.JSONValue{Kind: types.JSONString, Text: t.text}}, nil
	case t.kind == numberToken:
		return literal{&types.JSONValue{Kind: types.JSONNumber, Text: t.text}}, nil
	case t.kind == symbolToken && t.text == "@":
		if p.filter == 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "@ is not allowed in root expressions")
		}
		return start{name: "@"}, nil
	case t.kind == symbolToken && t.text == "(":
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
		if p.word("is") {
			if !p.word("unknown") {
				return nil, p.fail()
			}
			return &unary{"unknown", n}, nil
		}
		return n, nil
	case t.kind == nameToken:
		return p.namedPrimary(t)
	}
	p.at--
	return nil, p.fail()
}

func (p *parser) namedPrimary(t token) (node, error) {
	switch t.text {
	case "true", "false":
		return literal{&types.JSONValue{Kind: types.JSONBool, Bool: t.text == "true"}}, nil
	case "null":
		return literal{&types.JSONValue{Kind: types.JSONNull}}, nil
	case "last":
		if p.index == 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "LAST is allowed only in array subscripts")
		}
		return start{name: "last"}, nil
	case "exists":
		if err := p.expect("("); err != nil {
			return nil, err
		}
		arg, err := p.or()
		if err != nil {
			return nil, err
		}
		return &unary{"exists", arg}, p.expect(")")
	}
	p.at--
	return nil, p.fail()
}

// accessor parses one accessor; nil where none follows.
func (p *parser) accessor() (*step, error) {
	switch {
	case p.symbol("["):
		return p.subscript()
	case p.symbol("?"):
		if err := p.expect("("); err != nil {
			return nil, err
		}
		p.filter++
		f, err := p.or()
		p.filter--
		if err != nil {
			return nil, err
		}
		return &step{kind: filterStep, filter: f}, p.expect(")")
	case p.symbol("."):
		return p.member()
	}
	return nil, nil
}

func (p *parser) subscript() (*step, error) {
	if p.symbol("*") {
		return &step{kind: anyElementStep}, p.expect("]")
	}
	s := &step{kind: elementStep}
	p.index++
	defer func() { p.index-- }()
	for {
		var r indexRange
		var err error
		if r.from, err = p.sum(); err != nil {
			return nil, err
		}
		if p.word("to") {
			if r.to, err = p.sum(); err != nil {
				return nil, err
			}
		}
		s.ranges = append(s.ranges, r)
		if !p.symbol(",") {
			return s, p.expect("]")
		}
	}
}

var methods = map[string]bool{"type": true, "size": true, "double": true, "ceiling": true, "floor": true, "abs": true, "keyvalue": true}

func (p *parser) member() (*step, error) {
	if p.symbol("**") {
		return p.levels()
	}
	if p.symbol("*") {
		return &step{kind: anyMemberStep}, nil
	}
	t := p.cur()
	if t.kind != nameToken && t.kind != stringToken {
		return nil, p.fail()
	}
	p.at++
	if t.kind == nameToken && p.symbol("(") {
		if t.text == "datetime" {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "jsonpath item method .datetime() is not supported")
		}
		if !methods[t.text] {
			p.at--
			return nil, p.fail()
		}
		return &step{kind: methodStep, key: t.text}, p.expect(")")
	}
	return &step{kind: memberStep, key: t.text}, nil
}

// levels parses what follows .**: nothing, {n} or {n to m}.
func (p *parser) levels() (*step, error) {
	s := &step{kind: deepStep, to: -1}
	if !p.symbol("{") {
		return s, nil
	}
	level := func() (int, error) {
		if p.word("last") {
			return -1, nil
		}
		t := p.cur()
		n, err := strconv.Atoi(t.text)
		if t.kind != numberToken || err != nil {
			return 0, p.fail()
		}
		p.at++
		return n, nil
	}
	var err error
	if s.from, err = level(); err != nil {
		return nil, err
	}
	if s.to = s.from; p.word("to") {
		if s.to, err = level(); err != nil {
			return nil, err
		}
	}
	return s, p.expect("}")
}
