package minhash

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// set is one of the sets of a group: its hashes while there are at most k, then
// its signature.
type set struct {
	hashes []uint64 // ascending
	signed cell
}

// collection is the state of similar_pairs: sets by the key of their name.
type collection struct {
	sets  map[string]*set
	bytes int64
}

const bytesOfSet = 120

// pairs is cells.Algebra for collections of at most so many sets.
type pairs struct {
	shape
	most int
	name types.Type

	key []byte
}

// Add implements cells.Algebra. The inputs are the element and the name of its set.
func (p *pairs) Add(c *collection, in []*types.Vector, row int, hash uint64) error {
	p.key = types.AppendKey(p.key[:0], in[1], row)
	s := c.sets[string(p.key)]
	if s == nil {
		if len(c.sets) == p.most {
			return p.tooMany()
		}
		s = c.put(bytes.Clone(p.key))
	}
	c.bytes -= s.size()
	p.addHash(s, hash)
	c.bytes += s.size()
	return nil
}

func (p *pairs) tooMany() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d sets to compare", p.most).
		WithHint("The last argument of similar_pairs is the number of sets at most.")
}

func (c *collection) put(key []byte) *set {
	if c.sets == nil {
		c.sets = map[string]*set{}
	}
	s := &set{}
	c.sets[string(key)] = s
	c.bytes += bytesOfSet + int64(len(key))
	return s
}

func (s *set) size() int64 { return 8*int64(cap(s.hashes)) + 4*int64(cap(s.signed.least)) }

func (p *pairs) addHash(s *set, hash uint64) {
	if s.signed.least != nil {
		p.sign(&s.signed, hash)
		return
	}
	at, known := slices.BinarySearch(s.hashes, hash)
	if known {
		return
	}
	if s.hashes = slices.Insert(s.hashes, at, hash); len(s.hashes) > p.k {
		s.signed, s.hashes = p.signature(s), nil
	}
}

// sign folds a hash into a signature.
func (p *pairs) sign(c *cell, hash uint64) { _ = p.shape.Add(c, nil, 0, hash) } // which never fails

// signature is that of a set.
func (p *pairs) signature(s *set) cell {
	if s.signed.least != nil {
		return s.signed
	}
	var c cell
	for _, h := range s.hashes {
		p.sign(&c, h)
	}
	return c
}

// Merge implements cells.Algebra.
func (p *pairs) Merge(dst, src *collection) error {
	fresh := 0
	for name := range src.sets {
		if dst.sets[name] == nil {
			fresh++
		}
	}
	if len(dst.sets)+fresh > p.most {
		return p.tooMany()
	}
	for name, from := range src.sets {
		to := dst.sets[name]
		if to == nil {
			to = dst.put([]byte(name))
		}
		dst.bytes -= to.size()
		if from.signed.least != nil {
			to.signed, to.hashes = p.signature(to), nil
			if err := p.shape.Merge(&to.signed, &from.signed); err != nil {
				return err
			}
		} else {
			for _, h := range slices.Clone(from.hashes) { // dst may be src
				p.addHash(to, h)
			}
		}
		dst.bytes += to.size()
	}
	return nil
}

// The portable form of similar_pairs, version 1, behind the version byte: uvarint
// number of sets; for each, by their names: uvarint length and bytes of the name as a
// key; uvarint number of hashes and the hashes, ascending, 8 bytes little-endian
// each; or 0 and the k places of the signature, 4 bytes each.

// Append implements cells.Algebra.
func (p *pairs) Append(dst []byte, c *collection) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.sets)))
	for _, name := range slices.Sorted(maps.Keys(c.sets)) {
		s := c.sets[name]
		dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
		dst = binary.AppendUvarint(dst, uint64(len(s.hashes)))
		for _, h := range s.hashes {
			dst = binary.LittleEndian.AppendUint64(dst, h)
		}
		for _, x := range s.signed.least {
			dst = binary.LittleEndian.AppendUint32(dst, x)
		}
	}
	return dst
}

