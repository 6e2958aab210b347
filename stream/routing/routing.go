// Package routing decides where an event goes and who it is: the keyed hash of
// its routing key, its key group and partition, and the digest by which a
// duplicate is recognised. Pure: no I/O, no clock.
//
// Invariants:
//
//  1. The hash depends on the stream's seed and the key's value only, so replay
//     and any other node compute the same one.
//  2. Key group = hash mod id.KeyGroups for the stream's life; epochs only remap
//     key groups to partitions.
package routing

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// Router routes the events of one stream.
type Router struct {
	seed       keyhash.Seed
	key        []int // columns of the routing key; empty: spread
	fallback   []int // used where the routing key is NULL
	dedup      []int
	partitions []id.Partition
	scratch    []byte
}

// New returns a router for a stream. It is used by one goroutine at a time.
func New(s *catalog.Stream) *Router {
	r := &Router{seed: s.Seed, key: s.Options.PartitionKey, dedup: s.Options.DedupKey, partitions: s.Partitions()}
	r.fallback = r.dedup
	if len(r.key) == 0 {
		r.key = r.dedup
	}
	return r
}

// Spread reports whether the stream has no routing key, so that a batch may go
// to any partition.
func (r *Router) Spread() bool { return len(r.key) == 0 }

// Deduplicates reports whether events carry an identity.
func (r *Router) Deduplicates() bool { return len(r.dedup) > 0 }

// Partition returns the partition of a routing hash in the open epoch.
func (r *Router) Partition(hash uint64) id.Partition {
	group := keyhash.Finalise(hash, keyhash.UseRouting) % id.KeyGroups
	return r.partitions[int(group)%len(r.partitions)]
}

// Hashes replaces out by the routing hash of each row. Rows of a stream without
// a routing key get 0.
func (r *Router) Hashes(b *types.Batch, out []uint64) []uint64 {
	out = slices.Grow(out[:0], b.Rows)[:b.Rows]
	switch {
	case len(r.key) == 0:
		clear(out)
	case len(r.key) == 1:
		r.hashColumn(b, b.Cols[r.key[0]], out)
	default:
		for i := range out {
			out[i] = r.hashRow(b, r.key, i)
		}
	}
	return out
}

// HashKey returns the routing hash of an event with these key values, for
// queries that name the routing key.
func (r *Router) HashKey(key []types.Datum) uint64 {
	b := &types.Batch{Rows: 1}
	cols := make([]int, len(key))
	for i, d := range key {
		b.Cols = append(b.Cols, types.Repeat(d, 1))
		cols[i] = i
	}
	one := Router{seed: r.seed, key: cols}
	return one.Hashes(b, nil)[0]
}

func (r *Router) hashColumn(b *types.Batch, v *types.Vector, out []uint64) {
	switch {
	case v.Nulls.Any():
		for i := range out {
			out[i] = r.hashRow(b, r.key, i)
		}
	case v.Type.Kind() == types.KindInt:
		for i, x := range v.Ints[:len(out)] {
			out[i] = keyhash.Sum64Int(r.seed, uint64(x))
		}
	case v.Type.Kind() == types.KindFloat:
		for i, f := range v.Floats[:len(out)] {
			out[i] = keyhash.Sum64Int(r.seed, floatBits(f))
		}
	case !bytewise(v.Type.OID):
		for i := range out {
			out[i] = r.hashRow(b, r.key, i)
		}
	default:
		data, offsets := v.Data, v.Offsets[:len(out)+1]
		for i := range out {
			out[i] = keyhash.Sum64(r.seed, data[offsets[i]:offsets[i+1]])
		}
	}
}

// bytewise reports whether equal values of a KindBytes type have equal bytes;
// where they do not (1.0 and 1.00), the key encoding decides.
func bytewise(oid types.OID) bool {
	switch oid {
	case types.Numeric, types.Interval, types.Bpchar, types.JSONB:
		return false
	default:
		return true
	}
}

// floatBits makes -0 equal 0 and every NaN equal.
func floatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if math.IsNaN(f) {
		return math.MaxUint64
	}
	return math.Float64bits(f)
}

// hashRow hashes the columns of one row; where the first of one column is NULL,
// the fallback columns. It agrees with hashColumn on rows without NULL.
func (r *Router) hashRow(b *types.Batch, cols []int, row int) uint64 {
	if len(cols) == 1 {
		v := b.Cols[cols[0]]
		switch {
		case v.IsNull(row) && len(r.fallback) > 0 && !slices.Equal(cols, r.fallback):
			return r.hashRow(b, r.fallback, row)
		case v.IsNull(row):
			return keyhash.Sum64(r.seed, []byte{0xFF})
		case v.Type.Kind() == types.KindInt:
			return keyhash.Sum64Int(r.seed, uint64(v.Ints[row]))
		case v.Type.Kind() == types.KindFloat:
			return keyhash.Sum64Int(r.seed, floatBits(v.Floats[row]))
		case bytewise(v.Type.OID):
			return keyhash.Sum64(r.seed, v.Bytes(row))
		}
	}
	r.scratch = r.scratch[:0]
	for _, c := range cols {
		r.scratch = types.AppendKey(r.scratch, b.Cols[c], row)
	}
	return keyhash.Sum64(r.seed, r.scratch)
}

// Digest is the 128-bit keyed identity of an event: of its routing key and its
// update id.
type Digest struct{ Lo, Hi uint64 }

// Digests replaces out by the identity of each row, given the routing hashes.
func (r *Router) Digests(b *types.Batch, hashes []uint64, out []Digest) []Digest {
	out = slices.Grow(out[:0], b.Rows)[:b.Rows]
	buf := r.scratch[:0]
	var single *types.Vector
	if len(r.dedup) == 1 && b.Cols[r.dedup[0]].Type.Kind() != types.KindFloat && bytewise(b.Cols[r.dedup[0]].Type.OID) {
		single = b.Cols[r.dedup[0]]
	}
	if single != nil && single.Type.Kind() == types.KindInt {
		for i, x := range single.Ints[:len(out)] {
			lo, hi := keyhash.Sum128Pair(r.seed, hashes[i], uint64(x))
			out[i] = digestOf(lo, hi)
		}
		return out
	}
	for i := range out {
		buf = binary.LittleEndian.AppendUint64(buf[:0], hashes[i])
		switch {
		case single != nil:
			buf = append(buf, single.Bytes(i)...)
		default:
			for _, c := range r.dedup {
				buf = types.AppendKey(buf, b.Cols[c], i)
			}
		}
		out[i] = digestOf(keyhash.Sum128(r.seed, buf))
	}
	r.scratch = buf
	return out
}

// digestOf makes a digest that is never zero, which marks a free slot in tables.
func digestOf(lo, hi uint64) Digest {
	if lo|hi == 0 {
		lo = 1
	}
	return Digest{lo, hi}
}
