package copyfmt

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// textRows parses rows in PostgreSQL's text format.
func (r *Reader) textRows(data []byte, b *types.Batch) ([]byte, error) {
	// A row may hold an escaped newline only where there is a backslash at all.
	escapes := bytes.IndexByte(data, '\\') >= 0
	for len(data) > 0 {
		line, rest, ok := r.cut(data)
		if !ok {
			return data, nil
		}
		for escapes && endsInEscape(line) { // the newline belongs to the value
			k := bytes.IndexByte(rest, '\n')
			if k < 0 {
				return data, nil
			}
			line, rest = data[:len(line)+1+k], rest[k+1:]
		}
		r.line++
		data = rest
		if escapes && string(line) == `\.` {
			r.ended = true
			return nil, nil
		}
		if r.header {
			if err := r.skipHeader(line, bytes.Split(line, []byte{r.opts.Delimiter})); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.textRow(line, b, escapes); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// endsInEscape reports whether a line ends in an odd number of backslashes.
func endsInEscape(line []byte) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func (r *Reader) textRow(line []byte, b *types.Batch, escapes bool) error {
	rest, more := line, true
	for c := range r.columns {
		if !more {
			return r.bad(b, r.missing(c), -1, nil, line)
		}
		field := rest
		if k := r.fieldEnd(rest, escapes); k >= 0 {
			field, rest = rest[:k], rest[k+1:]
		} else {
			more = false
		}
		v := b.Cols[c]
		if len(field) == len(r.opts.Null) && string(field) == r.opts.Null {
			v.AppendNull()
			continue
		}
		if escapes && bytes.IndexByte(field, '\\') >= 0 {
			field = r.unescape(field)
		}
		if err := types.AppendParsed(v, field, r.text); err != nil {
			return r.bad(b, sqlerr.From(err), c, field, line)
		}
	}
	if more {
		return r.bad(b, extra(), -1, nil, line)
	}
	b.Rows++
	return nil
}

// fieldEnd returns where the delimiter after the first field is, or -1.
func (r *Reader) fieldEnd(s []byte, escapes bool) int {
	k := bytes.IndexByte(s, r.opts.Delimiter)
	if !escapes || k < 0 || bytes.IndexByte(s[:k], '\\') < 0 {
		return k
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case r.opts.Delimiter:
			return i
		}
	}
	return -1
}

// unescape decodes backslash sequences into the reader's field buffer.
func (r *Reader) unescape(s []byte) []byte {
	out := r.field[:0]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == 'b':
			out = append(out, '\b')
		case c == 'f':
			out = append(out, '\f')
		case c == 'n':
			out = append(out, '\n')
		case c == 'r':
			out = append(out, '\r')
		case c == 't':
			out = append(out, '\t')
		case c == 'v':
			out = append(out, '\v')
		case c >= '0' && c <= '7':
			x, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				x, n = x*8+int(s[i+n]-'0'), n+1
			}
			out = append(out, byte(x))
			i += n - 1
		case c == 'x' && i+1 < len(s) && hexDigit(s[i+1]) >= 0:
			x, n := 0, 1
			for n < 3 && i+n < len(s) && hexDigit(s[i+n]) >= 0 {
				x, n = x*16+hexDigit(s[i+n]), n+1
			}
			out = append(out, byte(x))
			i += n - 1
		default:
			out = append(out, c)
		}
	}
	r.field = out
	return out
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
