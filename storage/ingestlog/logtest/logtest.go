// Package logtest is the conformance suite of ingestlog: every driver passes it.
package logtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// Partition returns partition n of a stream for tests.
func Partition(n int) id.StreamPartition {
	return id.StreamPartition{Tenant: 1, Stream: 20_000, Partition: id.Partition(n)}
}

// Entry returns a data record with this payload for partition n.
func Entry(n int, payload string) ingestlog.Entry {
	return ingestlog.Entry{Partition: Partition(n), Record: ingestlog.Record{Kind: ingestlog.Data, Rows: 1, Payload: []byte(payload)}}
}

// Payloads returns the payloads of partition n in [from, head).
func Payloads(t testing.TB, l ingestlog.Log, n int, from id.Offset) []string {
	t.Helper()
	var got []string
	next := from
	err := l.Read(context.Background(), Partition(n), from, l.Head(Partition(n)), func(r *ingestlog.Record) error {
		if r.Offset != next {
			t.Errorf("partition %d: read offset %d, want %d", n, r.Offset, next)
		}
		next++
		got = append(got, string(r.Payload))
		return nil
	})
	if err != nil {
		t.Fatalf("read partition %d: %v", n, err)
	}
	return got
}

// Run runs the suite on logs that open returns.
func Run(t *testing.T, open func(t *testing.T) ingestlog.Log) {
	t.Run("AppendReadBack", func(t *testing.T) { appendReadBack(t, open(t)) })
	t.Run("DeliveredPayloadsAreTheSubscribers", func(t *testing.T) { delivered(t, open(t)) })
	t.Run("SubscribersGetEachRecordOnceInOrder", func(t *testing.T) { subscribers(t, open(t)) })
	t.Run("ConcurrentAppendsKeepEachAppendersOrder", func(t *testing.T) { concurrent(t, open(t)) })
	t.Run("TrimKeepsHeadAndOffsets", func(t *testing.T) { trim(t, open(t)) })
	t.Run("AttachmentsAreReleased", func(t *testing.T) { attachments(t, open(t)) })
	t.Run("ClosedRefuses", func(t *testing.T) {
		l := open(t)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(context.Background(), []ingestlog.Entry{Entry(0, "x")}); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("append to a closed log: %v, want %v", err, storage.ErrClosed)
		}
	})
}

func mustAppend(t testing.TB, l ingestlog.Log, entries ...ingestlog.Entry) {
	t.Helper()
	if err := l.Append(context.Background(), entries); err != nil {
		t.Fatal(err)
	}
}

func appendReadBack(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	entries := []ingestlog.Entry{Entry(0, "a"), Entry(1, "b"), Entry(0, "c")}
	mustAppend(t, l, entries...)
	if got := []id.Offset{entries[0].Record.Offset, entries[1].Record.Offset, entries[2].Record.Offset}; !slices.Equal(got, []id.Offset{0, 0, 1}) {
		t.Errorf("offsets %v", got)
	}
	mustAppend(t, l, Entry(1, ""))
	if got := Payloads(t, l, 0, 0); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("partition 0: %q", got)
	}
	if got := Payloads(t, l, 1, 1); !slices.Equal(got, []string{""}) {
		t.Errorf("partition 1 from 1: %q", got)
	}
	if h := l.Head(Partition(7)); h != 0 {
		t.Errorf("head of a partition never written: %d", h)
	}
	if n := l.Rows(Partition(0), 0, 9); n != 2 {
		t.Errorf("%d rows in partition 0, want 2", n)
	}
	if at := l.AppendedAt(Partition(0), 1); at != entries[2].Record.AppendTime || at == 0 {
		t.Errorf("append time %d, want %d", at, entries[2].Record.AppendTime)
	}
}

func subscribers(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	mustAppend(t, l, Entry(0, "before"))
	var mu sync.Mutex
	var got []id.Offset
	from, cancel := l.Subscribe(Partition(0), func(r *ingestlog.Record) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Offset)
	})
	if from != 1 {
		t.Fatalf("subscribed from %d, want 1", from)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				mustAppend(t, l, Entry(0, "x"), Entry(1, "y"))
			}
		})
	}
	wg.Wait()
	cancel()
	mustAppend(t, l, Entry(0, "after"))
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 100 || got[0] != 1 || got[99] != 100 || !slices.IsSorted(got) {
		t.Errorf("got %d records: %v", len(got), got)
	}
}

// delivered: a subscriber may keep a record whose appender uses its buffer again.
func delivered(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	var kept []*ingestlog.Record
	_, cancel := l.Subscribe(Partition(0), func(r *ingestlog.Record) { kept = append(kept, r) })
	defer cancel()
	buffer := []byte("first")
	for _, p := range []string{"first", "other"} {
		e := Entry(0, "")
		e.Record.Payload = append(buffer[:0], p...)
		mustAppend(t, l, e)
	}
	if got := string(kept[0].Payload); got != "first" {
		t.Errorf("the first record reads %q after its appender used the buffer again, want %q", got, "first")
	}
	if got := l.Partitions(); !slices.Equal(got, []id.StreamPartition{Partition(0)}) {
		t.Errorf("partitions %v", got)
	}
}

func concurrent(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				mustAppend(t, l, Entry(0, fmt.Sprintf("%d/%03d", w, i)))
			}
		})
	}
	wg.Wait()
	all := Payloads(t, l, 0, 0)
	for w := range 4 {
		var own []string
		for _, p := range all {
			if p[0] == byte('0'+w) {
				own = append(own, p)
			}
		}
		if len(own) != 50 || !slices.IsSorted(own) {
			t.Errorf("appender %d: %v", w, own)
		}
	}
}

func trim(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	for i := range 10 {
		mustAppend(t, l, Entry(0, fmt.Sprint(i)))
	}
	if err := l.Trim(Partition(0), 4); err != nil {
		t.Fatal(err)
	}
	base, head := l.Base(Partition(0)), l.Head(Partition(0))
	if base > 4 || head != 10 {
		t.Fatalf("base %d head %d after trimming below 4 of 10", base, head)
	}
	if got := Payloads(t, l, 0, base); got[0] != fmt.Sprint(base) || len(got) != int(10-base) {
		t.Errorf("from base %d: %v", base, got)
	}
}

type counted struct {
	mu   sync.Mutex
	refs int
}

func (c *counted) Retain()  { c.add(1) }
func (c *counted) Release() { c.add(-1) }
func (c *counted) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refs += n
}

func attachments(t *testing.T, l ingestlog.Log) {
	defer l.Close()
	c := &counted{}
	_, cancel := l.Subscribe(Partition(0), func(r *ingestlog.Record) {
		if r.Attached != c {
			t.Errorf("attached %v", r.Attached)
		}
		r.Attached.Release()
	})
	defer cancel()
	e := Entry(0, "x")
	e.Record.Attached = c
	mustAppend(t, l, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refs != 0 {
		t.Errorf("%d references left", c.refs)
	}
}
