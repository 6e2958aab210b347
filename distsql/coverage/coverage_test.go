package coverage

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog/id"
)

// record is one record of a log: the model of a Set is a set of them.
type record struct {
	epoch     id.Epoch
	partition id.Partition
	offset    id.Offset
}

func model(s Set) map[record]bool {
	m := map[record]bool{}
	for _, r := range s {
		for o := r.From; o < r.To; o++ {
			m[record{r.Epoch, r.Partition, o}] = true
		}
	}
	return m
}

var ranges = rapid.Custom(func(t *rapid.T) Range {
	from := id.Offset(rapid.IntRange(0, 6).Draw(t, "from"))
	return Range{
		id.Epoch(rapid.IntRange(0, 1).Draw(t, "epoch")), id.Partition(rapid.IntRange(0, 2).Draw(t, "partition")),
		from, from + id.Offset(rapid.IntRange(0, 4).Draw(t, "width")),
	}
})

var sets = rapid.Custom(func(t *rapid.T) Set { return Of(rapid.SliceOfN(ranges, 0, 4).Draw(t, "ranges")...) })

func union(a, b map[record]bool) map[record]bool {
	m := map[record]bool{}
	for r := range a {
		m[r] = true
	}
	for r := range b {
		m[r] = true
	}
	return m
}

func intersects(a, b map[record]bool) bool {
	for r := range a {
		if b[r] {
			return true
		}
	}
	return false
}

// TestL5MergeIsAPartialCommutativeMonoid: defined iff disjoint; commutative and
// associative including definedness; the empty set is the unit; and it counts
// each record once.
func TestL5MergeIsAPartialCommutativeMonoid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := sets.Draw(t, "a"), sets.Draw(t, "b"), sets.Draw(t, "c")
		ab, errAB := Merge(a, b)
		ba, errBA := Merge(b, a)
		if (errAB == nil) != (errBA == nil) || !reflect.DeepEqual(ab, ba) {
			t.Fatalf("not commutative: %v (%v), %v (%v)", ab, errAB, ba, errBA)
		}
		if intersects(model(a), model(b)) != errors.Is(errAB, ErrOverlap) {
			t.Fatalf("%v and %v: %v", a, b, errAB)
		}
		if errAB == nil && !reflect.DeepEqual(model(ab), union(model(a), model(b))) {
			t.Fatalf("%v + %v = %v", a, b, ab)
		}
		left, errLeft := ab, errAB
		if errLeft == nil {
			left, errLeft = Merge(ab, c)
		}
		right, errRight := Merge(b, c)
		if errRight == nil {
			right, errRight = Merge(a, right)
		}
		if (errLeft == nil) != (errRight == nil) {
			t.Fatalf("not associative: %v, %v", errLeft, errRight)
		}
		if errLeft == nil && !reflect.DeepEqual(left, right) {
			t.Fatalf("not associative: %v, %v", left, right)
		}
		if unit, err := Merge(a, nil); err != nil || !reflect.DeepEqual(unit, a) {
			t.Fatalf("%v + nothing = %v (%v)", a, unit, err)
		}
	})
}

func TestSetsAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := sets.Draw(t, "a")
		var atoms []Range
		for r := range model(a) {
			atoms = append(atoms, Range{r.epoch, r.partition, r.offset, r.offset + 1})
		}
		if got := Of(atoms...); !reflect.DeepEqual(got, a) {
			t.Fatalf("%v from its records is %v", a, got)
		}
	})
}

// TestL6ShareIsOneOnlyWhenCovered: the share is 1 exactly when nothing is missing.
func TestL6ShareIsOneOnlyWhenCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := sets.Draw(t, "a"), sets.Draw(t, "b")
		missing := model(b)
		for r := range model(a) {
			delete(missing, r)
		}
		if got := model(b.Without(a)); !reflect.DeepEqual(got, missing) {
			t.Fatalf("%v without %v: %v, want %v", b, a, got, missing)
		}
		if (a.Share(b) == 1) != (len(missing) == 0) || a.Covers(b) != (len(missing) == 0) {
			t.Fatalf("share %v of %v in %v", a.Share(b), b, a)
		}
	})
}

func TestShareNeverRoundsToOne(t *testing.T) {
	expected := Of(Range{To: 1 << 62})
	got := Of(Range{To: 1<<62 - 1})
	if s := got.Share(expected); s >= 1 {
		t.Errorf("share %v with a record missing", s)
	}
}
