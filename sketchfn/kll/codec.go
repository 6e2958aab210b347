package kll

import (
	"encoding/binary"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
)

// The portable form, version 2, with words of 8 bytes little-endian:
//
//	version  1 byte, 2
//	levels   1 byte: 0 for no value, 1 for all values
//	more     uvarint coins tossed; word smallest key, word largest key
//	1 or more levels: uvarint size of each; the sorted keys of each, as
//	         statecodec.AppendSorted has them
//
// In version 1 keys are words; of one level the size is what the rest is.
const (
	codecV1 byte = 1
	codecV2 byte = 2
)

// Append implements agg.States.
func (s *States) Append(dst []byte, group uint32) []byte {
	block, m := s.read(group)
	if m.retained() == 0 {
		return append(dst, codecV2, 0)
	}
	dst = slices.Grow(dst, 8*m.retained()+64)
	dst = append(dst, codecV2, byte(m.levels))
	if m.levels > 1 {
		dst = binary.AppendUvarint(dst, m.coins)
		dst = binary.LittleEndian.AppendUint64(dst, m.min)
		dst = binary.LittleEndian.AppendUint64(dst, m.max)
	}
	for h := range int(m.levels) {
		dst = binary.AppendUvarint(dst, uint64(m.size(h)))
	}
	s.keys = append(s.keys[:0], m.level(block, 0)...)
	slices.Sort(s.keys)
	dst = statecodec.AppendSorted(dst, s.keys)
	for h := 1; h < int(m.levels); h++ {
		dst = statecodec.AppendSorted(dst, m.level(block, h))
	}
	return dst
}

// Merge implements agg.States.
func (s *States) Merge(group uint32, state []byte) error {
	r := statecodec.NewReader("kll", codecV2, state)
	m := meta{levels: int32(r.Byte())}
	switch {
	case r.Bad() || m.levels > maxLevels:
		return statecodec.Corrupt("kll")
	case m.levels == 0:
		return r.Done()
	case m.levels == 1:
		n := len(r.Rest()) / 8
		if r.Version() > codecV1 {
			n = int(r.Uvarint(uint64(s.raw())))
		}
		if n == 0 || n > s.raw() {
			r.Fail()
		}
		m.bounds[1] = uint16(n)
	default:
		s.readHeader(&r, &m)
	}
	s.readKeys(&r, &m)
	if err := r.Done(); err != nil {
		return err
	}
	return s.merge(group, s.decoded, &m)
}

// readHeader reads what stands before the keys of a sketch of several levels.
func (s *States) readHeader(r *statecodec.Reader, m *meta) {
	m.coins = r.Uvarint(1<<63 - 1)
	m.min, m.max = r.Word(), r.Word()
	total, weight := 0, uint64(0)
	for h := range int(m.levels) {
		n := int(r.Uvarint(uint64(s.total[m.levels])))
		total += n
		if total > s.total[m.levels] || uint64(n) >= maxWeight>>h {
			r.Fail()
			return
		}
		m.bounds[h+1] = uint16(total)
		weight += uint64(n) << h
	}
	if m.coins == 0 || weight >= maxWeight || m.size(int(m.levels)-1) == 0 {
		r.Fail()
	}
}

// readKeys reads the levels into s.decoded.
func (s *States) readKeys(r *statecodec.Reader, m *meta) {
	n := m.retained()
	s.decoded = slices.Grow(s.decoded[:0], n)
	if r.Version() == codecV1 {
		for range n {
			s.decoded = append(s.decoded, r.Word())
		}
	} else {
		for h := range int(m.levels) {
			s.decoded = r.Sorted(s.decoded, m.size(h))
		}
	}
	if r.Bad() {
		return
	}
	for h := range int(m.levels) {
		level := m.level(s.decoded, h)
		if !s.validLevel(level) || m.levels > 1 && len(level) > 0 && (level[0] < m.min || level[len(level)-1] > m.max) {
			r.Fail()
			return
		}
	}
	if m.levels > 1 && s.valid != nil && !(s.valid(m.min) && s.valid(m.max)) {
		r.Fail()
	}
}

// validLevel reports whether the keys are sorted and keys.
func (s *States) validLevel(level []uint64) bool {
	for i := 1; i < len(level); i++ {
		if level[i-1] > level[i] {
			return false
		}
	}
	if s.valid != nil {
		for _, key := range level {
			if !s.valid(key) {
				return false
			}
		}
	}
	return true
}
