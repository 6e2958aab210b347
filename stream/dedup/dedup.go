// Package dedup remembers which events a partition has seen, each until the
// watermark passes its event time plus the horizon (L-9, R-17). Pure: no I/O,
// no clock.
//
// Invariants:
//
//  1. Whether an id counts as seen depends on the events and the watermark only,
//     never on when memory was reclaimed: an expired entry that is still in the
//     table counts as absent.
//  2. The identity is a 128-bit keyed digest; two different events share one
//     with probability below n² / 2^129.
package dedup

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/routing"
)

// shards splits the table so that growing it never stalls the worker for long.
const shards = 64

// entry is a seen event; a zero digest marks a free slot.
type entry struct {
	digest routing.Digest
	expiry eventtime.Time
}

// shard is an open-addressing table with linear probing.
type shard struct {
	slots []entry
	used  int
}

// Table is the set of seen events of one partition. It holds no pointers inside
// its arrays, so it costs the garbage collector nothing.
type Table struct {
	shards [shards]shard
	fresh  Fresh
	spare  [][]entry // empty blocks, to be used again
	live   []entry   // scratch memory of rebuild
}

// freshBlock is the number of entries in a block of Fresh.
const freshBlock = 8192

// Fresh is what was added to a table between two checkpoints, in blocks, so that
// it never copies what it holds.
type Fresh struct {
	blocks [][]entry
	count  int
}

// addFresh notes that an entry is new.
func (t *Table) addFresh(e entry) {
	f := &t.fresh
	if n := len(f.blocks); n == 0 || len(f.blocks[n-1]) == freshBlock {
		block := make([]entry, 0, min(freshBlock, 64+f.count))
		if n := len(t.spare); n > 0 {
			block, t.spare = t.spare[n-1], t.spare[:n-1]
		}
		f.blocks = append(f.blocks, block)
	}
	last := &f.blocks[len(f.blocks)-1]
	*last = append(*last, e)
	f.count++
}

// keepBlocks bounds the blocks kept for use after a checkpoint.
const keepBlocks = 64

// New returns an empty table.
func New() *Table { return &Table{} }

// Add remembers an event until the watermark passes expiry. It reports whether
// the event is new; if not, nothing changes.
func (t *Table) Add(d routing.Digest, expiry eventtime.Time, now eventtime.Watermark) bool {
	s := &t.shards[d.Hi>>58]
	if 4*(s.used+1) > 3*len(s.slots) {
		s.rebuild(now, &t.live)
	}
	mask := uint64(len(s.slots) - 1)
	for i := d.Lo & mask; ; i = (i + 1) & mask {
		e := &s.slots[i]
		switch {
		case e.digest == d:
			if !now.Passed(e.expiry) {
				return false
			}
			e.expiry = expiry
			t.addFresh(*e)
			return true
		case e.digest == routing.Digest{}:
			*e = entry{d, expiry}
			s.used++
			t.addFresh(*e)
			return true
		}
	}
}

// TouchRows is how many digests are worth touching at a time: enough loads in
// flight to hide the memory's latency, few enough to stay in the cache.
const TouchRows = 32

// Touch reads the home slot of each digest, so that the Adds that follow find it
// in the cache: independent loads overlap, where one Add waits for the other. The
// result means nothing; it keeps the loads from being optimised away.
func (t *Table) Touch(digests []routing.Digest) uint64 {
	var sum uint64
	for _, d := range digests {
		if s := &t.shards[d.Hi>>58]; len(s.slots) > 0 {
			sum += s.slots[d.Lo&uint64(len(s.slots)-1)].digest.Lo
		}
	}
	return sum
}

