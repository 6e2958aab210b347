package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/ingestlog/memlog"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/ingest"
	"github.com/tallydb/tallydb/stream/rows"
)

const partitions = 4

// watched is a log that notes the sizes of what is appended as one frame.
type watched struct {
	*memlog.Log
	frames []int
}

func (w *watched) Append(ctx context.Context, entries []ingestlog.Entry) error {
	bytes := 0
	for _, e := range entries {
		bytes += len(e.Record.Payload)
	}
	w.frames = append(w.frames, bytes)
	return w.Log.Append(ctx, entries)
}

// newStream returns a stream (id bigint NOT NULL, name text) that sets bad rows aside.
func newStream() (*ingest.Stream, *watched) {
	rel := &catalog.Relation{
		ID: 7, Name: "s", Kind: catalog.KindStream,
		Columns: []types.Column{{Name: "id", Type: types.Of(types.Int8), NotNull: true}, {Name: "name", Type: types.Of(types.Text)}},
		Stream: &catalog.Stream{
			Seed: keyhash.Seed{K0: 1, K1: 2}, TimeColumn: -1,
			Options: catalog.StreamOptions{Partitions: partitions, PartitionKey: []int{0}, SourceKey: -1, RejectBadRows: true},
			Epochs:  []catalog.RoutingEpoch{{}},
		},
	}
	for p := range partitions {
		rel.Stream.Epochs[0].Partitions = append(rel.Stream.Epochs[0].Partitions, id.Partition(p))
	}
	log := &watched{Log: memlog.New(time.Now)}
	return &ingest.Stream{Tenant: 1, Relation: rel, Log: log, Pool: rows.NewPool(rel.RowSchema())}, log
}

// batch returns rows with these ids, of which negative ones stand for NULL.
func batch(s *ingest.Stream, name string, ids ...int64) *types.Batch {
	b := types.NewBatch(s.Relation.RowSchema(), len(ids))
	for _, i := range ids {
		if i < 0 {
			b.Cols[0].AppendNull()
		} else {
			b.Cols[0].AppendInt(i)
		}
		b.Cols[1].AppendString(name)
		b.Rows++
	}
	return b
}

// stored returns what the log of each partition has: the ids of its rows, and the
// reasons of its rejects with the size of the largest record of them.
func stored(t testing.TB, s *ingest.Stream) (ids []int64, reasons map[id.Partition][]string, largest int) {
	t.Helper()
	reasons = map[id.Partition][]string{}
	for p := range id.Partition(partitions) {
		sp := id.StreamPartition{Tenant: s.Tenant, Stream: s.Relation.ID, Partition: p}
		err := s.Log.Read(context.Background(), sp, 0, s.Log.Head(sp), func(r *ingestlog.Record) error {
			schema := s.Relation.RowSchema()
			if r.Kind == ingestlog.Rejects {
				schema = plan.SideSchema(plan.SideRejected, s.Relation)
			}
			b := types.NewBatch(schema, 0)
			if err := recordbatch.Decode(r.Payload, b); err != nil {
				return err
			}
			if r.Kind == ingestlog.Data {
				ids = append(ids, b.Cols[0].Ints...)
				return nil
			}
			largest = max(largest, len(r.Payload))
			for i := range b.Rows {
				reasons[p] = append(reasons[p], string(b.Cols[plan.RejectedReason].Bytes(i)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids, reasons, largest
}

func commit(t testing.TB, a *ingest.Appender) ingest.Result {
	t.Helper()
	now := make(chan struct{})
	close(now)
	r, err := ingest.Commit(context.Background(), []*ingest.Appender{a}, now)
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

// TestL11RejectsAreBounded: rows that are set aside are appended in prefixes and in
// records of bounded size over all partitions, whether they could not be parsed or
// broke a rule, and however wide they are.
func TestL11RejectsAreBounded(t *testing.T) {
	ctx := context.Background()
	wide := strings.Repeat("w", 1<<20)
	for name, c := range map[string]struct {
		n    int
		file func(a *ingest.Appender, s *ingest.Stream, i int) error
	}{
		"unparsable": {200_000, func(a *ingest.Appender, _ *ingest.Stream, i int) error {
			return a.Reject(ctx, "not a number", fmt.Sprintf("%0300d", i))
		}},
		"NULL": {200_000 / 500, func(a *ingest.Appender, s *ingest.Stream, _ int) error {
			ids := make([]int64, 500)
			for i := range ids {
				ids[i] = -1
			}
			n, err := a.Add(ctx, batch(s, "some text of a row", ids...))
			if n != 0 {
				return fmt.Errorf("%d rows were accepted", n)
			}
			return err
		}},
		"wide": {60, func(a *ingest.Appender, s *ingest.Stream, _ int) error {
			_, err := a.Add(ctx, batch(s, wide, -1))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := newStream()
			a := s.NewAppender()
			for i := range c.n {
				if err := c.file(a, s, i); err != nil {
					t.Fatal(err)
				}
			}
			r := commit(t, a)
			_, reasons, largest := stored(t, s)
			total, used := 0, 0
			for _, of := range reasons {
				total += len(of)
				used++
			}
			if int64(total) != r.Rejected || r.Durable != 0 {
				t.Errorf("%d rejects are in the log, reported are %+v", total, r)
			}
			if used != partitions || largest > 4<<20 {
				t.Errorf("rejects are in %d partitions, in records of up to %d bytes", used, largest)
			}
			for _, n := range log.frames {
				if n > ingest.FrameBytes+(4<<20) {
					t.Errorf("a frame of %d bytes", n)
				}
			}

			s, _ = newStream()
			a = s.NewAppender()
			a.HoldUntilCommit(1 << 20)
			var err error
			for i := 0; i < c.n && err == nil; i++ {
				err = c.file(a, s, i)
			}
			if sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
				t.Errorf("a block that holds them ends with %v, want 54000", err)
			}
			a.Rollback()
		})
	}
}

// TestSavepointsTakeBackRowsAndRejects compares marks and rollbacks with a list of
// what was added.
func TestSavepointsTakeBackRowsAndRejects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type twin struct {
			mark    ingest.Mark
			rows    int
			rejects int
		}
		s, _ := newStream()
		a := s.NewAppender()
		a.HoldUntilCommit(1 << 30)
		var marks []twin
		added, rejects := 0, 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"add", "reject", "mark", "rollback"}).Draw(t, "step") {
			case "add":
				n := rapid.SampledFrom([]int{1, 5, 3 * rows.Max}).Draw(t, "rows")
				ids := make([]int64, n)
				for i := range ids {
					ids[i] = int64(i)
				}
				if _, err := a.Add(context.Background(), batch(s, "x", ids...)); err != nil {
					t.Fatal(err)
				}
				added += n
			case "reject":
				n := rapid.SampledFrom([]int{1, 3, rows.Max}).Draw(t, "rejects")
				for range n {
					if err := a.Reject(context.Background(), "bad", ""); err != nil {
						t.Fatal(err)
					}
				}
				rejects += n
			case "mark":
				marks = append(marks, twin{a.Mark(), added, rejects})
			case "rollback":
				if len(marks) == 0 {
					continue
				}
				n := rapid.IntRange(0, len(marks)-1).Draw(t, "to")
				a.RollbackTo(marks[n].mark)
				added, rejects = marks[n].rows, marks[n].rejects
				marks = marks[:n+1]
			}
		}
		now := make(chan struct{})
		close(now)
		r, err := ingest.Commit(context.Background(), []*ingest.Appender{a}, now)
		if err != nil || r[0].Durable != int64(added) || r[0].Rejected != int64(rejects) {
			t.Fatalf("%+v %v, want %d rows and %d rejects", r, err, added, rejects)
		}
	})
}

