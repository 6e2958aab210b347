package hll

import (
	"github.com/tallydb/tallydb/sketchfn/slab"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// States is an array of HyperLogLogs of one precision. An empty group and one of
// a single value take eight bytes; coupons live in open-addressing tables.
type States struct {
	p       uint
	foreign bool // coupons are those of Apache DataSketches
	seedID  uint64
	hasher  *valuehash.Hasher
	slots   []slot
	tables  *slab.Pool[uint32]
	dense   *slab.Pool[uint8]
	scratch []uint32 // coupons of one group
	decoded []uint8  // registers of one portable state
}

// slot is the form of a group: what ref names depends on the class.
type slot struct {
	ref   uint32
	n     uint16 // coupons
	class uint8
}

// Classes of a slot. Between tableClass and denseClass, the group has a table
// of 1<<class coupons.
const (
	emptyClass  uint8 = 0
	singleClass uint8 = 1 // ref is the coupon
	tableClass  uint8 = 2
	denseClass  uint8 = 255
)

func newStates(p uint, seed keyhash.Seed) *States {
	var sizes []int
	for c := uint(tableClass); c <= p-2; c++ {
		sizes = append(sizes, 1<<c)
	}
	return &States{
		p: p, seedID: seed.ID(), hasher: valuehash.New(seed, keyhash.UseDistinct),
		tables: slab.New[uint32](sizes...), dense: slab.New[uint8](1 << p),
	}
}

// SeedID names the seed of the hashes.
func (s *States) SeedID() uint64 { return s.seedID }

// Grow implements agg.States.
func (s *States) Grow(n int) { s.slots = slab.GrowTo(s.slots, n) }

// Update implements agg.States.
func (s *States) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	in := inputs[0]
	hashes := s.hasher.Hash(in, rows)
	hashes = hashes[:len(groups)]
	hasNulls := len(in.Nulls) > 0
	p := s.p
	for i := 0; i < len(groups); {
		g := groups[i]
		registers := s.registers(g)
		if registers == nil {
			if !hasNulls || !in.Nulls.Has(int(rows[i])) {
				s.addCoupon(&s.slots[g], couponOf(hashes[i]))
			}
			i++
			continue
		}
		// Which registers grow no processor can guess, so all are written.
		for ; i < len(groups) && groups[i] == g; i++ {
			if hasNulls && in.Nulls.Has(int(rows[i])) {
				continue
			}
			at, rank := registerOf(hashes[i], p)
			registers[at] = max(registers[at], rank)
		}
	}
	return nil
}

// registers returns the registers of a group, nil if it is not dense.
func (s *States) registers(g uint32) []uint8 {
	if slot := s.slots[g]; slot.class == denseClass {
		return s.dense.Block(0, slot.ref)
	}
	return nil
}

// addHash folds one hash into group g.
func (s *States) addHash(g uint32, h uint64) {
	if registers := s.registers(g); registers != nil {
		i, rank := registerOf(h, s.p)
		registers[i] = max(registers[i], rank)
		return
	}
	s.addCoupon(&s.slots[g], couponOf(h))
}

// addCoupon folds one coupon into a group.
func (s *States) addCoupon(slot *slot, c uint32) {
	switch slot.class {
	case emptyClass:
		slot.ref, slot.n, slot.class = c, 1, singleClass
	case singleClass:
		if slot.ref>>6 == c>>6 {
			slot.ref = max(slot.ref, c)
			return
		}
		old := slot.ref
		slot.ref, slot.n, slot.class = s.tables.Alloc(0), 2, tableClass
		table := s.tables.Block(0, slot.ref)
		insert(table, old)
		insert(table, c)
	case denseClass:
		i, rank := s.registerOfCoupon(c)
		registers := s.dense.Block(0, slot.ref)
		registers[i] = max(registers[i], rank)
	default:
		if !insert(s.tables.Block(int(slot.class-tableClass), slot.ref), c) {
			return
		}
		if slot.n++; int(slot.n)*4 > 3<<slot.class {
			s.enlarge(slot)
		}
	}
}

// insert adds c to a table that has room, and reports whether its index is new.
func insert(table []uint32, c uint32) bool {
	mask := uint32(len(table) - 1)
	for i := c >> 6 & mask; ; i = (i + 1) & mask {
		switch e := table[i]; {
		case e == 0:
			table[i] = c
			return true
		case e>>6 == c>>6:
			table[i] = max(e, c)
			return false
		}
	}
}

