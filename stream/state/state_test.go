package state

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// sumSpec is the state of sum(int8).
func sumSpec(t testing.TB) agg.StateSpec {
	t.Helper()
	r := agg.NewRegistry()
	agg.RegisterExact(r)
	b, err := r.Lookup("sum").Bind([]types.Type{types.Of(types.Int8)}, []*types.Datum{nil})
	if err != nil {
		t.Fatal(err)
	}
	return b.State
}

func hashOf(key string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(key) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h & 0xFF // few bits, so that collisions happen
}

func fold(t testing.TB, a *Arena, key string, x int64) {
	t.Helper()
	g, _ := a.Find(hashOf(key), []byte(key))
	a.Grow()
	v := types.NewVector(types.Of(types.Int8), 1)
	v.AppendInt(x)
	if err := a.States[0].Update([]uint32{g}, []int32{0}, []*types.Vector{v}); err != nil {
		t.Fatal(err)
	}
	a.MarkDirty(g)
}

// TestL2ReloadedArenasAreEqual: an arena that is checkpointed by its changed
// chunks, evicted and reloaded at any moments has the same groups under the same
// numbers and the same bytes as one that was never touched.
func TestL2ReloadedArenasAreEqual(t *testing.T) {
	spec := sumSpec(t)
	fresh := func() *Arena {
		return NewArena(eventtime.Window{Start: 0, End: 10}, []agg.StateSpec{spec}, agg.Config{})
	}
	rapid.Check(t, func(rt *rapid.T) {
		kept, stored := fresh(), map[int][]byte{}
		a := fresh()
		for range rapid.IntRange(1, 40).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 60).Draw(rt, "events") {
				key := fmt.Sprint(rapid.IntRange(0, 700).Draw(rt, "key"))
				x := rapid.Int64Range(-10, 10).Draw(rt, "x")
				fold(t, kept, key, x)
				fold(t, a, key, x)
			}
			if !rapid.Bool().Draw(rt, "checkpoint") {
				continue
			}
			for n, chunk := range taken(t, a) {
				stored[n] = chunk
			}
			if a.Dirty() {
				rt.Fatal("dirty after a checkpoint")
			}
			a = fresh()
			for n := range len(stored) {
				if err := a.LoadChunk(stored[n]); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if a.Groups() != kept.Groups() {
			rt.Fatalf("%d groups, want %d", a.Groups(), kept.Groups())
		}
		for g := range kept.Groups() { // all chunks
			a.MarkDirty(uint32(g))
		}
		got := taken(t, a)
		for n, want := range taken(t, kept) {
			if string(got[n]) != string(want) {
				rt.Fatalf("chunk %d differs", n)
			}
		}
	})
}

// taken returns the chunks that changed, by number.
func taken(t testing.TB, a *Arena) map[int][]byte { return takenAs(t, a, false) }