// TestEveryRowIsAcceptedOrFiled: what Add accepts is in the log once, the rest is
// filed, and both add up.
func TestEveryRowIsAcceptedOrFiled(t *testing.T) {
	s, _ := newStream()
	a := s.NewAppender()
	n, err := a.Add(context.Background(), batch(s, "x", 1, -1, 2, -1, 3))
	if err != nil || n != 3 {
		t.Fatalf("%d rows were accepted, %v; want 3", n, err)
	}
	r := commit(t, a)
	ids, reasons, _ := stored(t, s)
	filed := 0
	for _, of := range reasons {
		filed += len(of)
	}
	if len(ids) != 3 || filed != 2 || r.Durable != 3 || r.Rejected != 2 {
		t.Errorf("ids %v, rejects %v, %+v", ids, reasons, r)
	}
}

// TestDroppedStreamTakesNothing: an append to a stream that was dropped is an error,
// and nothing is left in the log.
// TestInputIsLent: the batch that rows are parsed into comes back empty, whatever the
// appender before left in it, with its memory unless that was much.
func TestInputIsLent(t *testing.T) {
	s, _ := newStream()
	fill := func(b *types.Batch, rows int) {
		for i := range rows {
			b.Cols[0].AppendInt(int64(i))
			b.Cols[1].AppendString("some name")
		}
		b.Cols[0].AppendInt(0) // half a row, as a bad one leaves it
		b.Rows += rows
	}
	a := s.NewAppender()
	first := a.Input()
	fill(first, 1000)
	if again := a.Input(); again != first || again.Rows != 0 || again.Cols[0].Len() != 0 {
		t.Errorf("the next statement of a block is lent %d rows", again.Rows)
	}
	fill(first, 10)
	a.Rollback()
	a = s.NewAppender()
	if b := a.Input(); b != first || b.Rows != 0 || b.Cols[0].Len() != 0 || b.Cols[1].Len() != 0 {
		t.Errorf("the next appender is lent %d rows", b.Rows)
	}
	fill(first, 1<<17)
	a.Rollback()
	if s.NewAppender().Input() == first {
		t.Errorf("%d bytes are kept", first.MemoryBytes())
	}
}

func TestDroppedStreamTakesNothing(t *testing.T) {
	s, log := newStream()
	a := s.NewAppender()
	if _, err := a.Add(context.Background(), batch(s, "x", 1)); err != nil {
		t.Fatal(err)
	}
	s.Drop()
	_, err := ingest.Commit(context.Background(), []*ingest.Appender{a}, nil)
	if sqlerr.CodeOf(err) != sqlerr.UndefinedTable || len(log.frames) != 0 {
		t.Errorf("commit ends with %v after %d frames", err, len(log.frames))
	}
}
