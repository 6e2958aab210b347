package pgwire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Sizes of a connection's buffers. An idle connection holds the small one only.
const (
	smallBuffer = 512
	largeBuffer = 64 << 10
	keptOutput  = 4 << 10 // of the output, between statements
)

var largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

// wire reads and writes the messages of one connection. It is used by one
// goroutine.
type wire struct {
	net net.Conn

	in     []byte             // unread bytes are in[r:w]
	large  *[largeBuffer]byte // behind in, if it is a large one
	small  [smallBuffer]byte  // behind in otherwise
	r, w   int
	kind   byte // of the message that body is of
	need   int  // bytes of its body; -1 before its header was read
	out    []byte
	broken error // of encoding

	messages // the last one of each kind
}

// messages are decoded into, so that receiving allocates little.
type messages struct {
	bind     pgproto3.Bind
	close    pgproto3.Close
	describe pgproto3.Describe
	execute  pgproto3.Execute
	copyData pgproto3.CopyData
	parse    pgproto3.Parse
	query    pgproto3.Query
}

func newWire(nc net.Conn) *wire {
	w := &wire{net: nc, need: -1}
	w.in = w.small[:]
	return w
}

// send adds a message to what flush writes.
func (w *wire) send(m pgproto3.BackendMessage) {
	out, err := m.Encode(w.out)
	if err != nil {
		w.broken = errors.Join(w.broken, fmt.Errorf("encode %T: %w", m, err))
		return
	}
	w.out = out
}

// flush writes what was sent.
func (w *wire) flush() error {
	if w.broken != nil {
		return w.broken
	}
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.net.Write(w.out)
	if cap(w.out) > keptOutput {
		w.out = nil
	} else {
		w.out = w.out[:0]
	}
	return err
}

// rest gives a large buffer back where nothing in it is unread, before a wait
// that may be long.
func (w *wire) rest() {
	if w.r == w.w {
		w.use(nil, w.small[:])
	}
}

// use makes buf the buffer, with what is unread.
func (w *wire) use(large *[largeBuffer]byte, buf []byte) {
	n := copy(buf, w.in[w.r:w.w])
	if w.large != nil {
		largeBuffers.Put(w.large)
	}
	w.in, w.large, w.r, w.w = buf, large, 0, n
}

// fill makes sure that n bytes are unread. What was read before an error stays,
// so that a wait that was interrupted can go on.
func (w *wire) fill(n int) error {
	for w.w-w.r < n {
		switch {
		case n > len(w.in) && n <= largeBuffer:
			b, _ := largeBuffers.Get().(*[largeBuffer]byte)
			w.use(b, b[:])
		case n > len(w.in):
			w.use(nil, make([]byte, n))
		case w.r > 0 && (w.r == w.w || len(w.in)-w.r < n):
			w.w = copy(w.in, w.in[w.r:w.w])
			w.r = 0
		}
		k, err := w.net.Read(w.in[w.w:])
		w.w += k
		if k == 0 && err != nil {
			return err
		}
		if w.w == len(w.in) && w.large == nil && len(w.in) == smallBuffer { // there is more
			b, _ := largeBuffers.Get().(*[largeBuffer]byte)
			w.use(b, b[:])
		}
	}
	return nil
}

// take returns the next n bytes, valid until the next fill.
func (w *wire) take(n int) []byte {
	b := w.in[w.r : w.r+n : w.r+n]
	w.r += n
	return b
}

// errTooLong is a message over the limit.
type errTooLong struct{ length, limit int }

func (e errTooLong) Error() string {
	return fmt.Sprintf("message of %d bytes exceeds the limit of %d", e.length, e.limit)
}

// errMalformed is a message whose body is not what its kind has. The next message
// begins where its length says.
type errMalformed struct {
	kind byte
	err  *sqlerr.Error
}

func (e errMalformed) Error() string { return e.err.Error() }

func (e errMalformed) Unwrap() error { return e.err }

// next returns a message's kind and body, which is valid until the next call.
func (w *wire) next(limit int) (byte, []byte, error) {
	if w.need < 0 {
		if err := w.fill(5); err != nil {
			if w.r < w.w && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
		head := w.take(5)
		length := int64(binary.BigEndian.Uint32(head[1:])) - 4
		switch {
		case length < 0 || length > 1<<31-1:
			return 0, nil, fmt.Errorf("invalid message length: %d", int32(length+4))
		case length > int64(limit):
			return 0, nil, errTooLong{int(length), limit}
		}
		w.kind, w.need = head[0], int(length)
	}
	if err := w.fill(w.need); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	body := w.take(w.need)
	w.need = -1
	return w.kind, body, nil
}

// startup returns the body of a message without a kind, such as a connection's
// first.
func (w *wire) startup() ([]byte, error) {
	if err := w.fill(4); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(w.take(4))) - 4
	if length < 4 || length > MaxStartupBody {
		return nil, fmt.Errorf("invalid length of startup packet: %d", length)
	}
	if err := w.fill(int(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return w.take(int(length)), nil
}

// receive returns the next message, valid until the next call.
func (w *wire) receive() (pgproto3.FrontendMessage, error) {
	kind, body, err := w.next(MaxBody)
	if err != nil {
		return nil, err
	}
	var m pgproto3.FrontendMessage
	switch kind {
	case 'B':
		m = &w.bind
	case 'C':
		m = &w.close
	case 'D':
		m = &w.describe
	case 'E':
		m = &w.execute
	case 'F':
		m = &pgproto3.FunctionCall{}
	case 'H':
		m = &pgproto3.Flush{}
	case 'P':
		m = &w.parse
	case 'Q':
		m = &w.query
	case 'S':
		m = &pgproto3.Sync{}
	case 'X':
		m = &pgproto3.Terminate{}
	case 'c':
		m = &pgproto3.CopyDone{}
	case 'd':
		m = &w.copyData
	case 'f':
		m = &pgproto3.CopyFail{}
	default:
		return nil, fmt.Errorf("unknown message type: %q", kind)
	}
	if err := m.Decode(body); err != nil {
		return nil, errMalformed{kind, sqlerr.New(sqlerr.ProtocolViolation, "invalid message format: %w", err)}
	}
	return m, nil
}
