package types

import (
	"bytes"
	"strconv"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

func malformedArray(text []byte, detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", text).WithDetail("%s", detail)
}

type arrayParser struct {
	src  []byte
	pos  int
	opts *TextOptions
	arr  Array
	dims []int // lengths found so far, -1 where open
}

func parseArray(text []byte, t Type, opts *TextOptions) (Datum, error) {
	if t.OID == Int2Vector || t.OID == OidVector {
		return parseVector(text, t)
	}
	p := &arrayParser{src: text, opts: opts, arr: Array{Elem: t.ElemType()}}
	p.space()
	var declared []int
	if p.peek() == '[' {
		var err error
		if declared, err = p.bounds(); err != nil {
			return Datum{}, err
		}
	}
	if p.peek() != '{' {
		if declared != nil {
			return Datum{}, malformedArray(text, "Array contents must start with \"{\".")
		}
		return Datum{}, malformedArray(text, "Array value must start with \"{\" or dimension information.")
	}
	if err := p.level(0); err != nil {
		return Datum{}, err
	}
	p.space()
	if p.pos < len(p.src) {
		return Datum{}, malformedArray(text, "Junk after closing right brace.")
	}
	a := p.arr
	if len(a.Items) == 0 {
		a.Dims = nil
		if declared != nil {
			return Datum{}, malformedArray(text, "Specified array dimensions do not match array contents.")
		}
		return Datum{Type: t, Bytes: a.Append(nil)}, nil
	}
	a.Dims = p.dims
	if declared != nil {
		if len(declared) != len(a.Dims) {
			return Datum{}, malformedArray(text, "Specified array dimensions do not match array contents.")
		}
		for i, n := range declared {
			if n != a.Dims[i] {
				return Datum{}, malformedArray(text, "Specified array dimensions do not match array contents.")
			}
		}
		a.Lower = p.arr.Lower
	} else {
		a.Lower = make([]int, len(a.Dims))
		for i := range a.Lower {
			a.Lower[i] = 1
		}
	}
	return Datum{Type: t, Bytes: a.Append(nil)}, nil
}

func (p *arrayParser) space() {
	for p.pos < len(p.src) && isSpace(p.src[p.pos]) {
		p.pos++
	}
}

func (p *arrayParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// bounds reads [lo:hi][lo:hi]= and returns the lengths.
func (p *arrayParser) bounds() ([]int, error) {
	var lengths []int
	for p.peek() == '[' {
		end := bytes.IndexByte(p.src[p.pos:], ']')
		if end < 0 {
			return nil, malformedArray(p.src, "Missing \"]\" after array dimensions.")
		}
		lo, hi, both := bytes.Cut(p.src[p.pos+1:p.pos+end], []byte(":"))
		l, h := 1, 0
		var err1, err2 error
		if both {
			l, err1 = strconv.Atoi(string(trimSpace(lo)))
			h, err2 = strconv.Atoi(string(trimSpace(hi)))
		} else {
			h, err1 = strconv.Atoi(string(trimSpace(lo)))
		}
		if err1 != nil || err2 != nil || l < -1<<31 || h >= 1<<31-1 {
			return nil, malformedArray(p.src, "\"[\" must introduce explicitly-specified array dimensions.")
		}
		if h < l {
			return nil, sqlerr.New(arraySubscriptError, "upper bound cannot be less than lower bound")
		}
		if len(lengths) == MaxArrayDims {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions exceeds the maximum allowed (%d)", MaxArrayDims)
		}
		lengths, p.arr.Lower = append(lengths, h-l+1), append(p.arr.Lower, l)
		p.pos += end + 1
		p.space()
	}
	if p.peek() != '=' {
		return nil, malformedArray(p.src, "Missing \"=\" after array dimensions.")
	}
	p.pos++
	p.space()
	return lengths, nil
}

const arraySubscriptError sqlerr.Code = "2202E"

// level reads one braced list at a depth.
func (p *arrayParser) level(depth int) error {
	if depth >= MaxArrayDims {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", depth+1, MaxArrayDims)
	}
	if depth == len(p.dims) {
		if len(p.arr.Items) > 0 {
			return p.ragged()
		}
		p.dims = append(p.dims, -1)
	}
	p.pos++
	count := 0
	for {
		p.space()
		switch p.peek() {
		case '}':
			if count > 0 && p.src[p.pos-1] == ',' {
				return malformedArray(p.src, "Unexpected \"}\" character.")
			}
			p.pos++
			return p.close(depth, count)
		case '{':
			if err := p.level(depth + 1); err != nil {
				return err
			}
		case 0:
			return malformedArray(p.src, "Unexpected end of input.")
		case ',':
			return malformedArray(p.src, "Unexpected \",\" character.")
		default:
			if depth != len(p.dims)-1 {
				return p.ragged()
			}
			if err := p.element(); err != nil {
				return err
			}
		}
		count++
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
			if p.peek() == '}' {
				return malformedArray(p.src, "Unexpected \"}\" character.")
			}
		case '}':
		case 0:
			return malformedArray(p.src, "Unexpected end of input.")
		default:
			return malformedArray(p.src, "Unexpected array element.")
		}
	}
}

func (p *arrayParser) ragged() error {
	return malformedArray(p.src, "Multidimensional arrays must have sub-arrays with matching dimensions.")
}

func (p *arrayParser) close(depth, count int) error {
	if p.dims[depth] == -1 {
		p.dims[depth] = count
	} else if p.dims[depth] != count {
		return p.ragged()
	}
	return nil
}

func (p *arrayParser) element() error {
	if len(p.arr.Items) >= maxArrayElements {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayElements)
	}
	var buf []byte
	quoted, keep := false, 0
	for {
		if p.pos >= len(p.src) {
			return malformedArray(p.src, "Unexpected end of input.")
		}
		c := p.src[p.pos]
		switch {
		case c == '"':
			if quoted || len(trimSpace(buf)) > 0 {
				return malformedArray(p.src, "Unexpected array element.")
			}
			quoted = true
			p.pos++
			for p.pos < len(p.src) && p.src[p.pos] != '"' {
				if p.src[p.pos] == '\\' {
					p.pos++
				}
				if p.pos < len(p.src) {
					buf = append(buf, p.src[p.pos])
					p.pos++
				}
			}
			if p.pos >= len(p.src) {
				return malformedArray(p.src, "Unexpected end of input.")
			}
			p.pos++
			continue
		case c == '\\':
			p.pos++
			if p.pos >= len(p.src) {
				return malformedArray(p.src, "Unexpected end of input.")
			}
			buf = append(buf, p.src[p.pos])
			keep = len(buf)
			p.pos++
			continue
		case c == ',' || c == '}' || c == '{':
			if c == '{' {
				return malformedArray(p.src, "Unexpected \"{\" character.")
			}
			return p.finish(buf, quoted, keep)
		case quoted && !isSpace(c):
			return malformedArray(p.src, "Unexpected array element.")
		case !quoted:
			buf = append(buf, c)
		}
		p.pos++
	}
}

