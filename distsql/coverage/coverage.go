// Package coverage is the vocabulary of completeness: which ranges of which
// partition logs a result counts, and when two results may be added.
//
// It covers offsets, never nodes: who computed a partial does not matter, what
// it counted does. Pure.
//
// Invariants (L-5, tested as laws):
//
//  1. A Set is canonical: sorted, disjoint, no empty and no adjacent ranges; so
//     equal sets are equal slices.
//  2. Merge is defined if and only if the sets are disjoint. It is commutative
//     and associative, including where it is defined; the empty set is its unit.
package coverage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog/id"
)

// Range is the records [From, To) of one partition's log in one routing epoch.
type Range struct {
	Epoch     id.Epoch
	Partition id.Partition
	From, To  id.Offset
}

// Width returns the number of records.
func (r Range) Width() uint64 {
	if r.To <= r.From {
		return 0
	}
	return uint64(r.To - r.From)
}

// String returns "e0/p3[5,9)".
func (r Range) String() string {
	return fmt.Sprintf("e%d/p%d[%d,%d)", r.Epoch, r.Partition, r.From, r.To)
}

func compareRange(a, b Range) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.From, b.From))
}

func sameLog(a, b Range) bool { return a.Epoch == b.Epoch && a.Partition == b.Partition }

// Set is a canonical set of log ranges. The nil Set is empty.
type Set []Range

// Of returns the canonical set of the union of these ranges, which may overlap.
func Of(ranges ...Range) Set {
	sorted := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if r.Width() > 0 {
			sorted = append(sorted, r)
		}
	}
	slices.SortFunc(sorted, compareRange)
	var out Set
	for _, r := range sorted {
		if n := len(out); n > 0 && sameLog(out[n-1], r) && r.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Width returns the number of records covered.
func (s Set) Width() uint64 {
	var n uint64
	for _, r := range s {
		n += r.Width()
	}
	return n
}

// Overlaps reports whether a record is in both sets.
func (s Set) Overlaps(t Set) bool {
	for i, j := 0, 0; i < len(s) && j < len(t); {
		a, b := s[i], t[j]
		if sameLog(a, b) && a.From < b.To && b.From < a.To {
			return true
		}
		if c := cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.To, b.To)); c <= 0 {
			i++
		} else {
			j++
		}
	}
	return false
}

// ErrOverlap says that two partial results count the same records, so their sum would
// count them twice.
var ErrOverlap = errors.New("coverages overlap")

// Merge returns the union of disjoint sets, or ErrOverlap.
func Merge(s, t Set) (Set, error) {
	if s.Overlaps(t) {
		return nil, fmt.Errorf("%w: %s and %s", ErrOverlap, s, t)
	}
	return Of(slices.Concat(s, t)...), nil
}

// Without returns the records of s that are not in t.
func (s Set) Without(t Set) Set {
	var out Set
	for _, r := range s {
		for _, c := range t {
			if !sameLog(r, c) || c.To <= r.From || c.From >= r.To {
				continue
			}
			if c.From > r.From {
				out = append(out, Range{r.Epoch, r.Partition, r.From, c.From})
			}
			r.From = min(c.To, r.To)
		}
		if r.Width() > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Covers reports whether every record of t is in s.
func (s Set) Covers(t Set) bool { return len(t.Without(s)) == 0 }

// Share returns the covered share of an expected set, 1 if nothing is expected.
// It is below 1 whenever a record is missing.
func (s Set) Share(expected Set) float64 {
	total := expected.Width()
	missing := expected.Without(s).Width()
	if missing == 0 {
		return 1
	}
	share := float64(total-missing) / float64(total)
	return min(share, 1-1e-9)
}

// Partitions returns the partitions that have a record in the set, ascending.
func (s Set) Partitions() []id.Partition {
	var out []id.Partition
	for _, r := range s {
		out = append(out, r.Partition)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// String returns the ranges, separated by spaces.
func (s Set) String() string {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, " ")
}
