package server_test

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/storage/vfs"
)

// query returns a simple query as bytes.
func query(sql string) []byte { return message('Q', append([]byte(sql), 0)) }

// FuzzCopy sends anything as the data of a COPY, in pieces, into a table and into
// a stream, in each format and with options.
func FuzzCopy(f *testing.F) {
	f.Add(byte(0), byte(3), []byte("1\ta\t1.5\t{1,2}\n2\t\\N\t\\N\t\\N\n\\.\n"))
	f.Add(byte(1), byte(200), []byte("1,\"a\"\"b\",1.5,\"{1,2}\"\n2,,,\n"))
	f.Add(byte(2), byte(9), []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add(byte(3), byte(1), []byte("a;b;c;d\n1;$x$;2;{}\n"))
	f.Add(byte(4), byte(50), []byte("1\ta\t1\t{}\nrubbish\n"))
	addr := startServerOn(f, "data", vfs.Memory())
	conn := connect(f, addr)
	mustExec(f, conn, "CREATE TABLE t (a int, b text, c numeric, d int[])")
	mustExec(f, conn, "CREATE STREAM s (a int, b text, c numeric, d int[]) WITH (partitions = 2, on_bad_row = 'reject')")
	options := []string{"", "(FORMAT csv)", "(FORMAT binary)", "(FORMAT csv, HEADER, DELIMITER ';', QUOTE '$', NULL 'x', FORCE_NULL (b))", "(HEADER match)"}
	f.Fuzz(func(t *testing.T, option, piece byte, data []byte) {
		b := startupMessage()
		for _, relation := range []string{"t", "s"} {
			b = append(b, query("COPY "+relation+" FROM STDIN "+options[int(option)%len(options)])...)
			for rest := data; len(rest) > 0; {
				n := min(len(rest), int(piece)+1)
				b = append(b, message('d', rest[:n])...)
				rest = rest[n:]
			}
			b = append(b, message('c', nil)...)
		}
		b = append(b, query("TRUNCATE t")...)
		drainAll(t, addr, append(b, message('X', nil)...))
	})
}

// parameterTypes are those whose binary forms FuzzBinaryParameters makes up.
var parameterTypes = []string{
	"bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "bpchar", `"char"`, "name", "bytea", "uuid", "date", "time",
	"timestamp", "timestamptz", "interval", "json", "jsonb", "oid", "regclass", "int2vector", "oidvector", "int4[]", "text[]", "numeric[]", "jsonb[]",
	"timestamptz[]", "interval[]", "sketch",
}

// FuzzBinaryParameters sends anything as the binary form of a parameter of each
// type, and has it sent back in text and in binary.
func FuzzBinaryParameters(f *testing.F) {
	f.Add(byte(0), []byte{1})
	f.Add(byte(6), []byte{0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0x13, 0x88})
	f.Add(byte(25), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
	f.Add(byte(25), []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 23})
	f.Add(byte(20), []byte("\x01{\"a\": [1, null]}"))
	addr := startServerOn(f, "data", vfs.Memory())
	f.Fuzz(func(t *testing.T, kind byte, value []byte) {
		b := startupMessage()
		name := parameterTypes[int(kind)%len(parameterTypes)]
		for _, format := range []byte{0, 1} {
			b = append(b, message('P', []byte("\x00SELECT $1::"+name+", $1::"+name+" IS NULL\x00\x00\x00"))...)
			bind := []byte{0, 0, 0, 1, 0, 1, 0, 1}
			bind = append(binary.BigEndian.AppendUint32(bind, uint32(len(value))), value...)
			b = append(b, message('B', append(bind, 0, 1, 0, format))...)
			b = append(b, message('D', []byte("P\x00"))...)
			b = append(b, message('E', []byte("\x00\x00\x00\x00\x00"))...)
			b = append(b, message('S', nil)...)
		}
		drainAll(t, addr, append(b, message('X', nil)...))
	})
}

// TestBadInputKeepsMemory: what a client sends wrong makes the server grow by less
// than 64 MiB.
func TestBadInputKeepsMemory(t *testing.T) {
	addr := startServer(t)
	conn := connect(t, addr)
	mustExec(t, conn, "CREATE TABLE t (a int, b text)")
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	hugeArray := append([]byte{0, 0, 0, 6}, make([]byte, 8)...)
	for range 6 {
		hugeArray = append(hugeArray, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1)
	}
	bind := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1, 0, 1, 0, 1}, uint32(len(hugeArray)))
	for name, b := range map[string][]byte{
		"a long name":            message('P', []byte(strings.Repeat("x", 1<<20)+"\x00SELECT 1\x00\x00\x00")),
		"an array of 2^31":       append(message('P', []byte("\x00SELECT $1::int[]\x00\x00\x00")), message('B', append(append(bind, hugeArray...), 0, 0))...),
		"65,535 formats":         message('B', []byte("\x00\x00\xff\xff")),
		"65,535 parameters":      message('B', []byte("\x00\x00\x00\x00\xff\xff")),
		"a message to come":      {'Q', 0, 0xff, 0xff, 0xff},
		"a row without an end":   append(query("COPY t FROM STDIN CSV"), message('d', []byte("1,\""+strings.Repeat("x", 4<<20)))...),
		"a copy that says huge":  append(query("COPY t FROM STDIN BINARY"), message('d', []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x7f\xff\xff\xff"))...),
		"numbers without end":    query("SELECT 1e" + strings.Repeat("9", 1<<16)),
		"repeat":                 query("SELECT repeat('x', 2000000000)"),
		"many statements":        query(strings.Repeat("SELECT 1;", 10_000)),
		"a deep message":         query("SELECT " + strings.Repeat("(", 1<<19)),
		"notifications":          query("LISTEN a; " + strings.Repeat("SELECT pg_notify('a', repeat('x', 7000));", 500)),
		"a wall of savepoints":   query("BEGIN;" + strings.Repeat("SAVEPOINT a;", 11_000)),
		"statements with a name": []byte(strings.Repeat(string(message('P', []byte("n\x00SELECT 1\x00\x00\x00")))+string(message('C', []byte("Sn\x00"))), 5000)),
	} {
		drainAll(t, addr, append(startupMessage(), b...))
		if after := heap(); after > before+64<<20 {
			t.Errorf("%s: the heap grew from %d to %d MiB", name, before>>20, after>>20)
		}
	}
	alive(t, addr)
}
