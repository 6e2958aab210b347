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
	fresh  freshList
}

// freshBlock is the number of entries in a block of a freshList.
const freshBlock = 8192

// freshList holds what was added since the last TakeFresh, for the checkpoint,
// in blocks that are used again, so that it never copies what it holds.
type freshList struct {
	blocks [][]entry
	used   int // blocks in use
	count  int
}

func (f *freshList) add(e entry) {
	if f.used == 0 || len(f.blocks[f.used-1]) == freshBlock {
		if f.used == len(f.blocks) {
			f.blocks = append(f.blocks, make([]entry, 0, min(freshBlock, 64+f.count)))
		}
		f.used++
	}
	f.blocks[f.used-1] = append(f.blocks[f.used-1], e)
	f.count++
}

// keepBlocks bounds the blocks kept for use after a checkpoint.
const keepBlocks = 64

func (f *freshList) reset() {
	if len(f.blocks) > keepBlocks {
		f.blocks = f.blocks[:keepBlocks:keepBlocks]
	}
	for i := range f.blocks {
		f.blocks[i] = f.blocks[i][:0]
	}
	f.used, f.count = 0, 0
}

// New returns an empty table.
func New() *Table { return &Table{} }

// Add remembers an event until the watermark passes expiry. It reports whether
// the event is new; if not, nothing changes.
func (t *Table) Add(d routing.Digest, expiry eventtime.Time, now eventtime.Watermark) bool {
	s := &t.shards[d.Hi>>58]
	if 4*(s.used+1) > 3*len(s.slots) {
		s.grow(now)
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
			t.fresh.add(*e)
			return true
		case e.digest == routing.Digest{}:
			*e = entry{d, expiry}
			s.used++
			t.fresh.add(*e)
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

// grow rebuilds the shard without expired entries, larger if those that remain need it.
func (s *shard) grow(now eventtime.Watermark) {
	live := 0
	for i := range s.slots {
		if s.slots[i].digest != (routing.Digest{}) && !now.Passed(s.slots[i].expiry) {
			live++
		}
	}
	size := max(16, len(s.slots))
	for 2*(live+1) > size {
		size *= 2
	}
	old := s.slots
	s.slots = make([]entry, size)
	s.used = live
	mask := uint64(size - 1)
	for i := range old {
		if old[i].digest == (routing.Digest{}) || now.Passed(old[i].expiry) {
			continue
		}
		j := old[i].digest.Lo & mask
		for s.slots[j].digest != (routing.Digest{}) {
			j = (j + 1) & mask
		}
		s.slots[j] = old[i]
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
	n := len(t.fresh.blocks) * freshBlock
	for i := range t.shards {
		n += len(t.shards[i].slots)
	}
	return int64(n) * 24
}

const (
	codecVersion = 1
	entryBytes   = 24
)

// FreshBytes returns the size of what TakeFresh would give.
func (t *Table) FreshBytes() int { return entryBytes * t.fresh.count }

// TakeFresh calls fn with the portable form of what was added since the last
// call, in chunks, and the latest expiry in each, after which it can be deleted.
// A chunk is valid during the call only.
func (t *Table) TakeFresh(fn func(chunk []byte, latest eventtime.Time) error) error {
	chunk := make([]byte, 0, 1+entryBytes*min(freshBlock, t.fresh.count))
	for _, block := range t.fresh.blocks[:t.fresh.used] {
		chunk = append(chunk[:0], codecVersion)
		latest := eventtime.Min
		for _, e := range block {
			chunk = binary.LittleEndian.AppendUint64(chunk, e.digest.Lo)
			chunk = binary.LittleEndian.AppendUint64(chunk, e.digest.Hi)
			chunk = binary.LittleEndian.AppendUint64(chunk, uint64(e.expiry))
			latest = max(latest, e.expiry)
		}
		if err := fn(chunk, latest); err != nil {
			return err
		}
	}
	t.fresh.reset()
	return nil
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
	t.fresh.reset()
	return nil
}