func takenAs(t testing.TB, a *Arena, final bool) map[int][]byte {
	c := NewChanges(func() *Groups { return NewGroups([]agg.StateSpec{sumSpec(t)}, nil, agg.Config{}) })
	if err := c.Take(a, final); err != nil {
		t.Fatal(err)
	}
	out := map[int][]byte{}
	if _, err := c.Encode(nil, func(_ eventtime.Time, n int, chunk []byte) error {
		out[n] = append([]byte(nil), chunk...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestL2ChangesAreOfTheirMoment: what was taken does not see what comes after it.
func TestL2ChangesAreOfTheirMoment(t *testing.T) {
	a := NewArena(eventtime.Window{Start: 0, End: 10}, []agg.StateSpec{sumSpec(t)}, agg.Config{})
	for i := range 600 {
		fold(t, a, fmt.Sprint(i), int64(i))
	}
	c := NewChanges(func() *Groups { return NewGroups([]agg.StateSpec{sumSpec(t)}, nil, agg.Config{}) })
	if err := c.Take(a, false); err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		fold(t, a, fmt.Sprint(i), 1)
	}
	b := NewArena(a.Window, []agg.StateSpec{sumSpec(t)}, agg.Config{})
	if _, err := c.Encode(nil, func(_ eventtime.Time, _ int, chunk []byte) error { return b.LoadChunk(chunk) }); err != nil {
		t.Fatal(err)
	}
	if b.Groups() != 600 {
		t.Fatalf("%d groups, want the 600 of that moment", b.Groups())
	}
	for g := range 600 {
		fold(t, b, string(b.Key(g)), 1)
	}
	for g := range uint32(600) {
		if got, want := b.States[0].Append(nil, g), a.States[0].Append(nil, g); string(got) != string(want) {
			t.Fatalf("group %s: %x, want %x", b.Key(int(g)), got, want)
		}
	}
}

// TestL2FinalArenasAreEncodedWhereTheyAre: an arena that will not change is not
// copied, gives the bytes that a copy gives, and can be read meanwhile.
func TestL2FinalArenasAreEncodedWhereTheyAre(t *testing.T) {
	a := NewArena(eventtime.Window{Start: 0, End: 10}, []agg.StateSpec{sumSpec(t)}, agg.Config{})
	for i := range 3*ChunkGroups - 50 {
		fold(t, a, fmt.Sprint(i), int64(i))
	}
	want := taken(t, a)
	for g := range a.Groups() {
		if g/ChunkGroups != 1 { // chunk 1 did not change since
			a.MarkDirty(uint32(g))
		}
	}
	delete(want, 1)
	var reader sync.WaitGroup
	reader.Go(func() {
		for range 10 {
			g := NewGroups([]agg.StateSpec{sumSpec(t)}, nil, agg.Config{})
			if err := g.AddArena(a); err != nil || g.Len() != a.Groups() {
				t.Errorf("read %d groups: %v", g.Len(), err)
			}
		}
	})
	got := takenAs(t, a, true)
	reader.Wait()
	if len(got) != len(want) || a.Dirty() {
		t.Fatalf("%d chunks, want %d", len(got), len(want))
	}
	for n := range want {
		if string(got[n]) != string(want[n]) {
			t.Errorf("chunk %d differs from its copy", n)
		}
	}
}

func TestLookupDoesNotAdd(t *testing.T) {
	a := NewArena(eventtime.Global, []agg.StateSpec{sumSpec(t)}, agg.Config{})
	if _, ok := a.Lookup(1, []byte("x")); ok || a.Groups() != 0 {
		t.Error("found or added a group of an empty arena")
	}
	g, added := a.Find(1, []byte("x"))
	if got, ok := a.Lookup(1, []byte("x")); !added || !ok || got != g {
		t.Error("a group that was added is not found")
	}
	if _, ok := a.Lookup(1, []byte("y")); ok {
		t.Error("a key with the same hash counts as the same group")
	}
}

func FuzzReadChunk(f *testing.F) {
	a := NewArena(eventtime.Global, []agg.StateSpec{sumSpec(f)}, agg.Config{})
	fold(f, a, "a", 1)
	fold(f, a, "b", 2)
	f.Add(taken(f, a)[0])
	f.Fuzz(func(t *testing.T, chunk []byte) {
		err := ReadChunk(chunk, 1, func(*Group) error { return nil })
		if err != nil && !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTooNew) {
			t.Errorf("unclassified error %v", err)
		}
	})
}

func TestKeysSortAndDelimit(t *testing.T) {
	k := KeysOf(1, 20_000, 3)
	from, to := k.WindowRange(-5, 5)
	for _, c := range []struct {
		w  eventtime.Time
		in bool
	}{{-6, false}, {-5, true}, {0, true}, {5, true}, {6, false}, {eventtime.Min, false}} {
		key := string(k.Chunk(c.w, 7))
		if in := key >= string(from) && key < string(to); in != c.in {
			t.Errorf("window %d in [-5, 5]: %v", c.w, in)
		}
		if got, err := k.WindowOf([]byte(key)); err != nil || got != c.w {
			t.Errorf("window of its key: %d, %v", got, err)
		}
	}
	all, end := k.WindowRange(eventtime.Min, eventtime.Max)
	if key := string(k.Chunk(eventtime.Max-1, 0)); key < string(all) || key >= string(end) {
		t.Error("the range of all windows misses the last")
	}
}
