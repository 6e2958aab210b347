package ingest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/routing"
	"github.com/tallydb/tallydb/stream/rows"
)

// FrameBytes is the most that one statement appends as one atomic frame.
const FrameBytes = 16 << 20

// Stream is where rows go in: a stream's descriptor, log and pool of batches.
// It is shared by all appenders of the stream.
type Stream struct {
	Tenant   id.Tenant
	Relation *catalog.Relation
	Log      ingestlog.Log
	Pool     *rows.Pool
	// Admit, if set, waits while the partitions are too far behind (backpressure).
	Admit func(ctx context.Context) error

	spread  atomic.Uint64 // next partition of a stream without routing key
	scratch freeList

	life    sync.RWMutex // held for reading while rows are appended
	dropped bool
}

// Result is what a statement did to a stream.
type Result struct {
	Durable  int64 // rows appended and durable
	Rejected int64 // rows filed in <stream>__rejected
	// Outcome is what the partitions made of the rows, as far as it was known
	// when the statement was acknowledged.
	Outcome rows.Outcome
	// Applied is false if the outcome is not complete.
	Applied bool
}

// Appender collects the rows of one statement (or transaction) and appends them.
type Appender struct {
	stream *Stream
	limit  int // bytes that may be buffered before a prefix is appended; 0: never

	open    []*rows.Rows // by index of the open epoch's partitions
	full    []filled
	bytes   int
	rejects []*types.Batch // records of rejects; the last is still filled
	size    int            // bytes of the last one
	result  Result
	tally   *tally

	*scratch
}

// scratch is the memory of an appender that the next one can use again.
type scratch struct {
	router  *routing.Router
	hashes  []uint64
	digests []routing.Digest
	sel     [][]int32
	index   []int    // partition number → place in the open epoch
	payload [][]byte // encoded records
	input   *types.Batch
}

// keepInput is the largest input batch, in bytes, that is kept.
const keepInput = 1 << 20

// Drop makes appends fail from now on, and returns when none is under way.
func (s *Stream) Drop() {
	s.life.Lock()
	defer s.life.Unlock()
	s.dropped = true
}

// freeList keeps some scratch memory. A sync.Pool would lose it at every garbage
// collection.
type freeList struct {
	mu   sync.Mutex
	free []*scratch
}

// keepScratch is how many appenders' memory is kept.
const keepScratch = 16

func (f *freeList) get() *scratch {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.free)
	if n == 0 {
		return nil
	}
	m := f.free[n-1]
	f.free = f.free[:n-1]
	return m
}

func (f *freeList) put(m *scratch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) < keepScratch {
		f.free = append(f.free, m)
	}
}

// newScratch makes or takes back scratch memory.
func (s *Stream) newScratch() *scratch {
	if m := s.scratch.get(); m != nil {
		return m
	}
	n := len(s.Relation.Stream.Partitions())
	return &scratch{router: routing.New(s.Relation.Stream), sel: make([][]int32, n), index: s.partitionIndex()}
}

// filled is a batch ready to be appended.
type filled struct {
	partition int
	rows      *rows.Rows
}

// tally sums what the workers report of a statement's records.
type tally struct {
	mu      sync.Mutex
	pending int
	outcome rows.Outcome
	idle    chan struct{} // closed when nothing is pending and nothing more will come
	closed  bool
}

func (t *tally) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += n
}

func (t *tally) applied(o rows.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome.Add(o)
	t.pending--
	if t.pending == 0 && t.closed {
		close(t.idle)
	}
}

// finish says that nothing more is appended; the channel closes once all is applied.
func (t *tally) finish() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.pending == 0 {
		close(t.idle)
	}
	return t.idle
}

// NewAppender returns an appender for one statement.
func (s *Stream) NewAppender() *Appender {
	n := len(s.Relation.Stream.Partitions())
	return &Appender{
		stream: s, limit: FrameBytes, scratch: s.newScratch(),
		open: make([]*rows.Rows, n), tally: &tally{idle: make(chan struct{})},
	}
}

// HoldUntilCommit makes the appender keep all rows until Commit, up to limit
// bytes, as a transaction block does.
func (a *Appender) HoldUntilCommit(limit int) { a.limit = -limit }

// Stream returns the stream that rows go to.
func (a *Appender) Stream() *catalog.Relation { return a.stream.Relation }

