package state

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Key layout (docs/format/state.md). Every key begins with 's', the tenant, the
// relation and the partition, big-endian, so that all that belongs together is
// one range and goes with one range deletion.
const (
	prefix = 's'

	kindAdmit    = 'a' // of a stream: applied offset, watermark, counters
	kindVerdict  = 'v' // of a stream, by offset: which rows were not admitted
	kindDedup    = 'd' // of a stream, by number: seen ids
	kindSide     = 'x' // of a stream or view, by kind and offset: rows set aside
	kindViewMeta = 'm' // of a view: applied offset, counters
	kindWindow   = 'w' // of a view, by window and chunk: groups
)

// Keys makes the keys of one relation's state in one partition.
type Keys struct{ base []byte }

// KeysOf returns the keys of a stream or view in a partition.
func KeysOf(tenant id.Tenant, relation id.Relation, p id.Partition) Keys {
	b := RelationPrefix(tenant, relation)
	return Keys{binary.BigEndian.AppendUint32(b, uint32(p))}
}

// RelationPrefix is the prefix of all state of a relation.
func RelationPrefix(tenant id.Tenant, relation id.Relation) []byte {
	return binary.BigEndian.AppendUint32(TenantPrefix(tenant), uint32(relation))
}

// RelationOf returns the relation in a key of state.
func RelationOf(key []byte) (id.Relation, error) {
	if len(key) < 9 {
		return 0, fmt.Errorf("state key of %d bytes: %w", len(key), storage.ErrCorrupt)
	}
	return id.Relation(binary.BigEndian.Uint32(key[5:])), nil
}

// TenantPrefix is the prefix of all state of a tenant.
func TenantPrefix(tenant id.Tenant) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefix}, uint32(tenant))
}

func (k Keys) with(kind byte, parts ...uint64) []byte {
	b := append(append(make([]byte, 0, len(k.base)+1+8*len(parts)), k.base...), kind)
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, p)
	}
	return b
}

// Admit is the key of the admit state.
func (k Keys) Admit() []byte { return k.with(kindAdmit) }

// Verdict is the key of the verdict on the record at an offset.
func (k Keys) Verdict(o id.Offset) []byte { return k.with(kindVerdict, uint64(o)) }

// Dedup is the key of a chunk of seen ids; Dedup(0) is the first.
func (k Keys) Dedup(number uint64) []byte { return k.with(kindDedup, number) }

// DedupEnd is the key after the last chunk of seen ids.
func (k Keys) DedupEnd() []byte { return k.with(kindDedup + 1) }

// DedupNumber returns the number in a key that Dedup made.
func (k Keys) DedupNumber(key []byte) (uint64, error) {
	if len(key) != len(k.base)+9 {
		return 0, fmt.Errorf("dedup key of %d bytes: %w", len(key), storage.ErrCorrupt)
	}
	return binary.BigEndian.Uint64(key[len(k.base)+1:]), nil
}

// Side is the key of the rows set aside from the record at an offset.
func (k Keys) Side(kind SideKind, o id.Offset) []byte {
	return k.with(kindSide, uint64(kind), uint64(o))
}

// SideEnd is the key after the last row set aside of this kind.
func (k Keys) SideEnd(kind SideKind) []byte { return k.with(kindSide, uint64(kind)+1) }

// SideOffset returns the offset in a key that Side made.
func (k Keys) SideOffset(key []byte) (id.Offset, error) {
	if len(key) != len(k.base)+17 {
		return 0, fmt.Errorf("side key of %d bytes: %w", len(key), storage.ErrCorrupt)
	}
	return id.Offset(binary.BigEndian.Uint64(key[len(k.base)+9:])), nil
}

// ViewMeta is the key of a view's progress.
func (k Keys) ViewMeta() []byte { return k.with(kindViewMeta) }

// Chunk is the key of a chunk of a window.
func (k Keys) Chunk(w eventtime.Time, number int) []byte {
	return k.with(kindWindow, uint64(w)^(1<<63), uint64(number))
}

// WindowRange is the range of all chunks of windows that begin in [from, to].
func (k Keys) WindowRange(from, to eventtime.Time) (first, end []byte) {
	first = k.with(kindWindow, uint64(from)^(1<<63))
	if to == eventtime.Max {
		return first, k.with(kindWindow + 1)
	}
	return first, k.with(kindWindow, uint64(to+1)^(1<<63))
}

// WindowOf returns the window start in a key that Chunk made.
func (k Keys) WindowOf(key []byte) (eventtime.Time, error) {
	if len(key) != len(k.base)+17 {
		return 0, fmt.Errorf("window key of %d bytes: %w", len(key), storage.ErrCorrupt)
	}
	return eventtime.Time(binary.BigEndian.Uint64(key[len(k.base)+1:]) ^ (1 << 63)), nil
}

// SideKind says why a row was set aside. Numbers are part of the format.
type SideKind uint8

// Kinds of rows set aside.
const (
	SideRejected SideKind = 1 // of a stream: refused at ingest or at admission
	SideLate     SideKind = 2 // of a view: after the window closed
	SideErrors   SideKind = 3 // of a view: an expression failed
)
