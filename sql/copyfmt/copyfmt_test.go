package copyfmt

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var columns = []types.Column{
	{Name: "n", Type: types.Of(types.Int8)}, {Name: "s", Type: types.Of(types.Text)}, {Name: "f", Type: types.Of(types.Float8)},
}

func newBatch() *types.Batch { return types.NewBatch(&types.Schema{Columns: columns}, 0) }

// show renders a batch: NULL apart from the text NULL.
func show(b *types.Batch) string {
	var out strings.Builder
	for i := range b.Rows {
		for c, v := range b.Cols {
			if c > 0 {
				out.WriteString(" | ")
			}
			if v.IsNull(i) {
				out.WriteString("NULL")
				continue
			}
			fmt.Fprintf(&out, "%q", types.AppendText(nil, v, i, &types.TextOptions{}))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// parse feeds data in pieces of this size.
func parse(data string, opts Options, piece int) (*types.Batch, error) {
	b := newBatch()
	r := NewReader("t", columns, opts, &types.TextOptions{})
	for len(data) > 0 {
		n := min(piece, len(data))
		if err := r.Feed([]byte(data[:n]), b); err != nil {
			return b, err
		}
		data = data[n:]
	}
	return b, r.Finish(b)
}

func TestReaderOnPieces(t *testing.T) {
	csv, header := Defaults(CSV), Defaults(CSV)
	header.Header = true
	text := Defaults(Text)
	for _, c := range []struct {
		name, in, want string
		opts           Options
	}{
		{"text", "1\ta\t2.5\n2\t\\N\t\\N\n", "\"1\" | \"a\" | \"2.5\"\n\"2\" | NULL | NULL\n", text},
		{"escapes", "1\ta\\tb\\\\\\x41\\101\t1\n", "\"1\" | \"a\\tb\\\\AA\" | \"1\"\n", text},
		{"escaped newline", "1\ta\\\nb\t1\n", "\"1\" | \"a\\nb\" | \"1\"\n", text},
		{"end marker", "1\ta\t1\n\\.\nrubbish", "\"1\" | \"a\" | \"1\"\n", text},
		{"no final newline", "1\ta\t1", "\"1\" | \"a\" | \"1\"\n", text},
		{"carriage returns", "1\ta\t1\r\n2\tb\t2\r\n", "\"1\" | \"a\" | \"1\"\n\"2\" | \"b\" | \"2\"\n", text},
		{"csv", "1,\"a,\"\"b\"\"\nc\",2\n3,,\n4,\"\",1\n", "\"1\" | \"a,\\\"b\\\"\\nc\" | \"2\"\n\"3\" | NULL | NULL\n\"4\" | \"\" | \"1\"\n", csv},
		{"csv header", "n,s,f\n1,a,2\n", "\"1\" | \"a\" | \"2\"\n", header},
	} {
		for piece := 1; piece <= len(c.in); piece++ {
			b, err := parse(c.in, c.opts, piece)
			if err != nil || show(b) != c.want {
				t.Fatalf("%s in pieces of %d: %v\ngot\n%swant\n%s", c.name, piece, err, show(b), c.want)
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	match := Defaults(CSV)
	match.Header, match.HeaderMatch = true, true
	for _, c := range []struct {
		in, code, context string
		opts              Options
	}{
		{"1\ta\t1\nx\tb\t2\n", "22P02", `COPY t, line 2, column n: "x"`, Defaults(Text)},
		{"1\ta\n", "22P04", "COPY t, line 1: \"1\ta\"", Defaults(Text)},
		{"1\ta\t1\t1\n", "22P04", "COPY t, line 1: \"1\ta\t1\t1\"", Defaults(Text)},
		{"1,\"a\n", "22P04", "COPY t, line 1: \"1,\"a\n\"", Defaults(CSV)},
		{"1\t\xff\t1\n", "22021", `COPY t, line 1, column s: "?"`, Defaults(Text)},
		{"n,t,f\n", "22P04", "COPY t, line 1: \"n,t,f\"", match},
		{"PGCOPX\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00", "22P04", "", Defaults(Binary)},
	} {
		_, err := parse(c.in, c.opts, 1000)
		e := sqlerr.From(err)
		if string(e.Code) != c.code || e.Context != c.context {
			t.Errorf("%q: %s, context %q; want %s, %q", c.in, e.Code, e.Context, c.code, c.context)
		}
	}
}

// TestRoundTrip: what a Writer writes, a Reader reads, in every format.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBatch()
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			b.Cols[0].AppendInt(rapid.Int64().Draw(t, "n"))
			if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
				b.Cols[1].AppendNull()
			} else {
				b.Cols[1].AppendString(strings.ReplaceAll(rapid.String().Draw(t, "s"), "\x00", ""))
			}
			b.Cols[2].AppendFloat(rapid.Float64Range(-1e300, 1e300).Draw(t, "f"))
			b.Rows++
		}
		opts := Defaults(rapid.SampledFrom([]Format{Text, CSV, Binary}).Draw(t, "format"))
		if opts.Format != Binary {
			opts.Header = rapid.Bool().Draw(t, "header")
		}
		w := NewWriter(columns, opts, &types.TextOptions{})
		data := w.AppendHeader(nil)
		for i := range b.Rows {
			data = w.AppendRow(data, b, i)
		}
		data = w.AppendTrailer(data)
		got, err := parse(string(data), opts, rapid.IntRange(1, 1000).Draw(t, "piece"))
		if err != nil || show(got) != show(b) {
			t.Fatalf("%v\n%q\ngot\n%swant\n%s", err, data, show(got), show(b))
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("1\ta\\tb\t2\n"), uint8(0))
	f.Add([]byte("1,\"a\"\"b\",2\n"), uint8(1))
	f.Add([]byte(signature+"\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, format uint8) {
		b, err := parse(string(data), Defaults(Format(format%3)), 7)
		for _, c := range b.Cols {
			if err == nil && c.Len() != b.Rows {
				t.Errorf("column of %d values, %d rows", c.Len(), b.Rows)
			}
		}
	})
}

func BenchmarkTextRows(b *testing.B) {
	row := "1234567\tsensor-000123\tuser-0001234\t123.456\t2026-01-01 00:01:02.345678+00\n"
	cols := []types.Column{
		{Name: "id", Type: types.Of(types.Int8)},
		{Name: "k", Type: types.Of(types.Text)},
		{Name: "u", Type: types.Of(types.Text)},
		{Name: "v", Type: types.Of(types.Float8)},
		{Name: "t", Type: types.Of(types.Timestamptz)},
	}
	data := []byte(strings.Repeat(row, 1000))
	batch := types.NewBatch(&types.Schema{Columns: cols}, 1000)
	r := NewReader("t", cols, Defaults(Text), &types.TextOptions{})
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		if err := r.Feed(data, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
