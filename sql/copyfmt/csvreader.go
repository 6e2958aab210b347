package copyfmt

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// csvRows parses rows of CSV.
func (r *Reader) csvRows(data []byte, b *types.Batch) ([]byte, error) {
	for len(data) > 0 {
		line, rest, ok := r.cut(data)
		if !ok {
			return data, nil
		}
		if bytes.IndexByte(line, r.opts.Quote) >= 0 {
			end := r.csvRowEnd(data)
			if end < 0 {
				return data, nil
			}
			line, rest = data[:end], data[end+1:]
			if n := len(line); n > 0 && line[n-1] == '\r' && (r.line == 0 || r.crlf) {
				line, r.crlf = line[:n-1], true
			}
		}
		lines := 1 + bytes.Count(line, []byte{'\n'})
		r.line++
		data = rest
		switch {
		case string(line) == `\.`:
			r.ended = true
			return nil, nil
		case r.header:
			if err := r.csvHeader(line); err != nil {
				return nil, err
			}
		default:
			if err := r.csvRow(line, b); err != nil {
				return nil, err
			}
		}
		r.line += lines - 1
	}
	return nil, nil
}

// csvRowEnd returns where the newline that ends the first row is: outside of
// quotes. -1 if it has not come yet.
func (r *Reader) csvRowEnd(data []byte) int {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == r.opts.Escape && r.opts.Escape != r.opts.Quote:
			i++
		case c == r.opts.Quote:
			quoted = !quoted
		case c == '\n' && !quoted:
			return i
		}
	}
	return -1
}

func (r *Reader) csvHeader(line []byte) error {
	var names [][]byte
	rest, more := line, true
	for more {
		field, after, _, m := r.csvField(rest)
		names = append(names, bytes.Clone(field))
		rest, more = after, m
	}
	return r.skipHeader(line, names)
}

func (r *Reader) csvRow(line []byte, b *types.Batch) error {
	rest, more := line, true
	for c := range r.columns {
		if !more {
			return r.bad(b, r.missing(c), -1, nil, line)
		}
		var field []byte
		var quoted bool
		field, rest, quoted, more = r.csvField(rest)
		v := b.Cols[c]
		if string(field) == r.opts.Null && (!quoted && !at(r.opts.ForceNotNull, c) || quoted && at(r.opts.ForceNull, c)) {
			v.AppendNull()
			continue
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

func at(flags []bool, i int) bool { return i < len(flags) && flags[i] }

// csvField returns the first field of a row, without quotes.
func (r *Reader) csvField(s []byte) (field, rest []byte, quoted, more bool) {
	k := bytes.IndexByte(s, r.opts.Delimiter)
	plain := s
	if k >= 0 {
		plain = s[:k]
	}
	if bytes.IndexByte(plain, r.opts.Quote) < 0 {
		if k < 0 {
			return s, nil, false, false
		}
		return plain, s[k+1:], false, true
	}
	out := r.field[:0]
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inside && c == r.opts.Escape && i+1 < len(s) && (s[i+1] == r.opts.Quote || s[i+1] == r.opts.Escape):
			i++
			out = append(out, s[i])
		case c == r.opts.Quote:
			inside, quoted = !inside, true
		case c == r.opts.Delimiter && !inside:
			r.field = out
			return out, s[i+1:], quoted, true
		default:
			out = append(out, c)
		}
	}
	r.field = out
	return out, nil, quoted, false
}