// rebuild makes room: without expired entries, and larger if those that remain
// need it. A table whose ids come and go at one rate stays in the memory that it
// has. live is scratch memory.
func (s *shard) rebuild(now eventtime.Watermark, live *[]entry) {
	kept := (*live)[:0]
	for i := range s.slots {
		if s.slots[i].digest != (routing.Digest{}) && !now.Passed(s.slots[i].expiry) {
			kept = append(kept, s.slots[i])
		}
	}
	*live = kept
	size := max(16, len(s.slots))
	for 2*(len(kept)+1) > size {
		size *= 2
	}
	if size != len(s.slots) {
		s.slots = make([]entry, size)
	}
	clear(s.slots) // new memory too: a page that is read before it is written faults twice
	s.used = len(kept)
	mask := uint64(size - 1)
	for i := range kept {
		j := kept[i].digest.Lo & mask
		for s.slots[j].digest != (routing.Digest{}) {
			j = (j + 1) & mask
		}
		s.slots[j] = kept[i]
	}
}

// Len returns the number of entries, expired ones that were not yet reclaimed included.
func (t *Table) Len() int {
	n := 0
	for i := range t.shards {
		n += t.shards[i].used
	}
	return n
}

// MemoryBytes returns the bytes held.
func (t *Table) MemoryBytes() int64 {
	n := cap(t.live)
	for _, block := range t.fresh.blocks {
		n += cap(block)
	}
	for _, block := range t.spare {
		n += cap(block)
	}
	for i := range t.shards {
		n += len(t.shards[i].slots)
	}
	return int64(n) * entryBytes
}

const (
	codecVersion = 1
	entryBytes   = 24
)

// TakeFresh returns what was added since the last call.
func (t *Table) TakeFresh() *Fresh {
	f := t.fresh
	t.fresh = Fresh{}
	return &f
}

// Recycle takes back what TakeFresh returned, when nobody reads it any more, for
// the sake of its memory.
func (t *Table) Recycle(f *Fresh) {
	for _, block := range f.blocks {
		if len(t.spare) == keepBlocks {
			return
		}
		t.spare = append(t.spare, block[:0])
	}
}

// Chunks returns the number of chunks.
func (f *Fresh) Chunks() int { return len(f.blocks) }

// Bytes returns the size of all chunks together, about.
func (f *Fresh) Bytes() int { return entryBytes * f.count }

// AppendChunk appends the portable form of a chunk without what has expired, which
// Load would leave out, and returns the latest expiry in it, after which it can be
// deleted. ok is false, and nothing appended, if everything has expired.
func (f *Fresh) AppendChunk(dst []byte, number int, now eventtime.Watermark) (chunk []byte, latest eventtime.Time, ok bool) {
	latest = eventtime.Min
	for _, e := range f.blocks[number] {
		if now.Passed(e.expiry) {
			continue
		}
		if !ok {
			dst, ok = append(dst, codecVersion), true
		}
		dst = binary.LittleEndian.AppendUint64(dst, e.digest.Lo)
		dst = binary.LittleEndian.AppendUint64(dst, e.digest.Hi)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.expiry))
		latest = max(latest, e.expiry)
	}
	return dst, latest, ok
}

// Load adds the entries of a chunk. Chunks are loaded in the order they were
// taken, so that a later entry of an id replaces an earlier one.
func (t *Table) Load(chunk []byte, now eventtime.Watermark) error {
	if len(chunk) == 0 || (len(chunk)-1)%entryBytes != 0 {
		return fmt.Errorf("dedup chunk of %d bytes: %w", len(chunk), storage.ErrCorrupt)
	}
	if chunk[0] > codecVersion {
		return fmt.Errorf("dedup chunk of version %d: %w", chunk[0], storage.ErrTooNew)
	}
	for b := chunk[1:]; len(b) > 0; b = b[entryBytes:] {
		d := routing.Digest{Lo: binary.LittleEndian.Uint64(b), Hi: binary.LittleEndian.Uint64(b[8:])}
		expiry := eventtime.Time(binary.LittleEndian.Uint64(b[16:]))
		if !now.Passed(expiry) {
			t.Add(d, expiry, now)
		}
	}
	t.Recycle(t.TakeFresh())
	return nil
}