// Read implements cells.Algebra.
func (p *pairs) Read(r *statecodec.Reader) collection {
	var c collection
	last := ""
	for i := range int(r.Uvarint(uint64(p.most))) {
		name := string(r.Bytes(int(r.Uvarint(uint64(len(r.Rest()))))))
		if _, ok := ranked.Decode(p.name, []byte(name)); !ok || r.Bad() || i > 0 && name <= last {
			r.Fail()
			return collection{}
		}
		last = name
		s := c.put([]byte(name))
		n := int(r.Uvarint(uint64(p.k)))
		b := r.Bytes(8 * n)
		if n == 0 {
			b = r.Bytes(4 * p.k)
		}
		if r.Bad() {
			return collection{}
		}
		if n == 0 {
			s.signed.least = make([]uint32, p.k)
			for j := range s.signed.least {
				s.signed.least[j] = binary.LittleEndian.Uint32(b[4*j:])
			}
		}
		for j := range n {
			h := binary.LittleEndian.Uint64(b[8*j:])
			if j > 0 && h <= s.hashes[j-1] {
				r.Fail()
				return collection{}
			}
			s.hashes = append(s.hashes, h)
		}
		c.bytes += s.size()
	}
	return c
}

// Bytes implements cells.Algebra.
func (p *pairs) Bytes(c *collection) int64 { return c.bytes }

// similarPair is two sets that are similar.
type similarPair struct {
	a, b       string
	similarity float64
	exact      bool
}

// rowsFor returns the most rows of a band with which a pair of the similarity is a
// candidate with a probability of recall or more.
func rowsFor(k int, similarity float64) int {
	const recall = 0.99
	rows := 1
	for r := 1; r <= k; r++ {
		if 1-math.Pow(1-math.Pow(similarity, float64(r)), float64(k/r)) >= recall {
			rows = r
		}
	}
	return rows
}

// maxCandidates limits the pairs that are verified.
const maxCandidates = 1 << 20

// similar returns the pairs of sets at least so similar, the most similar first:
// those that agree in a band of their signatures, and are similar by their hashes, or
// by their signatures where a set has more than k.
func (p *pairs) similar(c *collection, threshold float64) ([]similarPair, error) {
	names := slices.Sorted(maps.Keys(c.sets))
	signatures := make([]cell, len(names))
	for i, name := range names {
		signatures[i] = p.signature(c.sets[name])
	}
	seen := map[[2]int32]bool{}
	rows := rowsFor(p.k, threshold)
	var band []byte
	for at := 0; at+rows <= p.k; at += rows {
		buckets := map[string][]int32{}
		for i := range names {
			band = band[:0]
			for _, x := range signatures[i].least[at : at+rows] {
				band = binary.LittleEndian.AppendUint32(band, x)
			}
			for _, j := range buckets[string(band)] {
				seen[[2]int32{j, int32(i)}] = true
			}
			if len(seen) > maxCandidates {
				return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d pairs may be similar", maxCandidates).WithHint("Ask for pairs that are more similar, or group the sets.")
			}
			buckets[string(band)] = append(buckets[string(band)], int32(i))
		}
	}
	var out []similarPair
	for ij := range seen {
		a, b := c.sets[names[ij[0]]], c.sets[names[ij[1]]]
		x := similarPair{a: names[ij[0]], b: names[ij[1]], exact: a.signed.least == nil && b.signed.least == nil}
		if x.exact {
			x.similarity = jaccardOf(a.hashes, b.hashes)
		} else {
			x.similarity = float64(matches(&signatures[ij[0]], &signatures[ij[1]])) / float64(p.k)
		}
		if x.similarity >= threshold {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, comparePairs)
	return out, nil
}

func comparePairs(x, y similarPair) int {
	switch {
	case x.similarity > y.similarity:
		return -1
	case x.similarity < y.similarity:
		return 1
	case x.a != y.a:
		return bytes.Compare([]byte(x.a), []byte(y.a))
	}
	return bytes.Compare([]byte(x.b), []byte(y.b))
}

// jaccardOf is the similarity of two sets of hashes, ascending.
func jaccardOf(a, b []uint64) float64 {
	both, all := 0, len(a)+len(b)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			both, a, b = both+1, a[1:], b[1:]
		}
	}
	return float64(both) / float64(all-both)
}