// Input returns an empty batch of the stream's columns to parse rows into, for Add. It
// is the appender's, which lends it to one statement after the other.
func (a *Appender) Input() *types.Batch {
	if a.input == nil {
		a.input = types.NewBatch(&types.Schema{Columns: a.stream.Relation.Columns}, 0)
	}
	a.input.Reset()
	return a.input
}

// Rows returns how many rows it took, durable or collected.
func (a *Appender) Rows() int64 {
	n := a.result.Durable
	for _, f := range a.full {
		n += int64(f.rows.Batch.Rows)
	}
	for _, r := range a.open {
		if r != nil {
			n += int64(r.Batch.Rows)
		}
	}
	return n
}

// Add takes the rows of a batch, whose columns are the stream's, and returns how
// many it took. It keeps nothing of b. A row that breaks a rule of the stream is an
// error, or is filed and not counted if the stream says on_bad_row = reject.
func (a *Appender) Add(ctx context.Context, b *types.Batch) (accepted int, err error) {
	if b, err = a.validate(b); err != nil {
		return 0, err
	}
	if b.Rows > 0 {
		a.collectRows(b)
	}
	return b.Rows, a.bound(ctx)
}

// collectRows puts rows that keep the rules into the batches of their partitions.
func (a *Appender) collectRows(b *types.Batch) {
	a.hashes = a.router.Hashes(b, a.hashes)
	if a.router.Deduplicates() {
		a.digests = a.router.Digests(b, a.hashes, a.digests)
	}
	a.route(b)
	for p, sel := range a.sel {
		for len(sel) > 0 {
			n := a.take(p, b, sel)
			sel = sel[n:]
		}
	}
	a.bytes += b.MemoryBytes()
}

// bound keeps what is collected within the limit: a statement appends a prefix, a
// transaction block fails. Rejects count as rows do.
func (a *Appender) bound(ctx context.Context) error {
	switch {
	case a.limit < 0 && a.bytes > -a.limit:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "transaction holds more than %d bytes of stream rows", -a.limit).
			WithHint("Commit in smaller transactions, or COPY outside of a transaction block.")
	case a.limit > 0 && a.bytes > a.limit:
		return a.flush(ctx)
	}
	return nil
}

// route fills a.sel with the row numbers of each partition.
func (a *Appender) route(b *types.Batch) {
	for p := range a.sel {
		a.sel[p] = a.sel[p][:0]
	}
	if a.router.Spread() {
		p := int(a.stream.spread.Add(1) % uint64(len(a.sel)))
		for i := range b.Rows {
			a.sel[p] = append(a.sel[p], int32(i))
		}
		return
	}
	for i, h := range a.hashes {
		p := a.index[a.router.Partition(h)]
		a.sel[p] = append(a.sel[p], int32(i))
	}
}

// partitionIndex maps partition numbers to their place in the open epoch.
func (s *Stream) partitionIndex() []int {
	ps := s.Relation.Stream.Partitions()
	index := make([]int, int(slices.Max(ps))+1)
	for i, p := range ps {
		index[p] = i
	}
	return index
}

// take moves rows into the partition's open batch, as many as fit.
func (a *Appender) take(p int, b *types.Batch, sel []int32) int {
	r := a.open[p]
	if r == nil {
		r = a.stream.Pool.Get()
		a.open[p] = r
	}
	n := min(len(sel), rows.Max-r.Batch.Rows)
	sel = sel[:n]
	for c, v := range b.Cols {
		v.GatherInto(r.Batch.Cols[c], sel)
	}
	r.Batch.Rows += n
	for _, i := range sel {
		r.Hashes = append(r.Hashes, a.hashes[i])
	}
	if a.router.Deduplicates() {
		for _, i := range sel {
			r.Digests = append(r.Digests, a.digests[i])
		}
	}
	if r.Batch.Rows == rows.Max {
		a.full = append(a.full, filled{p, r})
		a.open[p] = nil
	}
	return n
}

// flush appends everything that was collected as one frame.
func (a *Appender) flush(ctx context.Context) error {
	return appendTogether(ctx, []*Appender{a})
}

// collect returns everything that was collected as records.
func (a *Appender) collect() []ingestlog.Entry {
	for p, r := range a.open {
		if r != nil {
			a.full = append(a.full, filled{p, r})
			a.open[p] = nil
		}
	}
	return a.entries()
}

// settle notes what became of the collected rows and gives their memory back.
func (a *Appender) settle(err error) {
	if err == nil {
		for _, f := range a.full {
			a.result.Durable += int64(f.rows.Batch.Rows)
		}
		for _, r := range a.rejects {
			a.result.Rejected += int64(r.Rows)
		}
	}
	a.drop()
}

