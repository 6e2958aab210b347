package hll

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// The format of HllSketch in Apache DataSketches, serial version 1. A coupon there
// is value<<26 | address; the low lgK bits of the address are the register, where
// we take the high ones of the index. So addresses are indexes read backwards.
const (
	dsFamily  byte = 7
	dsVersion byte = 1

	dsModeMask  = 3 // of byte 7
	dsModeList  = 0
	dsModeSet   = 1
	dsModeDense = 2
	dsHLL4      = 0 // bits 2 and 3 of byte 7
	dsHLL6      = 1
	dsHLL8      = 2

	dsFlagEmpty   = 4 // of byte 5
	dsFlagCompact = 8
	dsFlagMerged  = 16 // the estimate comes from the registers, not from their history

	dsListStart  = 8
	dsSetStart   = 12
	dsDenseStart = 40
	dsFullList   = 8 // coupons of a list that is about to be a set
)

func reverseIndex(x uint32, width uint) uint32 { return bits.Reverse32(x) >> (32 - width) }

// export writes a list, a set or an array of 8-bit registers. A coupon's value is
// the rank at the sketch's own precision, so that sparse and dense exports of the
// same values agree.
func export(v value.Opened) ([]byte, error) {
	s := v.States.(*States)
	slot := s.slots[0]
	p := s.p
	if slot.class == denseClass {
		return exportDense(s.dense.Block(0, slot.ref), p), nil
	}
	coupons := slices.Clone(s.coupons(slot))
	slices.Sort(coupons)
	for i, c := range coupons {
		_, rank := s.registerOfCoupon(c)
		if s.foreign {
			rank = uint8(c & 63)
		}
		coupons[i] = uint32(rank)<<sparseBits | reverseIndex(c>>6, sparseBits)
	}
	head := []byte{2, dsVersion, dsFamily, byte(p), 3, dsFlagCompact, 0, dsModeList | dsHLL8<<2}
	switch n := len(coupons); {
	case n == 0:
		head[5] |= dsFlagEmpty
	case n < dsFullList:
		head[6] = byte(n)
	case p > 7 && n <= 3<<p/32:
		lgArr := 5
		for n*4 > 3<<lgArr {
			lgArr++
		}
		head[0], head[4], head[7] = 3, byte(lgArr), dsModeSet|dsHLL8<<2
		head = binary.LittleEndian.AppendUint32(head, uint32(n))
	default:
		s.densify(&s.slots[0])
		return exportDense(s.registers(0), p), nil
	}
	for _, c := range coupons {
		head = binary.LittleEndian.AppendUint32(head, c)
	}
	return head, nil
}

func exportDense(registers []uint8, p uint) []byte {
	out := make([]byte, dsDenseStart+len(registers))
	copy(out, []byte{10, dsVersion, dsFamily, byte(p), 0, dsFlagCompact | dsFlagMerged, 0, dsModeDense | dsHLL8<<2})
	var low, high float64 // sums of 2^-rank, apart so that none is lost
	zeros := uint32(0)
	for i, r := range registers {
		out[dsDenseStart+reverseIndex(uint32(i), p)] = r
		if r < 32 {
			low += math.Ldexp(1, -int(r))
		} else {
			high += math.Ldexp(1, -int(r))
		}
		if r == 0 {
			zeros++
		}
	}
	binary.LittleEndian.PutUint64(out[16:], math.Float64bits(low))
	binary.LittleEndian.PutUint64(out[24:], math.Float64bits(high))
	binary.LittleEndian.PutUint32(out[32:], zeros)
	return out
}

// importDataSketches reads any of their forms.
func importDataSketches(b []byte, _ string) (value.Value, error) {
	bad := value.NotDataSketches("an HLL sketch")
	p := uint(b[3])
	if b[1] != dsVersion || p < MinPrecision || p > 21 {
		return value.Value{}, bad
	}
	if p > MaxPrecision {
		return value.Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "HLL sketches of lgK %d are not supported, up to %d are", p, MaxPrecision)
	}
	spec := spec{typ: foreignTypeName, p: p, foreign: true}
	s := spec.New(agg.Config{Seed: keyhash.Seed{}}).(*States)
	s.Grow(1)
	var ok bool
	switch b[7] & dsModeMask {
	case dsModeDense:
		ok = s.importDense(b)
	case dsModeSet, dsModeList:
		ok = s.importCoupons(b)
	}
	if !ok {
		return value.Value{}, bad
	}
	return value.Value{SeedID: value.DataSketchesSeed, Kind: spec.kind(), State: s.Append(nil, 0)}, nil
}

// importCoupons reads a list, or a set with or without its free places.
func (s *States) importCoupons(b []byte) bool {
	n, at := int(b[6]), dsListStart
	if b[7]&dsModeMask == dsModeSet {
		if len(b) < dsSetStart {
			return false
		}
		n, at = int(binary.LittleEndian.Uint32(b[8:])), dsSetStart
		if b[5]&dsFlagCompact == 0 {
			n = 1 << min(b[4], 26)
		}
	}
	if b[5]&dsFlagEmpty != 0 {
		n = 0
	}
	if n > (len(b)-at)/4 {
		return false
	}
	for i := range n {
		c := binary.LittleEndian.Uint32(b[at+4*i:])
		if c == 0 {
			continue
		}
		rank := c >> sparseBits
		if rank == 0 {
			return false
		}
		s.addCoupon(&s.slots[0], reverseIndex(c&(1<<sparseBits-1), sparseBits)<<6|rank)
	}
	return true
}

// importDense reads registers of four, six or eight bits.
func (s *States) importDense(b []byte) bool {
	k := 1 << s.p
	width := map[byte]int{dsHLL4: k / 2, dsHLL6: k*3/4 + 1, dsHLL8: k}[b[7]>>2&3]
	if width == 0 || len(b) < dsDenseStart+width {
		return false
	}
	array, rest := b[dsDenseStart:dsDenseStart+width], b[dsDenseStart+width:]
	s.densify(&s.slots[0])
	registers := s.registers(0)
	put := func(slot int, rank uint32) {
		registers[reverseIndex(uint32(slot), s.p)] = uint8(min(rank, uint32(64-s.p+1)))
	}
	switch b[7] >> 2 & 3 {
	case dsHLL8:
		for i, x := range array {
			if x > 63 {
				return false
			}
			put(i, uint32(x))
		}
	case dsHLL6:
		for i := range k {
			bit := 6 * i
			put(i, uint32(binary.LittleEndian.Uint16(array[bit/8:])>>(bit%8))&63)
		}
	case dsHLL4:
		for i := range k {
			put(i, uint32(b[6])+uint32(array[i/2]>>(4*(i%2))&15))
		}
		return importExceptions(b, rest, k, put)
	}
	return true
}

// importExceptions reads the registers that do not fit into four bits, which
// stand behind them as slot and rank.
func importExceptions(b, rest []byte, k int, put func(int, uint32)) bool {
	n := int(binary.LittleEndian.Uint32(b[36:]))
	if n > 0 && b[5]&dsFlagCompact == 0 {
		n = 1 << min(b[4], 26)
	}
	if n > len(rest)/4 {
		return false
	}
	for i := range n {
		if c := binary.LittleEndian.Uint32(rest[4*i:]); c != 0 {
			put(int(c)&(k-1), c>>sparseBits)
		}
	}
	return true
}
