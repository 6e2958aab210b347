package topk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var seed = keyhash.Seed{K0: 11, K1: 22}

func column(t *testing.T, typ types.Type, texts ...string) *types.Vector {
	t.Helper()
	v := types.NewVector(typ, len(texts))
	for _, text := range texts {
		d, err := types.Parse(typ, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		v.AppendDatum(d)
	}
	return v
}

func update(t *testing.T, s *States, g uint32, v *types.Vector) {
	t.Helper()
	groups, rows := make([]uint32, v.Len()), make([]int32, v.Len())
	for i := range rows {
		groups[i], rows[i] = g, int32(i)
	}
	if err := s.Update(groups, rows, []*types.Vector{v}); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, s *States, k int) string {
	t.Helper()
	out := types.NewVector(types.Of(types.JSONB), 1)
	if err := (final{k}).Finalise(s, 1, 0.95, out, nil); err != nil {
		t.Fatal(err)
	}
	canonical, err := types.Parse(out.Type, out.Bytes(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(canonical.Bytes, out.Bytes(0)) {
		t.Errorf("%s is not canonical jsonb, %s is", out.Bytes(0), canonical.Bytes)
	}
	return string(out.Bytes(0))
}

func TestListsOfAllTypes(t *testing.T) {
	for _, c := range []struct {
		typ   types.OID
		texts []string
		want  string
	}{
		{types.Text, []string{"b", "a", "b", `"x"`, "c", "c", "b"}, `[{"count": 3, "error": 0, "value": "b"}, {"count": 2, "error": 0, "value": "c"}, {"count": 1, "error": 0, "value": "\"x\""}]`},
		{types.Int8, []string{"5", "-7", "5", "12"}, `[{"count": 2, "error": 0, "value": 5}, {"count": 1, "error": 0, "value": -7}, {"count": 1, "error": 0, "value": 12}]`},
		{types.Float8, []string{"0", "-0", "NaN", "NaN", "NaN", "1e300"}, `[{"count": 3, "error": 0, "value": "NaN"}, {"count": 2, "error": 0, "value": 0}, {"count": 1, "error": 0, "value": 1` + fmt.Sprintf("%0300d", 0) + `}]`},
		{types.Numeric, []string{"1.0", "1.00", "2.50"}, `[{"count": 2, "error": 0, "value": 1}, {"count": 1, "error": 0, "value": 2.5}]`},
		{types.Bool, []string{"t", "f", "t"}, `[{"count": 2, "error": 0, "value": true}, {"count": 1, "error": 0, "value": false}]`},
		{types.JSONB, []string{`{"a":1}`, `{"a": 1}`, `[]`}, `[{"count": 2, "error": 0, "value": {"a": 1}}, {"count": 1, "error": 0, "value": []}]`},
		{types.TextArray, []string{"{a,b}", "{a,b}", "{{x},{NULL}}", "{}"}, `[{"count": 2, "error": 0, "value": ["a", "b"]}, {"count": 1, "error": 0, "value": []}, {"count": 1, "error": 0, "value": [["x"], [null]]}]`},
		{types.UUID, []string{"00000000-0000-4000-8000-000000000001"}, `[{"count": 1, "error": 0, "value": "00000000-0000-4000-8000-000000000001"}]`},
		{types.Timestamptz, []string{"2026-01-02 03:04:05+00"}, `[{"count": 1, "error": 0, "value": "2026-01-02T03:04:05+00:00"}]`},
	} {
		s := newStates(types.Of(c.typ), 8, seed)
		s.Grow(1)
		update(t, s, 0, column(t, types.Of(c.typ), c.texts...))
		if got := list(t, s, 3); got != c.want {
			t.Errorf("%s: %s\nwant %s", s.typ, got, c.want)
		}
	}
}

// checkBounds compares all counters with exact counts.
func checkBounds(t *testing.T, s *States, g uint32, exact map[int64]uint64) {
	t.Helper()
	total := uint64(0)
	for _, n := range exact {
		total += n
	}
	gr := &s.groups[g]
	if gr.total != total || gr.floor > total/uint64(s.capacity+1) || int(gr.n) > s.limit {
		t.Fatalf("total %d of %d, floor %d, %d counters", gr.total, total, gr.floor, gr.n)
	}
	seen := map[int64]bool{}
	for _, c := range s.counters(gr) {
		truth := exact[int64(c.payload)]
		low, high := c.limits(gr.floor)
		if truth < low || truth > high || high-low > gr.floor || high < gr.floor {
			t.Fatalf("value %d: %d is not within %d and %d; floor %d", int64(c.payload), truth, low, high, gr.floor)
		}
		seen[int64(c.payload)] = true
	}
	for x, n := range exact {
		if !seen[x] && n > gr.floor {
			t.Fatalf("value %d is missing, and occurred %d times; floor %d", x, n, gr.floor)
		}
	}
}

// streams are distributions of integers.
var streams = map[string]func(r *rand.Rand) func() int64{
	"zipf 1.1": func(r *rand.Rand) func() int64 {
		z := rand.NewZipf(r, 1.1, 1, 99_999)
		return func() int64 { return int64(z.Uint64()) }
	},
	"zipf 2": func(r *rand.Rand) func() int64 {
		z := rand.NewZipf(r, 2, 1, 99_999)
		return func() int64 { return int64(z.Uint64()) }
	},
	"uniform": func(r *rand.Rand) func() int64 { return func() int64 { return r.Int64N(5000) } },
	"distinct": func(*rand.Rand) func() int64 {
		x := int64(0)
		return func() int64 { x++; return x }
	},
	"bursts": func(r *rand.Rand) func() int64 {
		x, left := int64(0), 0
		return func() int64 {
			if left == 0 {
				x, left = r.Int64N(300), r.IntN(200)
			} else {
				left--
			}
			return x
		}
	},
}

func TestBoundsHoldInEveryMergeTree(t *testing.T) {
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			for trial := range 30 {
				r := rand.New(rand.NewPCG(uint64(trial), 1))
				next := stream(r)
				parts := 1 + r.IntN(12)
				s := newStates(types.Of(types.Int8), MinCapacity+r.IntN(200), seed)
				s.Grow(parts)
				exact := make([]map[int64]uint64, parts)
				for g := range parts {
					exact[g] = map[int64]uint64{}
					v := types.NewVector(types.Of(types.Int8), 0)
					for range r.IntN(3000) {
						x := next()
						v.AppendInt(x)
						exact[g][x]++
					}
					update(t, s, uint32(g), v)
					checkBounds(t, s, uint32(g), exact[g])
				}
				for n := parts; n > 1; n-- {
					dst, src := uint32(r.IntN(n-1)), uint32(n-1)
					var err error
					if r.IntN(2) == 0 {
						err = s.MergeFrom(dst, s, src)
					} else {
						err = s.Merge(dst, s.Append(nil, src))
					}
					if err != nil {
						t.Fatal(err)
					}
					for x, c := range exact[src] {
						exact[dst][x] += c
					}
					checkBounds(t, s, dst, exact[dst])
				}
			}
		})
	}
}

func TestHeavyHittersAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	z := rand.NewZipf(r, 1.2, 1, 999_999)
	s := newStates(types.Of(types.Text), DefaultCapacity, seed)
	s.Grow(1)
	exact := map[string]uint64{}
	v := types.NewVector(types.Of(types.Text), 0)
	for range 200_000 {
		x := fmt.Sprintf("page %d", z.Uint64())
		exact[x]++
		v.AppendString(x)
	}
	update(t, s, 0, v)
	var counts []uint64
	for _, n := range exact {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	for i, c := range s.top(&s.groups[0], 10) {
		_, high := c.limits(s.groups[0].floor)
		if want := counts[len(counts)-1-i]; high != want || exact[string(s.bytes(c.payload))] != want {
			t.Errorf("rank %d: %s %d, want %d", i, s.bytes(c.payload), high, want)
		}
	}
}

func TestArenaIsCompacted(t *testing.T) {
	s := newStates(types.Of(types.Text), MinCapacity, seed)
	s.Grow(2)
	v := types.NewVector(types.Of(types.Text), 0)
	for i := range 20_000 {
		v.AppendString(fmt.Sprintf("a value of some length, number %d", i))
	}
	for range 10 {
		update(t, s, 0, v)
		update(t, s, 1, v)
	}
	if s.MemoryBytes() > 8<<20 {
		t.Errorf("%d bytes are held", s.MemoryBytes())
	}
	if got := s.counters(&s.groups[0]); len(got) == 0 || len(got) > s.limit {
		t.Errorf("%d counters", len(got))
	}
}

func TestErrorIsShareOfTotal(t *testing.T) {
	s := newStates(types.Of(types.Int8), MinCapacity, seed)
	s.Grow(1)
	v := types.NewVector(types.Of(types.Int8), 0)
	for i := range 12 {
		v.AppendInt(int64(i))
	}
	for _, want := range []bool{false, true} {
		update(t, s, 0, v)
		bounds := &agg.Bounds{Lo: types.NewVector(types.Of(types.JSONB), 1), Hi: types.NewVector(types.Of(types.JSONB), 1), Error: types.NewVector(types.Of(types.Float8), 1)}
		if err := (final{3}).Finalise(s, 1, 0.95, types.NewVector(types.Of(types.JSONB), 1), bounds); err != nil {
			t.Fatal(err)
		}
		e := bounds.Error.Floats[0]
		if e > 1.0/(MinCapacity+1) || (e > 0) != want {
			t.Errorf("error %v, want above 0: %v", e, want)
		}
		v.Ints = append(v.Ints, 100, 101, 102)
	}
}
