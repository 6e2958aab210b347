package theta

import (
	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/types"
)

const codecV1 byte = 1

// algebra is cells.Algebra for samples of at most k hashes.
type algebra struct {
	shape
	*scratch
}

// scratch is memory of merges, which lasts as long as it is small.
type scratch struct{ first, second, united buffer }

// buffer is memory for hashes.
type buffer struct{ hashes []uint64 }

// keptScratch is how many hashes a buffer keeps room for: those of merges of the default
// k.
const keptScratch = 1 << 15

// ScratchBytes implements cells.Scratch.
func (s *scratch) ScratchBytes() int64 {
	return 8 * int64(cap(s.first.hashes)+cap(s.second.hashes)+cap(s.united.hashes))
}

// room returns an empty array with room for n hashes and one more.
func (b *buffer) room(n int) []uint64 {
	if cap(b.hashes) > n {
		return b.hashes[:0]
	}
	out := cells.Make[uint64](n + 1)
	if cap(out) <= keptScratch {
		b.hashes = out
	}
	return out[:0]
}

var _ cells.Algebra[cell] = algebra{}

// Add implements cells.Algebra.
func (a algebra) Add(c *cell, _ []*types.Vector, _ int, hash uint64) error {
	if h := max(hash>>1, 1); h < c.theta() {
		a.insert(c, h)
	}
	return nil
}

// Fold implements cells.Bulk.
func (a algebra) Fold(c []cell, groups []uint32, _ []int32, _ *types.Vector, hashes []uint64) (bytes int64, failed int, err error) {
	for i, hash := range hashes[:len(groups)] {
		to := &c[groups[i]]
		if h := max(hash>>1, 1); h < to.theta() {
			before := to.set.bytes()
			a.insert(to, h)
			bytes += to.set.bytes() - before
		}
	}
	return bytes, 0, nil
}

// Merge implements cells.Algebra.
func (a algebra) Merge(dst, src *cell) error {
	if dst == src {
		return nil
	}
	if dst.set.n == 0 && dst.cut == 0 {
		in := Sample{Theta: src.theta(), Hashes: src.set.below(0, src.theta(), a.first.room(int(src.set.n)))}.trim(a.k)
		*dst = cell{maxTheta - in.Theta, arrayOf(in.Hashes)}
		return nil
	}
	a.join(dst, src)
	return nil
}

// Append implements cells.Algebra.
func (a algebra) Append(dst []byte, c *cell) []byte { return a.sample(c).append(dst) }

// Read implements cells.Algebra.
func (a algebra) Read(r *statecodec.Reader) cell {
	in := Sample{Theta: r.Word()}
	if in.Theta == 0 || in.Theta > maxTheta {
		r.Fail()
	}
	n := int(r.Uvarint(uint64(a.k)))
	if n > len(r.Rest())/8 {
		r.Fail()
		return cell{}
	}
	last := uint64(0)
	for range n {
		h := r.Word()
		if h <= last || h >= in.Theta {
			r.Fail()
			return cell{}
		}
		in.Hashes = append(in.Hashes, h)
		last = h
	}
	return cell{maxTheta - in.Theta, arrayOf(in.Hashes)}
}

// Bytes implements cells.Algebra.
func (a algebra) Bytes(c *cell) int64 { return c.set.bytes() }
