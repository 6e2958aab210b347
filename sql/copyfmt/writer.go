package copyfmt

import (
	"bytes"
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/types"
)

// Writer formats rows for COPY TO.
type Writer struct {
	columns []types.Column
	opts    Options
	text    *types.TextOptions
	value   []byte
}

// NewWriter returns a writer of rows of these columns.
func NewWriter(columns []types.Column, opts Options, text *types.TextOptions) *Writer {
	return &Writer{columns: columns, opts: opts, text: text}
}

// AppendHeader appends what comes before the rows.
func (w *Writer) AppendHeader(dst []byte) []byte {
	if w.opts.Format == Binary {
		return append(append(dst, signature...), 0, 0, 0, 0, 0, 0, 0, 0)
	}
	if !w.opts.Header {
		return dst
	}
	for i, c := range w.columns {
		if i > 0 {
			dst = append(dst, w.opts.Delimiter)
		}
		if w.opts.Format == CSV {
			dst = w.appendCSV(dst, []byte(c.Name), false)
		} else {
			dst = w.appendEscaped(dst, []byte(c.Name))
		}
	}
	return append(dst, '\n')
}

// AppendRow appends row i of a batch.
func (w *Writer) AppendRow(dst []byte, b *types.Batch, i int) []byte {
	if w.opts.Format == Binary {
		return w.appendBinary(dst, b, i)
	}
	for c := range w.columns {
		if c > 0 {
			dst = append(dst, w.opts.Delimiter)
		}
		v := b.Cols[c]
		if v.IsNull(i) {
			dst = append(dst, w.opts.Null...)
			continue
		}
		w.value = types.AppendText(w.value[:0], v, i, w.text)
		if w.opts.Format == CSV {
			dst = w.appendCSV(dst, w.value, at(w.opts.ForceQuote, c))
		} else {
			dst = w.appendEscaped(dst, w.value)
		}
	}
	return append(dst, '\n')
}

func (w *Writer) appendBinary(dst []byte, b *types.Batch, i int) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(w.columns)))
	for c := range w.columns {
		v := b.Cols[c]
		if v.IsNull(i) {
			dst = append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
			continue
		}
		w.value = types.AppendBinary(w.value[:0], v, i, w.text)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(w.value)))
		dst = append(dst, w.value...)
	}
	return dst
}

// AppendTrailer appends what comes after the rows.
func (w *Writer) AppendTrailer(dst []byte) []byte {
	if w.opts.Format == Binary {
		return append(dst, 0xFF, 0xFF)
	}
	return dst
}

func (w *Writer) appendEscaped(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\v':
			dst = append(dst, `\v`...)
		case c == '\\' || c == w.opts.Delimiter:
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func (w *Writer) appendCSV(dst, s []byte, force bool) []byte {
	quote := force || string(s) == w.opts.Null || string(s) == `\.` ||
		bytes.ContainsAny(s, "\r\n") || bytes.IndexByte(s, w.opts.Delimiter) >= 0 || bytes.IndexByte(s, w.opts.Quote) >= 0
	if !quote {
		return append(dst, s...)
	}
	dst = append(dst, w.opts.Quote)
	for _, c := range s {
		if c == w.opts.Quote || c == w.opts.Escape {
			dst = append(dst, w.opts.Escape)
		}
		dst = append(dst, c)
	}
	return append(dst, w.opts.Quote)
}
