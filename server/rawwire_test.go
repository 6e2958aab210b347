package server_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
)

// raw speaks the protocol byte by byte.
type raw struct {
	t   testing.TB
	net net.Conn
}

// startupMessage is a good one.
func startupMessage() []byte {
	body := binary.BigEndian.AppendUint32(nil, 196608)
	body = append(body, "user\x00tally\x00database\x00tally\x00\x00"...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

// newRaw connects and waits until the server is ready.
func newRaw(t testing.TB, addr string) *raw {
	t.Helper()
	r := &raw{t: t, net: dial(t, addr)}
	r.write(startupMessage())
	r.until('Z')
	return r
}

func (r *raw) write(b []byte) {
	r.t.Helper()
	if _, err := r.net.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

func message(kind byte, body []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))
	return append(out, body...)
}

func (r *raw) send(kind byte, body []byte) { r.write(message(kind, body)) }

func (r *raw) query(sql string) { r.send('Q', append([]byte(sql), 0)) }

// read returns the next message.
func (r *raw) read() (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.net, head[:]); err != nil {
		return 0, nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err := io.ReadFull(r.net, body)
	return head[0], body, err
}

// until reads to a message of a kind and returns the SQLSTATEs of errors before it.
func (r *raw) until(kind byte) []string {
	r.t.Helper()
	var states []string
	for {
		k, body, err := r.read()
		if err != nil {
			r.t.Fatalf("waiting for %q: %v; errors so far: %v", kind, err, states)
		}
		if k == 'E' {
			states = append(states, field(body, 'C'))
		}
		if k == kind {
			return states
		}
	}
}

// field returns a field of an ErrorResponse.
func field(body []byte, which byte) string {
	for _, f := range bytes.Split(body, []byte{0}) {
		if len(f) > 0 && f[0] == which {
			return string(f[1:])
		}
	}
	return ""
}

// closed reads to the end and returns the SQLSTATE of the last error.
func (r *raw) closed() string {
	r.t.Helper()
	last := ""
	for {
		k, body, err := r.read()
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				r.t.Fatal("the connection stays open")
			}
			return last
		}
		if k == 'E' {
			last = field(body, 'C')
		}
	}
}

// alive fails the test unless the server serves others.
func alive(t testing.TB, addr string) {
	t.Helper()
	c := newRaw(t, addr)
	c.query("SELECT 1")
	if states := c.until('Z'); len(states) > 0 {
		t.Fatal(states)
	}
}

func TestMessagesTooLong(t *testing.T) {
	addr := startServer(t)
	r := newRaw(t, addr)
	head := binary.BigEndian.AppendUint32([]byte{'Q'}, 20<<20+4)
	r.write(head)
	if state := r.closed(); state != "08P01" {
		t.Errorf("20 MiB: %q", state)
	}
	for name, b := range map[string][]byte{
		"1 GiB before startup":     {0x40, 0, 0, 0, 0, 3, 0, 0},
		"negative length":          {0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0},
		"short length":             {0, 0, 0, 2, 0, 3, 0, 0},
		"HTTP":                     []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"TLS without asking":       {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3},
		"unknown protocol version": {0, 0, 0, 8, 0, 99, 0, 0},
		"no terminator":            append(binary.BigEndian.AppendUint32(nil, 12), 0, 3, 0, 0, 'u', 's', 'e', 'r'),
		"no user":                  {0, 0, 0, 9, 0, 3, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := &raw{t: t, net: dial(t, addr)}
			c.write(b)
			if state := c.closed(); state != "08P01" && state != "28000" && state != "0A000" {
				t.Errorf("SQLSTATE %q", state)
			}
			alive(t, addr)
		})
	}
}

func TestNegotiation(t *testing.T) {
	addr := startServer(t)
	for name, request := range map[string]uint32{"SSL": 80877103, "GSSENC": 80877104} {
		c := &raw{t: t, net: dial(t, addr)}
		c.write(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, request))
		answer := make([]byte, 1)
		if _, err := io.ReadFull(c.net, answer); err != nil || answer[0] != 'N' {
			t.Fatal(name, answer, err)
		}
		c.write(startupMessage())
		c.until('Z')
	}
}

