package copyfmt

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// MaxLine bounds one row of text.
const MaxLine = 16 << 20

// BadRow is a row that could not be parsed.
type BadRow struct {
	Line int    // 1-based, of the input
	Raw  string // the row as it came, shortened
	Err  *sqlerr.Error
	// Reason is the error's message without the value, so that rows that are bad
	// for one reason can be counted together.
	Reason string
}

// Reader parses COPY data.
type Reader struct {
	table   string
	columns []types.Column
	opts    Options
	text    *types.TextOptions
	// OnBad decides about a row that cannot be parsed: the error it returns ends
	// the COPY, nil skips the row. A nil OnBad ends with the row's error.
	OnBad func(BadRow) error

	carry   []byte // the beginning of a row whose end has not come yet
	line    int    // lines begun
	header  bool   // still to come
	ended   bool   // \. was seen, or binary's trailer
	started bool   // binary: the file header was read
	crlf    bool
	field   []byte // an unescaped field
}

// NewReader returns a reader of rows of these columns for a relation named table.
func NewReader(table string, columns []types.Column, opts Options, text *types.TextOptions) *Reader {
	return &Reader{table: table, columns: columns, opts: opts, text: text, header: opts.Header}
}

// Feed parses the rows that end in data and appends them to b, whose columns are
// the reader's. data may change after it returns.
func (r *Reader) Feed(data []byte, b *types.Batch) error {
	if r.ended {
		return nil
	}
	if len(r.carry) > 0 {
		if len(r.carry)+len(data) > 2*MaxLine {
			return r.context(sqlerr.New(sqlerr.ProgramLimitExceeded, "COPY row exceeds %d bytes", MaxLine), -1, nil)
		}
		r.carry = append(r.carry, data...)
		data = r.carry
	}
	rest, err := r.rows(data, b)
	if err != nil {
		return err
	}
	if len(rest) > MaxLine {
		r.line++ // the row that has begun
		return r.context(sqlerr.New(sqlerr.ProgramLimitExceeded, "COPY row exceeds %d bytes", MaxLine), -1, nil)
	}
	r.carry = append(r.carry[:0], rest...) // rest may be the tail of carry itself
	return nil
}

// Finish parses the last row, which may lack its newline.
func (r *Reader) Finish(b *types.Batch) error {
	if r.opts.Format == Binary {
		return r.finishBinary()
	}
	if len(r.carry) == 0 || r.ended {
		return nil
	}
	last := append(r.carry, '\n')
	r.carry = nil
	rest, err := r.rows(last, b)
	if err == nil && len(rest) > 0 {
		r.line++ // the row that does not end
		err = r.context(sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field"), -1, rest[:len(rest)-1])
	}
	return err
}

// rows parses whole rows from the front of data and returns what is left.
func (r *Reader) rows(data []byte, b *types.Batch) ([]byte, error) {
	switch r.opts.Format {
	case Binary:
		return r.binaryRows(data, b)
	case CSV:
		return r.csvRows(data, b)
	default:
		return r.textRows(data, b)
	}
}

// cut returns the next line without its end, and the rest; ok is false if the
// end has not come yet.
func (r *Reader) cut(data []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		return nil, data, false
	}
	line, rest = data[:i], data[i+1:]
	if n := len(line); n > 0 && line[n-1] == '\r' && (r.line == 0 || r.crlf) {
		line, r.crlf = line[:n-1], true
	}
	return line, rest, true
}

// skipHeader takes a header line.
func (r *Reader) skipHeader(line []byte, names [][]byte) error {
	r.header = false
	if !r.opts.HeaderMatch {
		return nil
	}
	if len(names) != len(r.columns) {
		return r.context(sqlerr.New(sqlerr.BadCopyFileFormat, "wrong number of fields in header line: got %d, expected %d", len(names), len(r.columns)), -1, line)
	}
	for i, n := range names {
		if string(n) != r.columns[i].Name {
			return r.context(sqlerr.New(sqlerr.BadCopyFileFormat, "column name mismatch in header line field %d: got %q, expected %q", i+1, n, r.columns[i].Name), -1, line)
		}
	}
	return nil
}

// bad undoes a half-parsed row and asks what to do.
func (r *Reader) bad(b *types.Batch, err *sqlerr.Error, column int, field, raw []byte) error {
	for _, c := range b.Cols {
		if c.Len() > b.Rows {
			c.Truncate(b.Rows)
		}
	}
	if column < 0 {
		field = raw
	}
	if e := errors.Join(types.CheckUTF8(raw), types.CheckUTF8(field)); e != nil { // whatever the column
		err = sqlerr.From(e)
	}
	err = r.context(err, column, field)
	if r.OnBad == nil {
		return err
	}
	return r.OnBad(BadRow{Line: r.line, Raw: shorten(raw), Err: err, Reason: r.reason(err.Message, column, field)})
}

// reason takes the value out of a message, and says which column it was for.
func (r *Reader) reason(message string, column int, field []byte) string {
	if column < 0 {
		return message
	}
	for _, quoted := range []string{`: "`, ": 0x"} {
		message, _, _ = strings.Cut(message, quoted)
	}
	message = strings.ReplaceAll(message, ` "`+string(field)+`"`, "")
	return message + ` in column "` + r.columns[column].Name + `"`
}

// context says where an error is, as PostgreSQL does. Without a column, field is the
// line, or nil.
func (r *Reader) context(err *sqlerr.Error, column int, field []byte) *sqlerr.Error {
	switch {
	case column >= 0 && column < len(r.columns):
		return err.InContext("COPY %s, line %d, column %s: \"%s\"", r.table, r.line, r.columns[column].Name, shorten(field))
	case field != nil:
		return err.InContext("COPY %s, line %d: \"%s\"", r.table, r.line, shorten(field))
	default:
		return err.InContext("COPY %s, line %d", r.table, r.line)
	}
}

const shortBytes = 100

// shorten returns the beginning of a field or line as a message can show it:
// without what is not UTF-8, and without zero bytes, which would end the message.
func shorten(b []byte) string {
	end := ""
	if len(b) > shortBytes {
		b, end = b[:shortBytes], "..."
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "?"), "\x00", "?") + end
}

func (r *Reader) missing(column int) *sqlerr.Error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, "missing data for column %q", r.columns[column].Name)
}

func extra() *sqlerr.Error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column")
}
