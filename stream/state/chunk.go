package state

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// chunkVersion is the first byte of a chunk.
const chunkVersion = 1

// A chunk is: version, groups (uvarint); then for each group its hash (8 bytes),
// its key and, for each kept aggregate, its state, each with its length (uvarint).

// appendChunk appends the portable form of the groups [from, to).
func (g *Groups) appendChunk(dst []byte, from, to int) []byte {
	dst = append(dst, chunkVersion)
	dst = binary.AppendUvarint(dst, uint64(to-from))
	for i := from; i < to; i++ {
		dst = binary.LittleEndian.AppendUint64(dst, g.Hashes[i])
		dst = appendBytes(dst, g.Keys.At(i))
		for _, s := range g.States {
			at := len(dst)
			dst = append(dst, 0, 0, 0, 0) // room for the length
			dst = s.Append(dst, uint32(i))
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
	}
	return dst
}

// Changes holds chunks of arenas that changed, so that they can be encoded while
// the arenas go on: copies, or the arena itself if it will never change.
type Changes struct {
	newGroups func() *Groups
	copies    *Groups
	chunks    []changedChunk
}

type changedChunk struct {
	window   eventtime.Time // start
	number   int
	arena    *Arena // that never changes; nil: the groups are copied
	from, to int    // groups of the arena or of the copies
}

// NewChanges returns no chunks. newGroups returns a set of no groups that holds all
// states.
func NewChanges(newGroups func() *Groups) *Changes {
	return &Changes{newGroups: newGroups, copies: newGroups()}
}

// Take takes the chunks of an arena that changed since they were last taken. Until
// they are encoded, a final arena does not change, though others may read it.
func (c *Changes) Take(a *Arena, final bool) error {
	for n := range (a.Groups() + ChunkGroups - 1) / ChunkGroups {
		if !a.dirty.Has(n) {
			continue
		}
		k := changedChunk{window: a.Window.Start, number: n, from: n * ChunkGroups, to: min((n+1)*ChunkGroups, a.Groups())}
		if final {
			k.arena = a
		} else {
			at := c.copies.Len()
			if err := c.copies.addRange(a, k.from, k.to); err != nil {
				return err
			}
			k.from, k.to = at, c.copies.Len()
		}
		c.chunks = append(c.chunks, k)
	}
	clear(a.dirty)
	return nil
}

// Encode calls fn with the window, the number and the portable form of each chunk,
// which is valid during the call only.
func (c *Changes) Encode(scratch []byte, fn func(window eventtime.Time, number int, chunk []byte) error) ([]byte, error) {
	for _, k := range c.chunks {
		groups, from, to := c.copies, k.from, k.to
		if k.arena != nil {
			// States are encoded in place, which is no mere reading of them.
			groups, from, to = c.newGroups(), 0, k.to-k.from
			if err := groups.addRange(k.arena, k.from, k.to); err != nil {
				return scratch, err
			}
		}
		scratch = groups.appendChunk(scratch[:0], from, to)
		if err := fn(k.window, k.number, scratch); err != nil {
			return scratch, err
		}
	}
	return scratch, nil
}

func appendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// Group is one group as a chunk holds it. Its slices alias the chunk.
type Group struct {
	Hash   uint64
	Key    []byte
	States [][]byte
}

// ReadChunk calls fn for each group of a chunk with this number of kept
// aggregates. The Group is valid during the call only.
func ReadChunk(chunk []byte, states int, fn func(*Group) error) error {
	r := chunkReader{chunk}
	version := r.bytes(1)
	if version == nil {
		return fmt.Errorf("chunk without version: %w", storage.ErrCorrupt)
	}
	if version[0] > chunkVersion {
		return fmt.Errorf("chunk of version %d: %w", version[0], storage.ErrTooNew)
	}
	g := Group{States: make([][]byte, states)}
	for range r.uvarint() {
		h := r.bytes(8)
		if h == nil {
			return fmt.Errorf("chunk ends early: %w", storage.ErrCorrupt)
		}
		g.Hash = binary.LittleEndian.Uint64(h)
		g.Key = r.bytes(int(r.uvarint()))
		for i := range g.States {
			n := r.bytes(4)
			if n == nil {
				return fmt.Errorf("chunk ends early: %w", storage.ErrCorrupt)
			}
			g.States[i] = r.bytes(int(binary.LittleEndian.Uint32(n)))
			if g.States[i] == nil {
				return fmt.Errorf("chunk ends early: %w", storage.ErrCorrupt)
			}
		}
		if g.Key == nil {
			return fmt.Errorf("chunk ends early: %w", storage.ErrCorrupt)
		}
		if err := fn(&g); err != nil {
			return err
		}
	}
	if len(r.rest) != 0 {
		return fmt.Errorf("chunk has %d bytes after its last group: %w", len(r.rest), storage.ErrCorrupt)
	}
	return nil
}

// LoadChunk adds the groups of a chunk, which is the next one of the arena.
func (a *Arena) LoadChunk(chunk []byte) error {
	return ReadChunk(chunk, len(a.States), func(g *Group) error {
		group, added := a.Find(g.Hash, g.Key)
		if !added {
			return fmt.Errorf("group twice: %w", storage.ErrCorrupt)
		}
		a.Grow()
		for i, s := range a.States {
			if err := s.Merge(group, g.States[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// chunkReader reads from the front of a slice; nil says that it ended early.
type chunkReader struct{ rest []byte }

func (r *chunkReader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *chunkReader) uvarint() uint64 {
	v, k := binary.Uvarint(r.rest)
	if k <= 0 || v > 1<<31 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[k:]
	return v
}
