package bucket

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// place is where a value is, and since when.
type place struct {
	key    int64
	bucket int32
}

func (p place) later(q place) bool { return p.key > q.key || p.key == q.key && p.bucket > q.bucket }

// cell is the state of a group: where each hash is.
type cell struct{ places map[uint64]place }

// bytesOfPlace is what a place takes in a map, by measurement.
const bytesOfPlace = 40

// shape is cells.Algebra for at most so many values; keyed says that rows have keys.
type shape struct {
	most  int
	keyed bool
}

// Add implements cells.Algebra.
func (s shape) Add(c *cell, in []*types.Vector, row int, hash uint64) error {
	p := place{bucket: int32(in[1].Ints[row])}
	if s.keyed {
		p.key = in[2].Ints[row]
	}
	return s.put(c, hash, p)
}

func (s shape) put(c *cell, hash uint64, p place) error {
	old, known := c.places[hash]
	switch {
	case known && !p.later(old):
		return nil
	case !known && len(c.places) == s.most:
		return s.tooMany()
	case c.places == nil:
		c.places = map[uint64]place{}
	}
	c.places[hash] = p
	return nil
}

func (s shape) tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d values in buckets", s.most).
		WithHint("The last argument of bucket_agg is the number of values at most.")
}

// Merge implements cells.Algebra.
func (s shape) Merge(dst, src *cell) error {
	fresh := 0
	for h := range src.places {
		if _, known := dst.places[h]; !known {
			fresh++
		}
	}
	if len(dst.places)+fresh > s.most {
		return s.tooMany()
	}
	for h, p := range src.places {
		if err := s.put(dst, h, p); err != nil {
			return err
		}
	}
	return nil
}

// The portable form, version 1, behind the version byte: uvarint number of values;
// then by their hashes each: the hash, 8 bytes little-endian, varint bucket, varint
// key.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (shape) Append(dst []byte, c *cell) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.places)))
	for _, h := range slices.Sorted(maps.Keys(c.places)) {
		p := c.places[h]
		dst = binary.LittleEndian.AppendUint64(dst, h)
		dst = binary.AppendVarint(binary.AppendVarint(dst, int64(p.bucket)), p.key)
	}
	return dst
}

// Read implements cells.Algebra.
func (s shape) Read(r *statecodec.Reader) cell {
	var c cell
	last := uint64(0)
	for i := range int(r.Uvarint(uint64(s.most))) {
		h := r.Word()
		bucket, key := varint(r), varint(r)
		if r.Bad() || i > 0 && h <= last || bucket != int64(int32(bucket)) || !s.keyed && key != 0 {
			r.Fail()
			return cell{}
		}
		last = h
		if s.put(&c, h, place{key, int32(bucket)}) != nil {
			r.Fail()
			return cell{}
		}
	}
	return c
}

func varint(r *statecodec.Reader) int64 {
	u := r.Uvarint(1<<64 - 1)
	return int64(u>>1) ^ -int64(u&1)
}

// Bytes implements cells.Algebra.
func (shape) Bytes(c *cell) int64 { return bytesOfPlace * int64(len(c.places)) }

// counts returns the buckets in order, and how many values each has.
func (c *cell) counts() (buckets []int32, counts map[int32]int64) {
	counts = map[int32]int64{}
	for _, p := range c.places {
		counts[p.bucket]++
	}
	return slices.Sorted(maps.Keys(counts)), counts
}