// TestBrokenSequences sends extended-protocol messages in orders that make no
// sense; each sequence ends with Sync and the connection goes on.
func TestBrokenSequences(t *testing.T) {
	addr := startServer(t)
	parse := func(name, sql string) []byte { return message('P', []byte(name+"\x00"+sql+"\x00\x00\x00")) }
	bind := func(portal, stmt string) []byte {
		return message('B', []byte(portal+"\x00"+stmt+"\x00\x00\x00\x00\x00\x00\x00"))
	}
	execute := func(portal string) []byte { return message('E', []byte(portal+"\x00\x00\x00\x00\x00")) }
	for name, x := range map[string]struct {
		state string
		steps [][]byte
	}{
		"execute unknown portal":     {"34000", [][]byte{execute("nosuch")}},
		"bind unknown statement":     {"26000", [][]byte{bind("", "nosuch")}},
		"describe unknown statement": {"26000", [][]byte{message('D', []byte("Snosuch\x00"))}},
		"describe unknown portal":    {"34000", [][]byte{message('D', []byte("Pnosuch\x00"))}},
		"syntax error skips":         {"42601", [][]byte{parse("", "SELEC"), bind("", ""), execute("")}},
		"parse twice":                {"42P05", [][]byte{parse("x", "SELECT 1"), parse("x", "SELECT 1")}},
		"bind twice":                 {"42P03", [][]byte{parse("", "SELECT 1"), bind("p", ""), bind("p", "")}},
		"execute after error":        {"22012", [][]byte{parse("", "SELECT 1/0"), bind("", ""), execute(""), execute("")}},
		"stray copy data":            {"", [][]byte{message('d', []byte("x")), message('c', nil)}},
		"close unknown":              {"", [][]byte{message('C', []byte("Snosuch\x00")), message('C', []byte("Pnosuch\x00"))}},
		"empty statement":            {"", [][]byte{parse("", ""), bind("", ""), execute("")}},
		"function call":              {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, addr)
			for _, s := range x.steps {
				r.write(s)
			}
			r.send('S', nil)
			if got := strings.Join(r.until('Z'), ","); got != x.state {
				t.Errorf("got %q, want %q", got, x.state)
			}
			r.query("SELECT 1")
			if states := r.until('Z'); len(states) > 0 {
				t.Error("afterwards:", states)
			}
		})
	}
}

// TestMalformedMessages: a message whose length is right and whose body is not is an
// error of the statement, as in PostgreSQL; the next message begins where it says.
func TestMalformedMessages(t *testing.T) {
	addr := startServer(t)
	for name, m := range map[string][]byte{
		"a query without its end":        message('Q', []byte("SELECT 1")),
		"an empty query message":         message('Q', nil),
		"a Parse without its end":        message('P', []byte("x\x00SELECT 1")),
		"a Parse that lacks parameters":  message('P', []byte("x\x00SELECT 1\x00\x00\x02\x00")),
		"a Bind that ends too early":     message('B', []byte("\x00\x00\x00\x00\x00\x07\x00\x00")),
		"a Bind of a value that is long": message('B', []byte("\x00\x00\x00\x00\x00\x01\x7f\xff\xff\xff\x00\x00")),
		"an Execute without a limit":     message('E', []byte("\x00")),
		"a Describe of nothing":          message('D', nil),
		"a Close of nothing":             message('C', nil),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, addr)
			r.query("BEGIN")
			r.until('Z')
			r.write(m)
			if m[0] != 'Q' {
				r.write(message('E', []byte("\x00\x00\x00\x00\x00"))) // is skipped
				r.send('S', nil)
			}
			if got := strings.Join(r.until('Z'), ","); got != "08P01" {
				t.Errorf("got %q", got)
			}
			r.query("SELECT 1") // the block has failed
			if got := strings.Join(r.until('Z'), ","); got != "25P02" {
				t.Errorf("afterwards %q", got)
			}
			r.query("ROLLBACK; SELECT 1")
			if states := r.until('Z'); len(states) > 0 {
				t.Error("in the end:", states)
			}
		})
	}
}

// TestRandomBytes sends garbage in the middle of a session: the connection may
// end, the server not.
func TestRandomBytes(t *testing.T) {
	addr := startServer(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r := newRaw(t, addr)
		b := make([]byte, 1+rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 {
			b = message("QPBEDCHSdcfFp?"[rng.IntN(14)], b)
		}
		_, _ = r.net.Write(b)
		if c, ok := r.net.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		r.closed()
	}
	alive(t, addr)
}

// TestClientThatNeverReads fills its receive buffer; others are served, and the
// server ends without it.
func TestClientThatNeverReads(t *testing.T) {
	addr := startServer(t)
	r := newRaw(t, addr)
	r.query("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)")
	alive(t, addr)
	r.net.Close()
}
