package server_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/tallydb/tallydb/storage/vfs"
)

// drainAll sends b and reads until the server closes the connection, which it
// must do once the client has closed its side.
func drainAll(t *testing.T, addr string, b []byte) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// As long as the test may run: how long a message takes depends on who else runs.
	deadline, ok := t.Deadline()
	if !ok {
		deadline = time.Now().Add(patience)
	}
	if err := c.SetDeadline(deadline.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write(b) // the server may have closed already
	_ = c.(*net.TCPConn).CloseWrite()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(c, 1<<20)); err != nil {
		var timeout net.Error
		if ok := asTimeout(err, &timeout); ok {
			t.Fatalf("the server hangs on %q", b)
		}
	}
	if bytes.Contains(out.Bytes(), []byte("This is a defect of TallyDB")) {
		t.Fatalf("%q: %q", b, out.Bytes())
	}
}

func asTimeout(err error, into *net.Error) bool {
	n, ok := err.(net.Error) //nolint:errorlint // net errors come bare from a connection
	if ok {
		*into = n
	}
	return ok && n.Timeout()
}

// FuzzStartup sends anything to a new connection.
func FuzzStartup(f *testing.F) {
	f.Add(startupMessage())
	f.Add(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, 80877103))
	f.Add(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, 80877102))
	f.Add([]byte{0x40, 0, 0, 0, 0, 3, 0, 0})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	addr := startServerOn(f, "data", vfs.Memory())
	f.Fuzz(func(t *testing.T, b []byte) { drainAll(t, addr, b) })
}

// fuzzMessages are what FuzzExtended combines.
var fuzzMessages = [][]byte{
	message('P', []byte("\x00SELECT $1::int + 1\x00\x00\x00")),
	message('P', []byte("a\x00SELECT x FROM generate_series(1, 5) x\x00\x00\x00")),
	message('P', []byte("b\x00INSERT INTO nosuch VALUES (1)\x00\x00\x00")),
	message('P', []byte("c\x00COPY nosuch FROM STDIN\x00\x00\x00")),
	message('P', []byte("d\x00BEGIN\x00\x00\x00")),
	message('B', []byte("\x00\x00\x00\x00\x00\x01\x00\x00\x00\x011\x00\x00")),
	message('B', []byte("p\x00a\x00\x00\x00\x00\x00\x00\x00")),
	message('B', []byte("p\x00d\x00\x00\x00\x00\x00\x00\x00")),
	message('D', []byte("P\x00")), message('D', []byte("Sa\x00")), message('D', []byte("Pp\x00")), message('D', []byte("X\x00")),
	message('E', []byte("\x00\x00\x00\x00\x00")), message('E', []byte("p\x00\x00\x00\x00\x02")),
	message('C', []byte("Sa\x00")), message('C', []byte("Pp\x00")), message('C', []byte("?")),
	message('S', nil), message('H', nil), message('Q', []byte("SELECT 1; SELECT 1/0\x00")), message('Q', []byte("ROLLBACK\x00")),
	message('Q', []byte("BEGIN; DECLARE p CURSOR FOR SELECT 1; FETCH p\x00")), message('Q', []byte("\x00")),
	message('Q', []byte("SAVEPOINT a\x00")), message('Q', []byte("ROLLBACK TO a; RELEASE a\x00")), message('Q', []byte("LISTEN c; NOTIFY c, 'x'\x00")),
	message('Q', []byte("DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT x FROM generate_series(1, 3) x; MOVE LAST h; FETCH BACKWARD ALL h\x00")),
	message('P', []byte("\x00FETCH 1 FROM h\x00\x00\x00")), message('Q', []byte("DISCARD ALL\x00")), message('Q', []byte("COPY (SELECT 1) TO STDOUT BINARY\x00")),
	message('d', []byte("1\n")), message('c', nil), message('f', []byte("no\x00")), message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}),
}

// FuzzExtended sends messages in any order; a byte of the input picks each, and
// 0xff puts the next bytes in between as they are.
func FuzzExtended(f *testing.F) {
	f.Add([]byte{0, 5, 8, 12, 17})
	f.Add([]byte{1, 6, 10, 13, 13, 13, 13, 17})
	f.Add([]byte{4, 7, 13, 17, 3, 17, 20})
	f.Add([]byte{21, 13, 17, 0xff, 'Q', 0, 0, 0, 4})
	addr := startServerOn(f, "data", vfs.Memory())
	f.Fuzz(func(t *testing.T, picks []byte) {
		b := startupMessage()
		for i := 0; i < len(picks) && i < 200; i++ {
			if picks[i] == 0xff {
				b = append(b, picks[i+1:min(i+6, len(picks))]...)
				i += 5
				continue
			}
			b = append(b, fuzzMessages[int(picks[i])%len(fuzzMessages)]...)
		}
		drainAll(t, addr, b)
	})
}

// TestSuspendedPortal executes a portal with a limit of rows, again and again.
func TestSuspendedPortal(t *testing.T) {
	r := newRaw(t, startServer(t))
	r.write(message('P', []byte("\x00SELECT x FROM generate_series(1, 5) x\x00\x00\x00")))
	r.write(message('B', []byte("p\x00\x00\x00\x00\x00\x00\x00\x00")))
	for range 3 {
		r.write(message('E', []byte("p\x00\x00\x00\x00\x02")))
	}
	r.send('S', nil)
	kinds := ""
	for {
		k, _, err := r.read()
		if err != nil {
			t.Fatal(err)
		}
		kinds += string(k)
		if k == 'Z' {
			break
		}
	}
	if kinds != "12DDsDDsDCZ" { // s: suspended; the last execution ends with C
		t.Error(kinds)
	}
}