// entries encodes the collected batches as records.
func (a *Appender) entries() []ingestlog.Entry {
	ps := a.stream.Relation.Stream.Partitions()
	entry := func(p, n int, kind ingestlog.RecordKind, b *types.Batch) ingestlog.Entry {
		for len(a.payload) <= n {
			a.payload = append(a.payload, nil)
		}
		a.payload[n] = recordbatch.Encode(a.payload[n][:0], b)
		return ingestlog.Entry{
			Partition: id.StreamPartition{Tenant: a.stream.Tenant, Stream: a.stream.Relation.ID, Partition: ps[p]},
			Record: ingestlog.Record{
				Kind: kind, SchemaVersion: a.stream.Relation.Version, Rows: uint32(b.Rows), Payload: a.payload[n],
			},
		}
	}
	var out []ingestlog.Entry
	for n, f := range a.full {
		e := entry(f.partition, n, ingestlog.Data, &f.rows.Batch)
		f.rows.Applied = a.tally.applied
		e.Record.Attached = f.rows
		out = append(out, e)
	}
	for n, r := range a.rejects {
		if r.Rows > 0 { // a savepoint may have taken them back
			p := int(a.stream.spread.Add(1) % uint64(len(ps)))
			out = append(out, entry(p, len(a.full)+n, ingestlog.Rejects, r))
		}
	}
	return out
}

// drop gives the collected memory back.
func (a *Appender) drop() {
	for _, f := range a.full {
		f.rows.Release()
	}
	a.full, a.bytes, a.rejects, a.size = a.full[:0], 0, nil, 0
}

// Prefix adds to an error how many rows of the statement are durable all the same.
func (a *Appender) Prefix(err error) error {
	if a.result.Durable == 0 {
		return err
	}
	e := *sqlerr.From(err)
	return e.WithDetail("%d rows of this statement are durable.", a.result.Durable)
}

// free gives the scratch memory back; the appender is at its end.
func (a *Appender) free() {
	if a.scratch != nil {
		if a.input != nil && a.input.MemoryBytes() > keepInput {
			a.input = nil
		}
		a.stream.scratch.put(a.scratch)
		a.scratch = nil
	}
}

// Rollback drops what was collected and not yet appended, and ends the appender.
func (a *Appender) Rollback() {
	defer a.free()
	for p, r := range a.open {
		if r != nil {
			r.Release()
			a.open[p] = nil
		}
	}
	a.drop()
}

// Reject files a row that could not be parsed, with the reason, which should be the
// same for all rows that are bad for it, and what is known of this one.
func (a *Appender) Reject(ctx context.Context, reason, detail string) error {
	a.addReject(reason, detail, nil, 0)
	return a.bound(ctx)
}

// rejectBytes is the size from which a record of rejects takes no more rows.
const rejectBytes = 1 << 20

// addReject files a row of b, or no row where b is nil. The partition and the rest
// of what the log knows is filled in by the worker that applies the record.
func (a *Appender) addReject(reason, detail string, b *types.Batch, row int) {
	if n := len(a.rejects); n == 0 || a.size >= rejectBytes || a.rejects[n-1].Rows == rows.Max {
		a.rejects = append(a.rejects, types.NewBatch(plan.SideSchema(plan.SideRejected, a.stream.Relation), 0))
		a.size = 0
	}
	r := a.rejects[len(a.rejects)-1]
	r.Cols[plan.RejectedPartition].AppendInt(0)
	r.Cols[plan.RejectedOffset].AppendInt(0)
	r.Cols[plan.RejectedRow].AppendInt(int64(r.Rows))
	r.Cols[plan.RejectedReason].AppendString(strings.ToValidUTF8(reason, "\uFFFD"))
	if detail == "" {
		r.Cols[plan.RejectedDetail].AppendNull()
	} else {
		r.Cols[plan.RejectedDetail].AppendString(strings.ToValidUTF8(detail, "\uFFFD"))
	}
	r.Cols[plan.RejectedAppendTime].AppendInt(0)
	size := 64 + len(reason) + len(detail)
	for c, v := range r.Cols[plan.RejectedLead:] {
		size += 8
		if b == nil {
			v.AppendNull()
			continue
		}
		v.AppendFrom(b.Cols[c], row)
		if v.Type.Kind() == types.KindBytes {
			size += len(v.Bytes(r.Rows))
		}
	}
	r.Rows++
	a.size += size
	a.bytes += size
}
