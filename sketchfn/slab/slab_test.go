package slab

import (
	"math/rand/v2"
	"testing"
)

func TestBlocksAreZeroAndApart(t *testing.T) {
	p := New[uint32](4, 16, 100, 1<<16)
	r := rand.New(rand.NewPCG(1, 1))
	type block struct {
		class int
		ref   uint32
		mark  uint32
	}
	var live []block
	for i := range 5000 {
		if len(live) > 0 && r.IntN(3) == 0 {
			k := r.IntN(len(live))
			p.Free(live[k].class, live[k].ref)
			live[k] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		class := r.IntN(3)
		if i%1000 == 0 {
			class = 3
		}
		b := block{class, p.Alloc(class), uint32(i + 1)}
		for _, x := range p.Block(b.class, b.ref) {
			if x != 0 {
				t.Fatal("a block is not zero")
			}
		}
		for j := range p.Block(b.class, b.ref) {
			p.Block(b.class, b.ref)[j] = b.mark
		}
		live = append(live, b)
	}
	for _, b := range live {
		for _, x := range p.Block(b.class, b.ref) {
			if x != b.mark {
				t.Fatal("blocks overlap")
			}
		}
	}
}

func TestFewBlocksNeedLittle(t *testing.T) {
	p := New[uint64](4, 1000)
	p.Alloc(0)
	p.Alloc(1)
	if n := p.MemoryBytes(); n > 9000 {
		t.Errorf("two blocks hold %d bytes", n)
	}
	p = New[uint64](4)
	for range 100_000 {
		p.Alloc(0)
	}
	if n := p.MemoryBytes(); n < 3_200_000 || n > 3_400_000 {
		t.Errorf("100,000 blocks of 32 bytes hold %d bytes", n)
	}
}
