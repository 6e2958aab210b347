package hll

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
)

// The portable form, version 1:
//
//	version  1 byte, 1
//	p        1 byte
//	form     1 byte: 0 sparse, 1 dense
//	sparse   uvarint number of coupons; the first coupon, then the differences
//	         of the sorted coupons, as uvarints
//	dense    1 byte base, the smallest register; 2^p nibbles, low one first: the
//	         register less the base, 15 where it is 15 or more; for each of
//	         these, in order, a byte: the register less the base, less 15
const codecV1 byte = 1

const (
	formSparse byte = 0
	formDense  byte = 1
	escape          = 15
)

// Append implements agg.States.
func (s *States) Append(dst []byte, group uint32) []byte {
	dst = append(dst, codecV1, byte(s.p))
	slot := s.slots[group]
	if slot.class == denseClass {
		return appendRegisters(append(dst, formDense), s.dense.Block(0, slot.ref))
	}
	coupons := s.coupons(slot)
	slices.Sort(coupons)
	dst = binary.AppendUvarint(append(dst, formSparse), uint64(len(coupons)))
	last := uint32(0)
	for _, c := range coupons {
		dst = binary.AppendUvarint(dst, uint64(c-last))
		last = c
	}
	return dst
}

func appendRegisters(dst []byte, registers []uint8) []byte {
	base := slices.Min(registers)
	dst = append(dst, base)
	for i := 0; i < len(registers); i += 2 {
		lo, hi := min(registers[i]-base, escape), min(registers[i+1]-base, escape)
		dst = append(dst, lo|hi<<4)
	}
	for _, r := range registers {
		if r-base >= escape {
			dst = append(dst, r-base-escape)
		}
	}
	return dst
}

// Merge implements agg.States.
func (s *States) Merge(group uint32, state []byte) error {
	r := statecodec.NewReader("hll", codecV1, state)
	if r.Byte() != byte(s.p) {
		r.Fail()
	}
	switch r.Byte() {
	case formSparse:
		s.readCoupons(&r)
		if err := r.Done(); err != nil {
			return err
		}
		s.addCoupons(group, s.scratch)
		return nil
	case formDense:
		s.readRegisters(&r)
		if err := r.Done(); err != nil {
			return err
		}
		s.mergeRegisters(group, s.decoded)
		return nil
	}
	return statecodec.Corrupt("hll")
}

// readCoupons reads sorted coupons into scratch.
func (s *States) readCoupons(r *statecodec.Reader) {
	out := s.scratch[:0]
	n := int(r.Uvarint(uint64(maxCoupons(s.p))))
	b := r.Rest()
	last := uint64(0)
	for i := range n {
		x, size := uvarint32(b)
		c := last + uint64(x)
		if rank := c & 63; size == 0 || c >= 1<<32 || rank == 0 || rank > s.maxRank() || i > 0 && c>>6 <= last>>6 {
			r.Fail()
			break
		}
		last, b = c, b[size:]
		out = append(out, uint32(c))
	}
	r.Bytes(len(r.Rest()) - len(b))
	s.scratch = out
}

// uvarint32 reads a varint of 32 bits in its shortest form; size is 0 if there is none.
func uvarint32(b []byte) (x uint32, size int) {
	for i, c := range b {
		if c < 0x80 {
			if i == 4 && c > 15 || i > 0 && c == 0 {
				return 0, 0
			}
			return x | uint32(c)<<(7*i), i + 1
		}
		if i == 4 {
			return 0, 0
		}
		x |= uint32(c&0x7f) << (7 * i)
	}
	return 0, 0
}

// readRegisters reads registers into decoded.
func (s *States) readRegisters(r *statecodec.Reader) {
	m := 1 << s.p
	if s.decoded == nil {
		s.decoded = make([]uint8, m)
	}
	base := r.Byte()
	largest := uint8(64 - s.p + 1)
	if base > largest {
		r.Fail()
	}
	nibbles := r.Bytes(m / 2)
	if r.Bad() {
		return
	}
	escapes := spread(s.decoded, nibbles, base)
	extra := r.Bytes(escapes)
	if r.Bad() {
		return
	}
	if escapes > 0 || base+escape > largest {
		s.readEscapes(r, base, largest, extra)
	}
	if bytes.IndexByte(s.decoded, base) < 0 {
		r.Fail()
	}
}

// readEscapes adds the bytes behind the nibbles, and checks the ranks.
func (s *States) readEscapes(r *statecodec.Reader, base, largest uint8, extra []byte) {
	for i, x := range s.decoded {
		if x == base+escape {
			if extra[0] > largest {
				r.Fail()
				return
			}
			x += extra[0]
			s.decoded[i], extra = x, extra[1:]
		}
		if x > largest {
			r.Fail()
			return
		}
	}
}