func (p *arrayParser) finish(buf []byte, quoted bool, keep int) error {
	for !quoted && len(buf) > keep && isSpace(buf[len(buf)-1]) {
		buf = buf[:len(buf)-1]
	}
	if !quoted && keep == 0 && bytes.EqualFold(buf, []byte("null")) {
		p.arr.Items = append(p.arr.Items, NullOf(p.arr.Elem))
		return nil
	}
	d, err := Parse(p.arr.Elem, buf, p.opts)
	p.arr.Items = append(p.arr.Items, d)
	return err
}

func parseVector(text []byte, t Type) (Datum, error) {
	var items []Datum
	elem := t.ElemType()
	for _, f := range bytes.Fields(text) {
		d, err := Parse(elem, f, nil)
		if err != nil {
			return Datum{}, err
		}
		items = append(items, d)
	}
	return Datum{Type: t, Bytes: vectorArray(elem, items).Append(nil)}, nil
}

func appendArrayText(dst []byte, d Datum, opts *TextOptions) []byte {
	a, err := ArrayDatum(d)
	if err != nil {
		return dst
	}
	if d.Type.OID == Int2Vector || d.Type.OID == OidVector {
		for i, it := range a.Items {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = AppendDatumText(dst, it, opts)
		}
		return dst
	}
	if len(a.Items) == 0 {
		return append(dst, "{}"...)
	}
	shifted := false
	for _, l := range a.Lower {
		shifted = shifted || l != 1
	}
	if shifted {
		for i, l := range a.Lower {
			dst = strconv.AppendInt(append(dst, '['), int64(l), 10)
			dst = strconv.AppendInt(append(dst, ':'), int64(l+a.Dims[i]-1), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, '=')
	}
	next := 0
	var level func(depth int)
	level = func(depth int) {
		dst = append(dst, '{')
		for i := range a.Dims[depth] {
			if i > 0 {
				dst = append(dst, ',')
			}
			if depth < len(a.Dims)-1 {
				level(depth + 1)
				continue
			}
			dst = appendElementText(dst, a.Items[next], opts)
			next++
		}
		dst = append(dst, '}')
	}
	level(0)
	return dst
}

func appendElementText(dst []byte, d Datum, opts *TextOptions) []byte {
	if d.Null {
		return append(dst, "NULL"...)
	}
	start := len(dst)
	dst = AppendDatumText(dst, d, opts)
	s := dst[start:]
	quote := len(s) == 0 || bytes.EqualFold(s, []byte("null"))
	for _, c := range s {
		if c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || isSpace(c) {
			quote = true
		}
	}
	if !quote {
		return dst
	}
	s = append([]byte(nil), s...)
	dst = append(dst[:start], '"')
	for _, c := range s {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
