package state

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/storage"
)

// chunkVersion is the first byte of a chunk.
const chunkVersion = 1

// A chunk is: version, groups (uvarint); then for each group its hash (8 bytes),
// its key and, for each kept aggregate, its state, each with its length (uvarint).

func (a *Arena) appendChunk(dst []byte, number int) []byte {
	first := number * ChunkGroups
	last := min(first+ChunkGroups, a.Groups())
	dst = append(dst, chunkVersion)
	dst = binary.AppendUvarint(dst, uint64(last-first))
	for g := first; g < last; g++ {
		dst = binary.LittleEndian.AppendUint64(dst, a.hashes[g])
		dst = appendBytes(dst, a.Key(g))
		for _, s := range a.States {
			at := len(dst)
			dst = append(dst, 0, 0, 0, 0) // room for the length
			dst = s.Append(dst, uint32(g))
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
	}
	return dst
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
