package types

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// JSONKind is the kind of a JSON value. The order is jsonb's, but for arrays.
type JSONKind uint8

// JSON kinds.
const (
	JSONNull JSONKind = iota
	JSONString
	JSONNumber
	JSONBool
	JSONArrayKind
	JSONObject
)

// JSONValue is a parsed JSON value.
type JSONValue struct {
	Kind  JSONKind
	Text  string // the decoded string, or the number as written
	Bool  bool
	Keys  []string // of an object, one per element of Items
	Items []*JSONValue
	Raw   []byte // the text it was parsed from
}

const maxJSONDepth = 6000

type jsonParser struct {
	src   []byte
	pos   int
	depth int
}

// ParseJSON reads a JSON text.
func ParseJSON(text []byte) (*JSONValue, error) {
	p := &jsonParser{src: text}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.fail("Expected end of input, but found \"%s\".", p.token())
	}
	return v, nil
}

func (p *jsonParser) fail(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(format, args...)
}

func (p *jsonParser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t' || p.src[p.pos] == '\n' || p.src[p.pos] == '\r') {
		p.pos++
	}
}

// token returns what stands at the position, for errors.
func (p *jsonParser) token() []byte {
	end := p.pos
	for end < len(p.src) && (p.src[end] == '_' || p.src[end] >= 0x80 || isDigit(p.src[end]) ||
		p.src[end]|0x20 >= 'a' && p.src[end]|0x20 <= 'z') {
		end++
	}
	return p.src[p.pos:min(max(end, p.pos+1), len(p.src))]
}

func (p *jsonParser) value() (*JSONValue, error) {
	p.space()
	if p.pos >= len(p.src) {
		return nil, p.fail("The input string ended unexpectedly.")
	}
	if p.depth++; p.depth > maxJSONDepth {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	defer func() { p.depth-- }()
	start := p.pos
	var v *JSONValue
	var err error
	switch c := p.src[p.pos]; {
	case c == '{':
		v, err = p.object()
	case c == '[':
		v, err = p.array()
	case c == '"':
		var s string
		s, err = p.str()
		v = &JSONValue{Kind: JSONString, Text: s}
	case c == '-' || isDigit(c):
		v, err = p.number()
	default:
		v, err = p.word()
	}
	if err != nil {
		return nil, err
	}
	v.Raw = p.src[start:p.pos]
	return v, nil
}

func (p *jsonParser) word() (*JSONValue, error) {
	switch t := string(p.token()); t {
	case "true", "false":
		p.pos += len(t)
		return &JSONValue{Kind: JSONBool, Bool: t == "true"}, nil
	case "null":
		p.pos += len(t)
		return &JSONValue{Kind: JSONNull}, nil
	default:
		return nil, p.fail("Token \"%s\" is invalid.", t)
	}
}

func (p *jsonParser) number() (*JSONValue, error) {
	start := p.pos
	digits := func() bool {
		s := p.pos
		for p.pos < len(p.src) && isDigit(p.src[p.pos]) {
			p.pos++
		}
		return p.pos > s
	}
	if p.src[p.pos] == '-' {
		p.pos++
	}
	first := p.pos
	ok := digits() && (p.src[first] != '0' || p.pos == first+1)
	if ok && p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		ok = digits()
	}
	if ok && p.pos < len(p.src) && p.src[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		ok = digits()
	}
	if !ok || p.pos < len(p.src) && (p.src[p.pos]|0x20 >= 'a' && p.src[p.pos]|0x20 <= 'z' || p.src[p.pos] == '.') {
		p.pos = start
		end := start
		for end < len(p.src) && bytes.IndexByte([]byte(" \t\n\r,]}:"), p.src[end]) < 0 {
			end++
		}
		return nil, p.fail("Token \"%s\" is invalid.", p.src[start:end])
	}
	return &JSONValue{Kind: JSONNumber, Text: string(p.src[start:p.pos])}, nil
}

func (p *jsonParser) array() (*JSONValue, error) {
	v := &JSONValue{Kind: JSONArrayKind}
	p.pos++
	for {
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == ']' && len(v.Items) == 0 {
			p.pos++
			return v, nil
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
		if more, err := p.separator(']', "\",\" or \"]\""); err != nil || !more {
			return v, err
		}
	}
}

// separator consumes a comma (true) or the closing bracket (false).
func (p *jsonParser) separator(closing byte, want string) (bool, error) {
	p.space()
	if p.pos >= len(p.src) {
		return false, p.fail("The input string ended unexpectedly.")
	}
	switch p.src[p.pos] {
	case ',':
		p.pos++
		return true, nil
	case closing:
		p.pos++
		return false, nil
	}
	return false, p.fail("Expected %s, but found \"%s\".", want, p.token())
}

func (p *jsonParser) object() (*JSONValue, error) {
	v := &JSONValue{Kind: JSONObject}
	p.pos++
	for {
		p.space()
		if p.pos >= len(p.src) {
			return nil, p.fail("The input string ended unexpectedly.")
		}
		if p.src[p.pos] == '}' && len(v.Items) == 0 {
			p.pos++
			return v, nil
		}
		if p.src[p.pos] != '"' {
			return nil, p.fail("Expected string, but found \"%s\".", p.token())
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return nil, p.fail("Expected \":\", but found \"%s\".", p.token())
		}
		p.pos++
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Keys, v.Items = append(v.Keys, key), append(v.Items, item)
		if more, err := p.separator('}', "\",\" or \"}\""); err != nil || !more {
			return v, err
		}
	}
}

func (p *jsonParser) str() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '"' && p.src[p.pos] != '\\' && p.src[p.pos] >= ' ' {
		p.pos++
	}
	out := append([]byte(nil), p.src[start:p.pos]...)
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		p.pos++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", p.fail("Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			out = append(out, c)
		default:
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail("The input string ended unexpectedly.")
}

