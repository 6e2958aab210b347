package image

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

var schema = &types.Schema{Columns: []types.Column{
	{Name: "n", Type: types.Of(types.Int8)}, {Name: "few", Type: types.Of(types.Text)}, {Name: "many", Type: types.Of(types.Text)},
}}

// log is records of so many rows; the rows number themselves.
type log struct {
	sizes []int64
	mu    sync.Mutex
	read  int // records decoded
}

func (l *log) rows(at id.Offset) int64 { return l.sizes[at] }

func (l *log) before(at id.Offset) (n int64) {
	for _, s := range l.sizes[:at] {
		n += s
	}
	return n
}

func text(n, c int64) string {
	if c == 1 {
		return fmt.Sprint("value ", n%7)
	}
	return fmt.Sprint("text ", n)
}

func (l *log) decode(_ context.Context, from, to id.Offset, into *types.Batch, end func()) error {
	n := l.before(from)
	for at := from; at < to; at++ {
		for range l.sizes[at] {
			for c, v := range into.Cols {
				switch {
				case v == nil:
				case n%11 == 3:
					v.AppendNull()
				case c == 0:
					v.AppendInt(n)
				default:
					v.AppendString(text(n, int64(c)))
				}
			}
			into.Rows++
			n++
		}
		end()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read += int(to - from)
	return nil
}

// check reads [from, to) and compares every value.
func check(t rapid.TB, l *log, p *Partition, columns []int, from, to id.Offset) {
	scan := p.Scan(columns, l.decode)
	n := l.before(from)
	for _, span := range scan.Spans(from, to, l.rows) {
		if span.From != from {
			t.Errorf("a span from %d, want %d", span.From, from)
		}
		from = span.To
		b, err := scan.Batch(context.Background(), span)
		if err != nil {
			t.Error(err)
			return
		}
		for i := range b.Rows {
			for k, c := range columns {
				d := b.Cols[k].Datum(i)
				switch {
				case d.Null != (n%11 == 3):
					t.Errorf("row %d: NULL is %v", n, d.Null)
				case d.Null:
				case c == 0 && d.Int != n, c > 0 && string(d.Bytes) != text(n, int64(c)):
					t.Errorf("row %d, column %d: %v", n, c, d)
				}
			}
			n++
		}
	}
	if from != to || n != l.before(to) {
		t.Errorf("read up to %d and row %d, want %d and %d", from, n, to, l.before(to))
	}
}

func sum(c *Cache) (bytes int64) {
	for u := range c.units {
		for _, b := range u.partition.blocks {
			if v := b.cols[u.column]; v != nil {
				bytes += int64(v.MemoryBytes())
			}
		}
	}
	return bytes
}

// TestScansReadTheLog: whatever was read before, up to which record, of which columns,
// with little or much memory, while the log grows and is trimmed.
func TestScansReadTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cache := NewCache(rapid.SampledFrom([]int64{0, 100_000, 400_000, 1 << 30}).Draw(t, "limit"))
		stream := cache.NewStream(schema)
		logs, images, base := []*log{{}, {}}, []*Partition{stream.NewPartition(), stream.NewPartition()}, []id.Offset{0, 0}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			p := rapid.IntRange(0, 1).Draw(t, "partition")
			l := logs[p]
			head := id.Offset(len(l.sizes))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				size := rapid.SampledFrom([]int64{0, 1, 700, 5000}).Draw(t, "size")
				for range rapid.IntRange(1, 8).Draw(t, "records") {
					l.sizes = append(l.sizes, size)
				}
			case 1:
				base[p] = id.Offset(rapid.Uint64Range(uint64(base[p]), uint64(head)).Draw(t, "trim"))
			default:
				columns := rapid.Permutation([]int{0, 1, 2}).Draw(t, "columns")[:rapid.IntRange(0, 3).Draw(t, "width")]
				to := id.Offset(rapid.Uint64Range(uint64(base[p]), uint64(head)).Draw(t, "to"))
				check(t, l, images[p], columns, base[p], to)
			}
			dicts := stream.dicts[1].charged + stream.dicts[2].charged
			if held := cache.Bytes(); held != sum(cache)+dicts || held-dicts > max(cache.limit, 0) {
				t.Fatalf("%d bytes are counted of %d and %d, limit %d", held, sum(cache), dicts, cache.limit)
			}
		}
		stream.Close()
		if cache.Bytes() != 0 {
			t.Fatalf("%d bytes are left", cache.Bytes())
		}
	})
}

// TestASecondScanDecodesNothing, but what came since, and columns that nobody asked for.
func TestASecondScanDecodesNothing(t *testing.T) {
	l := &log{sizes: slices.Repeat([]int64{5000}, 30)}
	p := NewCache(1 << 30).NewStream(schema).NewPartition()
	for _, c := range []struct {
		columns []int
		want    int
	}{{[]int{0, 1}, 30}, {[]int{1, 0}, 0}, {nil, 0}, {[]int{2, 1}, 30}, {[]int{2}, 13}, {[]int{0, 1, 2}, 0}} { // 13 blocks had a dictionary of the last column

		l.read = 0
		if check(t, l, p, c.columns, 0, 30); l.read != c.want {
			t.Errorf("columns %v: %d records were decoded, want %d", c.columns, l.read, c.want)
		}
	}
	if p.blocks[3].cols[1].Dict == nil || p.blocks[29].cols[2].Dict != nil {
		t.Error("dictionaries are for few values")
	}
}

// TestALongScanKeepsWhatFits: it does not drop what it has just kept.
func TestALongScanKeepsWhatFits(t *testing.T) {
	l := &log{sizes: slices.Repeat([]int64{4096}, 40)}
	p := NewCache(20 * 8 * 4096 * 9 / 8).NewStream(schema).NewPartition()
	check(t, l, p, []int{0}, 0, 40)
	l.read = 0
	if check(t, l, p, []int{0}, 0, 40); l.read < 10 || l.read > 30 {
		t.Errorf("%d of 40 records were decoded again", l.read)
	}
}

// TestScansBesideEachOther is for the race detector.
func TestScansBesideEachOther(t *testing.T) {
	l := &log{sizes: slices.Repeat([]int64{900}, 60)}
	stream := NewCache(600_000).NewStream(schema)
	p := stream.NewPartition()
	var running sync.WaitGroup
	for i := range 6 {
		running.Go(func() {
			for k := range 5 {
				check(t, l, p, []int{(i + k) % 3, 1 + i%2}[:1+k%2], id.Offset(k), id.Offset(60-i))
			}
		})
	}
	running.Wait()
	stream.Close()
}
