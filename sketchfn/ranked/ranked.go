package ranked

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Entry is a row that is kept.
type Entry struct{ Key, Payload []byte }

func compare(a, b Entry) int {
	if c := bytes.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return bytes.Compare(a.Payload, b.Payload)
}

// Cell is the state of a group.
type Cell struct {
	Entries []Entry // sorted
	Seen    uint64  // rows, kept or not; 0 where keys are unique, so that merging twice changes nothing
	bytes   int64
}

// Algebra is cells.Algebra for the smallest entries.
type Algebra struct {
	N      int  // entries kept
	Unique bool // rows with equal keys are one row
	// Row appends the key and the payload of a row.
	Row func(key, payload []byte, in []*types.Vector, row int, hash uint64) ([]byte, []byte)
	// Valid checks an entry that was read.
	Valid func(e Entry) bool

	key, payload []byte
}

// maxSeen limits the rows of a group.
const maxSeen = 1 << 60

// Add implements cells.Algebra.
func (a *Algebra) Add(c *Cell, in []*types.Vector, row int, hash uint64) error {
	if c.Seen >= maxSeen {
		return tooMany()
	}
	if !a.Unique {
		c.Seen++
	}
	a.key, a.payload = a.Row(a.key[:0], a.payload[:0], in, row, hash)
	if e := (Entry{a.key, a.payload}); a.admits(c, e) {
		both := append(slices.Clone(a.key), a.payload...)
		a.insert(c, Entry{both[:len(a.key):len(a.key)], both[len(a.key):]})
	}
	return nil
}

func tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "an aggregate of more than 2^60 rows")
}

// admits reports whether an entry may be among the kept ones.
func (a *Algebra) admits(c *Cell, e Entry) bool {
	n := len(c.Entries)
	return n < a.N || compare(e, c.Entries[n-1]) < 0
}

// insert puts an entry in its place; the cell owns its bytes.
func (a *Algebra) insert(c *Cell, e Entry) {
	at, _ := slices.BinarySearchFunc(c.Entries, e, compare)
	if a.Unique {
		// Of equal keys, the smaller payload stays.
		if at > 0 && bytes.Equal(c.Entries[at-1].Key, e.Key) {
			return
		}
		if at < len(c.Entries) && bytes.Equal(c.Entries[at].Key, e.Key) {
			c.bytes += size(e) - size(c.Entries[at])
			c.Entries[at] = e
			return
		}
	}
	c.Entries = slices.Insert(c.Entries, at, e)
	c.bytes += size(e)
	if len(c.Entries) > a.N {
		c.bytes -= size(c.Entries[a.N])
		c.Entries[a.N] = Entry{}
		c.Entries = c.Entries[:a.N]
	}
}

func size(e Entry) int64 { return int64(cap(e.Key) + cap(e.Payload)) }

// Merge implements cells.Algebra.
func (a *Algebra) Merge(dst, src *Cell) error {
	if dst.Seen+src.Seen >= maxSeen {
		return tooMany()
	}
	dst.Seen += src.Seen
	for _, e := range slices.Clone(src.Entries) { // dst may be src
		if !a.admits(dst, e) {
			break
		}
		a.insert(dst, e)
	}
	return nil
}

// CodecV1 is the version of the portable form, behind the version byte: uvarint
// rows seen; uvarint number of entries; for each uvarint length and bytes of the
// key and of the payload.
const CodecV1 byte = 1

// Append implements cells.Algebra.
func (a *Algebra) Append(dst []byte, c *Cell) []byte {
	dst = binary.AppendUvarint(dst, c.Seen)
	dst = binary.AppendUvarint(dst, uint64(len(c.Entries)))
	for _, e := range c.Entries {
		for _, b := range [][]byte{e.Key, e.Payload} {
			dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
		}
	}
	return dst
}

// Read implements cells.Algebra.
func (a *Algebra) Read(r *statecodec.Reader) Cell {
	c := Cell{Seen: r.Uvarint(maxSeen - 1)}
	n := int(r.Uvarint(uint64(a.N)))
	for i := range n {
		e := Entry{Key: bytes.Clone(r.Bytes(int(r.Uvarint(uint64(len(r.Rest()))))))}
		e.Payload = bytes.Clone(r.Bytes(int(r.Uvarint(uint64(len(r.Rest()))))))
		if r.Bad() || !a.Valid(e) || i > 0 && a.disordered(c.Entries[i-1], e) {
			r.Fail()
			return Cell{}
		}
		c.Entries = append(c.Entries, e)
		c.bytes += size(e)
	}
	if a.Unique && c.Seen != 0 || !a.Unique && (c.Seen < uint64(n) || n < a.N && c.Seen != uint64(n)) {
		r.Fail()
	}
	return c
}

func (a *Algebra) disordered(before, e Entry) bool {
	if a.Unique {
		return bytes.Compare(before.Key, e.Key) >= 0
	}
	return compare(before, e) > 0
}

// Bytes implements cells.Algebra.
func (a *Algebra) Bytes(c *Cell) int64 {
	return c.bytes + int64(cap(c.Entries))*int64(unsafe.Sizeof(Entry{}))
}
