// Package rows is a batch of one partition's events with what routing computed
// for them, counted by reference so that ingest, the log and the partition
// worker share one copy, whose memory is then used again.
package rows

import (
	"math"
	"sync/atomic"

	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/routing"
)

// Max is the most rows that ingest puts into one record: large enough to
// amortise a hand-off, small enough for the caches.
const Max = 8192

// Rows is a batch of events of one partition. After it was appended to the log
// nobody changes it.
type Rows struct {
	Batch   types.Batch
	Hashes  []uint64         // routing hash of each row
	Digests []routing.Digest // identity of each row; empty without deduplication
	// Applied, if set, is called once by the partition worker after it applied
	// the rows, on its own goroutine; it must not block.
	Applied func(Outcome)

	refs atomic.Int32
	pool *Pool
}

// Outcome is what became of the rows of a record, by reason.
type Outcome struct {
	Admitted   int
	Duplicates int
	Rejected   int // future, or older than the dedup horizon
	Late       int // summed over views
	Errors     int // summed over views
}

// Add adds o to the outcome.
func (o *Outcome) Add(p Outcome) {
	o.Admitted += p.Admitted
	o.Duplicates += p.Duplicates
	o.Rejected += p.Rejected
	o.Late += p.Late
	o.Errors += p.Errors
}

// keep is how many batches a pool holds for the next who needs one. A sync.Pool
// would lose them at every garbage collection, and with them the memory that
// their columns have grown to.
const keep = 64

// Pool hands out Rows of one schema and takes them back. It is safe for
// concurrent use.
type Pool struct {
	// Scribble overwrites rows that are given back, so that tests find who still
	// reads them.
	Scribble bool

	schema *types.Schema
	free   chan *Rows
	out    atomic.Int64
}

// NewPool returns a pool of batches with these columns.
func NewPool(schema *types.Schema) *Pool {
	return &Pool{schema: schema, free: make(chan *Rows, keep)}
}

// Get returns empty rows with one reference.
func (p *Pool) Get() *Rows {
	var r *Rows
	select {
	case r = <-p.free:
	default:
		r = &Rows{Batch: *types.NewBatch(p.schema, 0), pool: p}
	}
	r.refs.Store(1)
	p.out.Add(1)
	return r
}

// Out returns how many rows are held by someone.
func (p *Pool) Out() int64 { return p.out.Load() }

// Truncate keeps the first n rows. It is for rows that nobody else has yet.
func (r *Rows) Truncate(n int) {
	r.Batch.Truncate(n)
	r.Hashes = r.Hashes[:n]
	if len(r.Digests) > 0 {
		r.Digests = r.Digests[:n]
	}
}

// Retain implements ingestlog.Attachment.
func (r *Rows) Retain() { r.refs.Add(1) }

// Release implements ingestlog.Attachment. The last release gives the memory back.
func (r *Rows) Release() {
	switch n := r.refs.Add(-1); {
	case n < 0:
		panic("rows released too often")
	case n == 0:
		if r.pool.Scribble {
			r.scribble()
		}
		r.Batch.Reset()
		r.Hashes, r.Digests, r.Applied = r.Hashes[:0], r.Digests[:0], nil
		r.pool.out.Add(-1)
		select {
		case r.pool.free <- r:
		default: // enough are kept
		}
	}
}

func (r *Rows) scribble() {
	for _, v := range r.Batch.Cols {
		for i := range v.Ints {
			v.Ints[i] = -0x5EED
		}
		for i := range v.Floats {
			v.Floats[i] = math.Inf(-1)
		}
		for i := range v.Data {
			v.Data[i] = '#'
		}
	}
	clear(r.Hashes)
	clear(r.Digests)
}
