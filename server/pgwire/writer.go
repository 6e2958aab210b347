package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// flushBytes is how much is collected before it is sent.
const flushBytes = 64 << 10

// Writer sends the parts of a statement's result. After an error of one of its
// methods the connection is gone.
type Writer struct {
	c       *conn
	columns []Column
	opts    *types.TextOptions
	rows    *encodedRows // collected and not sent; nil if none
	sent    int64
	// Silent, if set, says which severities of Notice the client does not want.
	Silent func(severity string) bool
}

// encodedRows is a run of DataRow or CopyData messages, already encoded.
type encodedRows struct{ buf []byte }

// Backend implements pgproto3.BackendMessage.
func (*encodedRows) Backend() {}

// Decode implements pgproto3.Message; nobody decodes what the server sends.
func (*encodedRows) Decode([]byte) error { return errors.New("encoded rows are only sent") }

// Encode implements pgproto3.Message.
func (e *encodedRows) Encode(dst []byte) ([]byte, error) { return append(dst, e.buf...), nil }

// Columns begins a result with a RowDescription. In the extended protocol the
// client asked for it by Describe; call Begin instead.
func (w *Writer) Columns(cols []Column, opts *types.TextOptions) error {
	w.Begin(cols, opts)
	w.c.send(rowDescription(cols))
	return nil
}

// Begin begins a result whose columns the client knows.
func (w *Writer) Begin(cols []Column, opts *types.TextOptions) { w.columns, w.opts = cols, opts }

func rowDescription(cols []Column) *pgproto3.RowDescription {
	d := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(cols))}
	for i, c := range cols {
		d.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(c.Name), TableOID: c.Table, TableAttributeNumber: uint16(c.Number), DataTypeOID: uint32(c.Type.OID),
			DataTypeSize: typeLength(c.Type.OID), TypeModifier: c.Type.Modifier(), Format: int16(c.Format),
		}
	}
	return d
}

func typeLength(o types.OID) int16 {
	if info, ok := types.Lookup(o); ok {
		return info.Len
	}
	return -1
}

// Rows sends rows [from, to) of a batch.
func (w *Writer) Rows(b *types.Batch, from, to int) error {
	for i := from; i < to; i++ {
		w.appendRow(b, i)
		if len(w.rows.buf) >= flushBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	w.sent += int64(to - from)
	return nil
}

// rowBuffers are buffers for rows on their way, of which a connection that waits
// for its client needs none.
var rowBuffers = sync.Pool{New: func() any { return &encodedRows{make([]byte, 0, flushBytes+flushBytes/4)} }}

// buffer returns the rows collected so far, in a buffer with room for more.
func (w *Writer) buffer() []byte {
	if w.rows == nil {
		w.rows = rowBuffers.Get().(*encodedRows)
	}
	return w.rows.buf
}

func (w *Writer) appendRow(b *types.Batch, i int) {
	buf := append(w.buffer(), 'D', 0, 0, 0, 0)
	start := len(buf) - 4
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(w.columns)))
	for c := range w.columns {
		v := b.Cols[c]
		if v.IsNull(i) {
			buf = append(buf, 0xFF, 0xFF, 0xFF, 0xFF)
			continue
		}
		at := len(buf)
		buf = append(buf, 0, 0, 0, 0)
		if w.columns[c].Format == BinaryFormat {
			buf = types.AppendBinary(buf, v, i, w.opts)
		} else {
			buf = types.AppendText(buf, v, i, w.opts)
		}
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	}
	binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start))
	w.rows.buf = buf
}

// flush hands the collected rows to the connection and sends them.
func (w *Writer) flush() error {
	w.hand()
	return w.c.flush()
}

// hand keeps the order between rows and other messages.
func (w *Writer) hand() {
	if w.rows == nil {
		return
	}
	w.c.send(w.rows)
	if cap(w.rows.buf) <= 2*flushBytes { // one with a huge row is not kept
		w.rows.buf = w.rows.buf[:0]
		rowBuffers.Put(w.rows)
	}
	w.rows = nil
}

// Complete ends a statement: "SELECT 3".
func (w *Writer) Complete(tag string) error {
	w.hand()
	w.c.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// Suspended ends an Execute whose portal has more rows.
func (w *Writer) Suspended() error {
	w.hand()
	w.c.send(&pgproto3.PortalSuspended{})
	return nil
}

// Empty ends a query string without a statement.
func (w *Writer) Empty() error {
	w.c.send(&pgproto3.EmptyQueryResponse{})
	return nil
}

// Notice sends a message of this severity (NOTICE, WARNING, INFO) at once.
func (w *Writer) Notice(severity string, e *sqlerr.Error) error {
	if w.Silent != nil && w.Silent(severity) {
		return nil
	}
	w.hand()
	m := pgproto3.NoticeResponse(*errorResponse(e))
	m.Severity, m.SeverityUnlocalized = severity, severity
	w.c.send(&m)
	return w.c.flush()
}

// Parameter reports a changed setting.
func (w *Writer) Parameter(name, value string) {
	w.c.send(&pgproto3.ParameterStatus{Name: name, Value: value})
}

// CopyOut begins a COPY TO STDOUT.
func (w *Writer) CopyOut(columns int, f Format) error {
	w.c.send(&pgproto3.CopyOutResponse{OverallFormat: byte(f), ColumnFormatCodes: make([]uint16, columns)})
	return nil
}

// CopyData sends a piece of a COPY TO STDOUT.
func (w *Writer) CopyData(b []byte) error {
	buf := append(w.buffer(), 'd', 0, 0, 0, 0)
	binary.BigEndian.PutUint32(buf[len(buf)-4:], uint32(4+len(b)))
	w.rows.buf = append(buf, b...)
	if len(w.rows.buf) >= flushBytes {
		return w.flush()
	}
	return nil
}

// CopyDone ends a COPY TO STDOUT.
func (w *Writer) CopyDone() error {
	w.hand()
	w.c.send(&pgproto3.CopyDone{})
	return nil
}

// CopyIn begins a COPY FROM STDIN and returns where its data comes from.
func (w *Writer) CopyIn(columns int, f Format) (*CopySource, error) {
	w.c.send(&pgproto3.CopyInResponse{OverallFormat: byte(f), ColumnFormatCodes: make([]uint16, columns)})
	if err := w.c.flush(); err != nil {
		return nil, err
	}
	w.c.copying = true
	return &CopySource{c: w.c}, nil
}

// CopySource is the data of a COPY FROM STDIN.
type CopySource struct {
	c    *conn
	done bool
}

// Next returns the next piece, valid until the next call, and io.EOF at the end.
// A client's CopyFail is 57014.
func (s *CopySource) Next() ([]byte, error) {
	if s.done {
		return nil, io.EOF
	}
	for {
		msg, err := s.c.receive()
		if errors.Is(err, io.EOF) { // a client that leaves has not said that the data is complete
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			s.end()
			return nil, err
		}
		switch m := msg.(type) {
		case *pgproto3.CopyData:
			return m.Data, nil
		case *pgproto3.CopyDone:
			s.end()
			return nil, io.EOF
		case *pgproto3.CopyFail:
			s.end()
			return nil, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", m.Message)
		case *pgproto3.Flush, *pgproto3.Sync: // allowed, and without effect
		default:
			s.end()
			return nil, errClosing{sqlerr.New(sqlerr.ProtocolViolation, "unexpected message %s during COPY from stdin", messageName(msg))}
		}
	}
}

func (s *CopySource) end() {
	s.done = true
	s.c.copying = false
}