func (p *jsonParser) escape(out []byte) ([]byte, error) {
	if p.pos >= len(p.src) {
		return nil, p.fail("The input string ended unexpectedly.")
	}
	c := p.src[p.pos]
	p.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return append(out, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, p.fail("Escape sequence \"\\%c\" is invalid.", c)
	}
	r, ok := p.hex4()
	if !ok {
		return nil, p.fail("\"\\u\" must be followed by four hexadecimal digits.")
	}
	if utf16.IsSurrogate(r) {
		if p.pos+1 < len(p.src) && p.src[p.pos] == '\\' && p.src[p.pos+1] == 'u' {
			p.pos += 2
			low, ok := p.hex4()
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				return utf8.AppendRune(out, r), nil
			}
		}
		return nil, p.fail("Unicode high surrogate must not follow a high surrogate.")
	}
	return utf8.AppendRune(out, r), nil
}

func (p *jsonParser) hex4() (rune, bool) {
	if p.pos+4 > len(p.src) {
		return 0, false
	}
	var r rune
	for _, c := range p.src[p.pos : p.pos+4] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	p.pos += 4
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// Canonical orders an object's keys by length, then bytes, keeping the last of
// equal ones, all the way down: jsonb's form.
func (v *JSONValue) Canonical() error {
	for _, it := range v.Items {
		if err := it.Canonical(); err != nil {
			return err
		}
	}
	switch v.Kind {
	case JSONString:
		if strings.IndexByte(v.Text, 0) >= 0 {
			return sqlerr.New("22P05", "unsupported Unicode escape sequence").WithDetail("\\u0000 cannot be converted to text.")
		}
	case JSONNumber:
		d, err := ParseDecimal([]byte(v.Text))
		if err != nil {
			return err
		}
		v.Text = d.String()
	case JSONObject:
		v.sortKeys()
	}
	return nil
}

func keyLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func (v *JSONValue) sortKeys() {
	last := make(map[string]*JSONValue, len(v.Keys))
	for i, k := range v.Keys {
		last[k] = v.Items[i]
	}
	keys := make([]string, 0, len(last))
	for k := range last {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keyLess(keys[i], keys[j]) })
	items := make([]*JSONValue, len(keys))
	for i, k := range keys {
		items[i] = last[k]
	}
	v.Keys, v.Items = keys, items
}

// Field returns a member of an object, nil where there is none. Of equal keys
// the last counts.
func (v *JSONValue) Field(key string) *JSONValue {
	if v.Kind != JSONObject {
		return nil
	}
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if v.Keys[i] == key {
			return v.Items[i]
		}
	}
	return nil
}

// Element returns an element of an array, counting from the end for negative
// indexes, nil where there is none.
func (v *JSONValue) Element(i int64) *JSONValue {
	if v.Kind != JSONArrayKind {
		return nil
	}
	if i < 0 {
		i += int64(len(v.Items))
	}
	if i < 0 || i >= int64(len(v.Items)) {
		return nil
	}
	return v.Items[i]
}

// Append appends the value as jsonb shows it: one space after colon and comma.
func (v *JSONValue) Append(dst []byte) []byte {
	switch v.Kind {
	case JSONNull:
		return append(dst, "null"...)
	case JSONBool:
		if v.Bool {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case JSONNumber:
		return append(dst, v.Text...)
	case JSONString:
		return AppendJSONString(dst, v.Text)
	case JSONArrayKind:
		dst = append(dst, '[')
		for i, it := range v.Items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = it.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, it := range v.Items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(AppendJSONString(dst, v.Keys[i]), ": "...)
		dst = it.Append(dst)
	}
	return append(dst, '}')
}

// AppendJSONString appends s as a JSON string.
func AppendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		default:
			if k := strings.IndexByte("\b\f\n\r\t", c); k >= 0 {
				dst = append(dst, '\\', "bfnrt"[k])
				continue
			}
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}

// CompareJSON orders canonical values as jsonb does: object > array > boolean >
// number > string > null; arrays and objects first by their size.
func CompareJSON(a, b *JSONValue) int {
	if a.Kind != b.Kind {
		// An empty top-level array sorts below everything, a quirk PostgreSQL keeps.
		if ea, eb := a.Kind == JSONArrayKind && len(a.Items) == 0, b.Kind == JSONArrayKind && len(b.Items) == 0; ea != eb {
			if ea {
				return -1
			}
			return 1
		}
		return int(a.Kind) - int(b.Kind)
	}
	switch a.Kind {
	case JSONString:
		return strings.Compare(a.Text, b.Text)
	case JSONNumber:
		x, _ := ParseDecimal([]byte(a.Text))
		y, _ := ParseDecimal([]byte(b.Text))
		return x.Cmp(y)
	case JSONBool:
		if a.Bool == b.Bool {
			return 0
		}
		if b.Bool {
			return -1
		}
		return 1
	}
	if n := len(a.Items) - len(b.Items); n != 0 {
		return n
	}
	for i := range a.Items {
		if a.Kind == JSONObject {
			if c := strings.Compare(a.Keys[i], b.Keys[i]); c != 0 {
				return c
			}
		}
		if c := CompareJSON(a.Items[i], b.Items[i]); c != 0 {
			return c
		}
	}
	return 0
}
