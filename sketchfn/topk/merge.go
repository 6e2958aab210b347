package topk

import (
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// maxTotal limits the values of a group, so that sums do not overflow.
const maxTotal = 1 << 60

// portable is a counter on its way from one array to another.
type portable struct {
	hash       uint64
	word       uint64 // of a value that is a word
	value      []byte // of another value
	low, known uint64
}

// MergeFrom implements agg.States.
func (s *States) MergeFrom(dst uint32, other agg.States, src uint32) error {
	o := other.(*States)
	from := o.groups[src]
	if s.words {
		return s.mergeWords(dst, o, &from)
	}
	s.read = s.read[:0]
	for _, c := range o.of(&from) {
		s.read = append(s.read, portable{hash: c.hash, value: o.bytes(c.payload), low: c.low, known: c.known})
	}
	return s.merge(dst, from.total, from.floor)
}

// mergeWords is MergeFrom of values that are words: the counters are read where they
// are.
func (s *States) mergeWords(dst uint32, o *States, from *group) error {
	g := &s.groups[dst]
	if err := s.mayHave(g, from.total); err != nil || from.class == 0 {
		return err
	}
	s.kept = s.kept[:0]
	t := s.table(g)
	for _, c := range o.of(from) {
		if to, _ := t.word(c.hash, c.payload); to != nil {
			to.low += c.low
			to.known += c.known
		} else {
			s.kept = append(s.kept, c)
		}
	}
	s.settle(g, from.total, from.floor)
	return nil
}

// mayHave reports why a group cannot count so many values more.
func (s *States) mayHave(g *group, total uint64) error {
	if g.total+total >= maxTotal {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a top-k aggregate of more than 2^60 values")
	}
	return nil
}

// settle ends a merge of a group with counters of this total and floor: those that it lacks
// are in s.kept. If they are too many, those that stay are chosen before they get a place.
func (s *States) settle(g *group, total, floor uint64) {
	g.total += total
	g.floor += floor
	if fresh := len(s.kept); int(g.n)+fresh > s.limit {
		s.kept = append(s.kept, s.of(g)...)
		s.prune(g, s.kept, fresh)
	} else {
		s.reserve(g, int(g.n)+fresh)
		t := s.table(g)
		for _, c := range s.kept {
			t.put(t.free(c.hash), int(g.n), s.own(c))
			g.n++
		}
	}
	s.compactArena()
}

// own returns a counter that a group lacks, which names a value in s.read, as one that
// names its bytes here. There is room for them.
func (s *States) own(c counter) counter {
	if !s.words {
		c.payload, _ = s.keep(s.read[c.payload].value)
	}
	return c
}

// merge folds the counters in s.read, of a group with this total and floor, into
// group dst.
func (s *States) merge(dst uint32, total, floor uint64) error {
	g := &s.groups[dst]
	if total == 0 {
		return nil
	}
	if err := s.mayHave(g, total); err != nil {
		return err
	}
	need := 0
	for _, p := range s.read {
		need += len(p.value)
	}
	if err := s.ensure(need); err != nil {
		return err
	}
	s.kept = s.kept[:0]
	t := s.table(g)
	for i, p := range s.read {
		if c, _ := s.find(t, p); c != nil {
			c.low += p.low
			c.known += p.known
			continue
		}
		payload := p.word
		if !s.words {
			payload = uint64(i)
		}
		s.kept = append(s.kept, counter{p.hash, payload, p.low, p.known})
	}
	s.settle(g, total, floor)
	return nil
}

// ensure checks that the arena can take n more bytes.
func (s *States) ensure(n int) error {
	if uint64(len(s.arena)+n) > 1<<32-1 {
		return sqlerr.New(sqlerr.OutOfMemory, "the values of a top-k aggregate need more than 4 GiB")
	}
	return nil
}

func (s *States) find(t table, p portable) (c *counter, at int) {
	if s.words {
		return t.word(p.hash, p.word)
	}
	return s.findBytes(t, p.hash, p.value)
}

// reserve gives a group a table for n counters, which are no more than a full one takes.
func (s *States) reserve(g *group, n int) {
	class := max(g.class, firstClass)
	for !fits(class, n) {
		class++
	}
	if class != g.class {
		s.resize(g, class)
	}
}
