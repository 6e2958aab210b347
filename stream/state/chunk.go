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

// Changes holds chunks of arenas that changed, copied, so that they can be encoded
// while the arenas go on.
type Changes struct {
	groups *Groups
	chunks []changedChunk
}

type changedChunk struct {
	window   eventtime.Time // start
	number   int
	from, to int // groups
}

// NewChanges returns no chunks. groups is empty and holds all states.
func NewChanges(groups *Groups) *Changes { return &Changes{groups: groups} }

// Take copies the chunks of an arena that changed since they were last taken.
func (c *Changes) Take(a *Arena) error {
	for n := range (a.Groups() + ChunkGroups - 1) / ChunkGroups {
		if !a.dirty.Has(n) {
			continue
		}
		from := c.groups.Len()
		if err := c.groups.addRange(a, n*ChunkGroups, min((n+1)*ChunkGroups, a.Groups())); err != nil {
			return err
		}
		c.chunks = append(c.chunks, changedChunk{a.Window.Start, n, from, c.groups.Len()})
	}
	clear(a.dirty)
	return nil
}

// Encode calls fn with the window, the number and the portable form of each chunk,
// which is valid during the call only.
func (c *Changes) Encode(scratch []byte, fn func(window eventtime.Time, number int, chunk []byte) error) ([]byte, error) {
	for _, k := range c.chunks {
		scratch = c.groups.appendChunk(scratch[:0], k.from, k.to)
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
