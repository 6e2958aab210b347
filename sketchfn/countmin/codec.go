package countmin

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// The portable form, version 1:
//
//	version   1 byte, 1
//	form      1 byte: 0 exact, 1 counters
//	exact     uvarint number of hashes; for each in order: 8 bytes little-endian
//	          hash, uvarint count
//	counters  uvarint total; uvarint each counter, row by row
const codecV1 byte = 1

const (
	formExact    byte = 0
	formCounters byte = 1
)

// algebra is cells.Algebra for sketches of one shape.
type algebra struct{ shape }

// Add implements cells.Algebra.
func (a algebra) Add(c *cell, _ []*types.Vector, _ int, hash uint64) error {
	if c.total+1 >= maxTotal {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a frequency sketch of more than 2^60 values")
	}
	a.add(c, hash, 1)
	return nil
}

// Merge implements cells.Algebra.
func (a algebra) Merge(dst, src *cell) error { return a.merge(dst, src) }

// Bytes implements cells.Algebra.
func (algebra) Bytes(c *cell) int64 { return 16*int64(cap(c.entries)) + 8*int64(cap(c.counters)) }

// Append implements cells.Algebra.
func (a algebra) Append(dst []byte, c *cell) []byte {
	if c.counters == nil {
		dst = binary.AppendUvarint(append(dst, formExact), uint64(c.n))
		for _, e := range sorted(c) {
			dst = binary.AppendUvarint(binary.LittleEndian.AppendUint64(dst, e.hash), e.count)
		}
		return dst
	}
	dst = binary.AppendUvarint(append(dst, formCounters), c.total)
	for _, x := range c.counters {
		dst = binary.AppendUvarint(dst, x)
	}
	return dst
}

// Read implements cells.Algebra.
func (a algebra) Read(r *statecodec.Reader) cell {
	var c cell
	switch r.Byte() {
	case formExact:
		n, last := int(r.Uvarint(uint64(a.limit))), uint64(0)
		for i := range n {
			hash, count := r.Word(), r.Uvarint(maxTotal-1)
			if r.Bad() || count == 0 || i > 0 && hash <= last || c.total+count >= maxTotal {
				r.Fail()
				break
			}
			a.add(&c, hash, count)
			last = hash
		}
	case formCounters:
		c.total = r.Uvarint(maxTotal - 1)
		if len(r.Rest()) < a.width*a.depth {
			r.Fail()
			break
		}
		c.counters = cells.Make[uint64](a.width * a.depth)
		for i := range c.counters {
			c.counters[i] = r.Uvarint(c.total)
		}
		if c.total <= uint64(a.limit) {
			r.Fail()
		}
	default:
		r.Fail()
	}
	return c
}
