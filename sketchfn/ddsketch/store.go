package ddsketch

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
)

// maxBins is the largest number of neighbouring bins of one sign.
const maxBins = 2048

// maxBin is beyond the bins of all floats at the smallest alpha.
const maxBin = 1 << 23

// store counts values by bin; bin base+i is counts[i]. The first and the last
// count are not 0.
type store struct {
	base      int32
	collapsed bool // the first bin has values of lower ones
	counts    []uint64
	total     uint64
}

func (s *store) top() int32 { return s.base + int32(len(s.counts)) - 1 }

// add counts n values of a bin.
func (s *store) add(bin int32, n uint64) {
	if s.total == 0 {
		s.base, s.counts = bin, cells.Make[uint64](1)
	}
	s.total += n
	lo, hi := min(s.base, bin), max(s.top(), bin)
	lo = max(lo, hi-maxBins+1)
	if lo != s.base || hi != s.top() {
		s.cover(lo, hi)
	}
	if bin < lo {
		bin, s.collapsed = lo, true
	}
	s.counts[bin-lo] += n
}

// cover makes the bins reach from lo to hi; what is lower is counted in lo.
func (s *store) cover(lo, hi int32) {
	next := cells.Make[uint64](int(hi - lo + 1))
	for i, n := range s.counts {
		bin := s.base + int32(i)
		if bin < lo {
			s.collapsed = s.collapsed || n > 0
			bin = lo
		}
		next[bin-lo] += n
	}
	s.base, s.counts = lo, next
}

// merge adds the bins of another store.
func (s *store) merge(o *store) {
	if o.total == 0 {
		return
	}
	from := *o // o may be s
	if s.total == 0 {
		*s = store{base: from.base, counts: cells.Make[uint64](1)}
	}
	lo, hi := min(s.base, from.base), max(s.top(), from.top())
	lo = max(lo, hi-maxBins+1)
	if lo != s.base || hi != s.top() {
		s.cover(lo, hi)
	}
	counts := from.counts
	if below := min(int(lo-from.base), len(counts)); below > 0 {
		for _, n := range counts[:below] {
			s.counts[0] += n
		}
		counts = counts[below:]
	}
	if len(counts) > 0 {
		to := s.counts[max(from.base-lo, 0):][:len(counts)]
		for i, n := range counts {
			to[i] += n
		}
	}
	s.total += from.total
	s.collapsed = s.collapsed || from.collapsed || from.base < lo
}

// The portable form of a store: uvarint number of bins; if there are any, varint
// (zigzag) base, byte collapsed, uvarint count of each bin.
func (s *store) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.counts)))
	if len(s.counts) == 0 {
		return dst
	}
	dst = binary.AppendVarint(dst, int64(s.base))
	collapsed := byte(0)
	if s.collapsed {
		collapsed = 1
	}
	dst = append(dst, collapsed)
	for _, n := range s.counts {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func readStore(r *statecodec.Reader) store {
	var s store
	n := int(r.Uvarint(maxBins))
	if n == 0 || n > len(r.Rest()) {
		if n > 0 {
			r.Fail()
		}
		return s
	}
	u := r.Uvarint(2 * maxBin)
	s.base = int32(int64(u>>1) ^ -int64(u&1))
	collapsed := r.Byte()
	s.collapsed = collapsed == 1
	s.counts = cells.Make[uint64](n)
	for i := range s.counts {
		s.counts[i] = r.Uvarint(maxTotal)
		if s.total += s.counts[i]; s.total > maxTotal {
			r.Fail()
			break
		}
	}
	if collapsed > 1 || s.collapsed && n != maxBins || s.counts[0] == 0 || s.counts[n-1] == 0 {
		r.Fail()
	}
	return s
}