// enlarge moves a table that is more than 3/4 full to one twice as large, or to
// registers.
func (s *States) enlarge(slot *slot) {
	if int(slot.n) > maxCoupons(s.p) {
		s.densify(slot)
		return
	}
	class := int(slot.class - tableClass)
	ref := s.tables.Alloc(class + 1)
	table := s.tables.Block(class+1, ref)
	for _, c := range s.tables.Block(class, slot.ref) {
		if c != 0 {
			insert(table, c)
		}
	}
	s.tables.Free(class, slot.ref)
	slot.ref, slot.class = ref, slot.class+1
}

// expect gives a group that is about to have at least n coupons a table for them.
func (s *States) expect(slot *slot, n int) {
	if slot.class != emptyClass || n < 2 || n > maxCoupons(s.p) {
		return
	}
	slot.class = tableClass
	for n*4 > 3<<slot.class {
		slot.class++
	}
	slot.ref = s.tables.Alloc(int(slot.class - tableClass))
}

// densify gives a group registers.
func (s *States) densify(slot *slot) {
	old := *slot
	slot.ref, slot.n, slot.class = s.dense.Alloc(0), 0, denseClass
	registers := s.dense.Block(0, slot.ref)
	add := func(c uint32) {
		i, rank := s.registerOfCoupon(c)
		registers[i] = max(registers[i], rank)
	}
	switch old.class {
	case emptyClass:
	case singleClass:
		add(old.ref)
	default:
		class := int(old.class - tableClass)
		for _, c := range s.tables.Block(class, old.ref) {
			if c != 0 {
				add(c)
			}
		}
		s.tables.Free(class, old.ref)
	}
}

// coupons returns the coupons of a group that is not dense, in no order.
func (s *States) coupons(slot slot) []uint32 {
	s.scratch = s.appendCoupons(s.scratch[:0], slot)
	return s.scratch
}

func (s *States) appendCoupons(dst []uint32, slot slot) []uint32 {
	switch slot.class {
	case emptyClass, denseClass:
	case singleClass:
		dst = append(dst, slot.ref)
	default:
		for _, c := range s.tables.Block(int(slot.class-tableClass), slot.ref) {
			if c != 0 {
				dst = append(dst, c)
			}
		}
	}
	return dst
}

// MergeFrom implements agg.States.
func (s *States) MergeFrom(dst uint32, other agg.States, src uint32) error {
	o := other.(*States)
	from := o.slots[src]
	if from.class == denseClass {
		s.mergeRegisters(dst, o.dense.Block(0, from.ref))
		return nil
	}
	if to := &s.slots[dst]; to.class == emptyClass && from.class >= tableClass {
		*to = from
		to.ref = s.tables.Alloc(int(from.class - tableClass))
		copy(s.tables.Block(int(to.class-tableClass), to.ref), o.tables.Block(int(from.class-tableClass), from.ref))
		return nil
	}
	s.scratch = o.appendCoupons(s.scratch[:0], from)
	s.addCoupons(dst, s.scratch)
	return nil
}

// addCoupons folds coupons of distinct indexes into group g.
func (s *States) addCoupons(g uint32, coupons []uint32) {
	slot := &s.slots[g]
	s.expect(slot, len(coupons))
	if slot.class < tableClass || slot.class == denseClass || (int(slot.n)+len(coupons))*4 > 3<<slot.class {
		for _, c := range coupons {
			s.addCoupon(slot, c)
		}
		return
	}
	table := s.tables.Block(int(slot.class-tableClass), slot.ref)
	for _, c := range coupons {
		if insert(table, c) {
			slot.n++
		}
	}
}

// mergeRegisters folds registers of precision p into group g.
func (s *States) mergeRegisters(g uint32, from []uint8) {
	slot := &s.slots[g]
	if slot.class != denseClass {
		s.densify(slot)
	}
	maxBytes(s.dense.Block(0, slot.ref), from)
}

// MemoryBytes implements agg.States.
func (s *States) MemoryBytes() int64 {
	return int64(8*cap(s.slots)+4*cap(s.scratch)+cap(s.decoded)) + s.tables.MemoryBytes() + s.dense.MemoryBytes() + s.hasher.MemoryBytes()
}
