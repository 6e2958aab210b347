package sketchfn_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var config = agg.Config{Seed: keyhash.Seed{K0: 1, K1: 2}}

var registry = sync.OnceValue(func() *agg.Registry {
	r := agg.NewRegistry()
	sketchfn.Register(r)
	return r
})

// bindCall binds a call with a column of type t, more columns, and constant parameters.
func bindCall(name string, t types.Type, more []types.OID, params ...float64) (agg.Bound, error) {
	args, consts := []types.Type{t}, []*types.Datum{nil}
	for _, o := range more {
		args, consts = append(args, types.Of(o)), append(consts, nil)
	}
	for _, p := range params {
		d := types.FloatDatum(p)
		args, consts = append(args, d.Type), append(consts, &d)
	}
	return registry().Lookup(name).Bind(args, consts)
}

func mustBind(t testing.TB, name string, typ types.OID, params ...float64) agg.Bound {
	t.Helper()
	b, err := bindCall(name, types.Of(typ), nil, params...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// column returns n random values of a type out of about distinct ones; some are NULL.
func column(t testing.TB, r *rand.Rand, typ types.Type, n, distinct int) *types.Vector {
	t.Helper()
	v := types.NewVector(typ, n)
	for range n {
		x := r.IntN(distinct) + r.IntN(distinct) - distinct
		if r.IntN(20) == 0 {
			v.AppendNull()
			continue
		}
		text := fmt.Sprint(x)
		switch typ.OID {
		case types.Int8:
			v.AppendInt(int64(x))
			continue
		case types.Float8:
			v.AppendFloat(float64(x) / 7)
			continue
		case types.Timestamptz:
			v.AppendInt(int64(x) * 1_000_000)
			continue
		case types.UUID:
			text = fmt.Sprintf("00000000-0000-4000-8000-%012d", x&0xfffff)
		case types.Numeric:
			text = fmt.Sprintf("%d.%0*d", x, 1+r.IntN(4), 0)
		case types.Interval:
			text = fmt.Sprintf("%d days", x)
		case types.JSONB:
			text = fmt.Sprintf(`{"a": %d}`, x)
		case types.Float8Array:
			text = fmt.Sprintf("{%d,%v,%v,1,%d}", x, r.NormFloat64(), r.ExpFloat64(), r.IntN(3))
		case types.TextArray:
			text = fmt.Sprintf(`{a,%d}`, x)
		}
		d, err := types.Parse(typ, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		v.AppendDatum(d)
	}
	return v
}

func states(b agg.Bound, n int) agg.States {
	s := b.State.New(config)
	s.Grow(n)
	return s
}

func update(t testing.TB, s agg.States, g uint32, v ...*types.Vector) {
	t.Helper()
	groups, rows := make([]uint32, v[0].Len()), make([]int32, v[0].Len())
	for i := range rows {
		groups[i], rows[i] = g, int32(i)
	}
	if err := s.Update(groups, rows, v); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type contractCase struct {
	name   string
	typ    types.OID
	params []float64
	more   []types.OID // of the inputs behind the first
}

func (c contractCase) bind(t testing.TB) agg.Bound {
	t.Helper()
	b, err := bindCall(c.name, types.Of(c.typ), c.more, c.params...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// input returns n random rows of all inputs of a call.
func input(t testing.TB, r *rand.Rand, b agg.Bound, n, distinct int) []*types.Vector {
	var out []*types.Vector
	if id := b.State.Identity(); strings.HasPrefix(id, "graph(") || strings.HasPrefix(id, "triest(") {
		distinct = min(distinct, 40) // of vertices there are not many
	}
	for i, typ := range b.ArgTypes {
		v := column(t, r, typ, n, distinct)
		if i == 1 && (strings.HasPrefix(b.Final.String(), "priority") || strings.HasPrefix(b.State.Identity(), "varopt(")) { // weights are above 0
			for row := range v.Floats {
				v.Floats[row] = math.Abs(v.Floats[row]) + 1
			}
		}
		out = append(out, v)
	}
	return out
}

// mergeable reports whether states of more than no row merge.
func mergeable(b agg.Bound) bool { return !strings.HasPrefix(b.State.Identity(), "triest(") }

func gather(in []*types.Vector, rows []int32) []*types.Vector {
	var out []*types.Vector
	for _, v := range in {
		out = append(out, v.Gather(rows))
	}
	return out
}

var contractCases = []contractCase{
	{"approx_distinct", types.Int8, nil, nil},
	{"approx_distinct", types.Text, []float64{4}, nil},
	{"approx_distinct", types.UUID, []float64{8}, nil},
	{"approx_distinct", types.Numeric, []float64{0.05}, nil},
	{"approx_distinct", types.TextArray, nil, nil},
	{"hll_agg", types.Float8, []float64{10}, nil},
	{"theta_agg", types.Text, []float64{64}, nil},
	{"theta_agg", types.Int8, nil, nil},
	{"theta_agg", types.Numeric, []float64{0.1}, nil},
	{"approx_frequency", types.Float8, []float64{1, 0.9, 0.01}, nil},
	{"freq_agg", types.Int8, []float64{0.9, 0.2}, nil},
	{"count_sketch_agg", types.Text, []float64{16, 3}, []types.OID{types.Int8}},
	{"bloom_agg", types.Text, []float64{0.1, 1000}, nil},
	{"bloom_agg", types.Numeric, nil, nil},
	{"minhash_agg", types.Text, []float64{16}, nil},
	{"keyed_max", types.Int8, nil, []types.OID{types.Text}},
	{"keyed_min", types.Numeric, nil, []types.OID{types.UUID}},
	{"first_values", types.Text, []float64{5}, []types.OID{types.Timestamptz}},
	{"last_values", types.Numeric, []float64{50}, []types.OID{types.Float8}},
	{"sample_agg", types.Text, []float64{20}, []types.OID{types.Int8}},
	{"priority_sample", types.Numeric, []float64{20}, []types.OID{types.Float8, types.Int8}},
	{"histogram", types.Float8, []float64{-10, 10, 7}, nil},
	{"fd_agg", types.Float8Array, []float64{3}, nil},
	{"fd_agg", types.Float8Array, nil, nil},
	{"projection_agg", types.Float8Array, []float64{70}, []types.OID{types.Text}},
	{"graph_agg", types.Text, nil, []types.OID{types.Text}},
	{"graph_agg", types.Int8, []float64{100}, []types.OID{types.Int8, types.Int8}},
	{"varopt_agg", types.Text, []float64{5}, []types.OID{types.Float8}},
	{"varopt_agg", types.Numeric, nil, []types.OID{types.Float8}},
	{"simhash_agg", types.Text, []float64{23}, []types.OID{types.Int8}},
	{"bucket_agg", types.Text, nil, []types.OID{types.Int4}},
	{"bucket_agg", types.Int8, nil, []types.OID{types.Int4, types.Timestamptz}},
	{"similar_pairs", types.Int8, []float64{0.5, 16, 9000}, []types.OID{types.Text}},
	{"similar_pairs", types.Text, []float64{0.3, 128, 9000}, []types.OID{types.Int8}},
	{"triangle_count", types.Text, []float64{6}, []types.OID{types.Text}},
	{"triangle_count", types.Int8, nil, []types.OID{types.Int8}},
	{"dd_quantile", types.Float8, []float64{0.9}, nil},
	{"dd_agg", types.Float8, []float64{0.05}, nil},
	{"gk_quantile", types.Float8, []float64{0.9}, nil},
	{"gk_agg", types.Float8, []float64{0.1}, nil},
	{"req_quantile", types.Float8, []float64{0.9}, nil},
	{"req_agg", types.Float8, []float64{4}, nil},
	{"tdigest_quantile", types.Float8, []float64{0.9}, nil},
	{"tdigest_agg", types.Float8, []float64{10}, nil},
	{"approx_quantile", types.Float8, []float64{0.9}, nil},
	{"approx_quantile", types.Int8, []float64{0.5, 8}, nil},
	{"approx_quantile", types.Timestamptz, []float64{0.5, 500}, nil},
	{"approx_median", types.Float8, nil, nil},
	{"approx_rank", types.Float8, []float64{0.5}, nil},
	{"approx_rank", types.Int8, []float64{-3, 16}, nil},
	{"kll_agg", types.Float8, []float64{20}, nil},
	{"frequent_agg", types.Text, []float64{8}, nil},
	{"approx_top_k", types.Text, []float64{3, 8}, nil},
	{"approx_top_k", types.Int8, []float64{5}, nil},
	{"approx_top_k", types.Float8, []float64{5, 20}, nil},
	{"approx_top_k", types.UUID, []float64{5, 16}, nil},
	{"approx_top_k", types.Numeric, []float64{5, 16}, nil},
	{"approx_top_k", types.Interval, []float64{5, 16}, nil},
	{"approx_top_k", types.JSONB, []float64{5, 16}, nil},
	{"approx_top_k", types.TextArray, []float64{5, 16}, nil},
}

func forEachCase(t *testing.T, f func(t *testing.T, b agg.Bound, r *rand.Rand)) {
	for i, c := range contractCases {
		t.Run(fmt.Sprintf("%s(%s)%v", c.name, types.Of(c.typ), c.params), func(t *testing.T) {
			f(t, c.bind(t), rand.New(rand.NewPCG(7, uint64(i))))
		})
	}
}

var sizes = []int{0, 1, 2, 5, 40, 200, 3000}

func TestZeroStateIsNeutral(t *testing.T) {
	forEachCase(t, func(t *testing.T, b agg.Bound, r *rand.Rand) {
		for _, n := range sizes {
			s := states(b, 3)
			update(t, s, 0, input(t, r, b, n, n+1)...)
			before := s.Append(nil, 0)
			must(t, s.Merge(0, s.Append(nil, 1)))
			must(t, s.MergeFrom(0, s, 2))
			if got := s.Append(nil, 0); !bytes.Equal(got, before) {
				t.Fatalf("n=%d: merging nothing changed the state", n)
			}
		}
	})
}

// TestL2CopiesGoOnAlike: a state that went to disk and back, and one that was copied
// in memory, as checkpoints and answers are, have the same bytes and go on alike.
func TestL2CopiesGoOnAlike(t *testing.T) {
	forEachCase(t, func(t *testing.T, b agg.Bound, r *rand.Rand) {
		for _, n := range sizes {
			s, copied := states(b, 2), states(b, 3)
			update(t, s, 0, input(t, r, b, n, n+1)...)
			must(t, copied.Merge(1, s.Append(nil, 0)))
			must(t, copied.MergeFrom(2, s, 0))
			same := func(when string) {
				t.Helper()
				for g, how := range map[uint32]string{1: "read back", 2: "copied"} {
					if !bytes.Equal(s.Append(nil, 0), copied.Append(nil, g)) {
						t.Fatalf("n=%d: the state that was %s differs %s", n, how, when)
					}
				}
			}
			same("at once")
			more := input(t, r, b, 1000, 300)
			update(t, s, 0, more...)
			update(t, copied, 1, more...)
			update(t, copied, 2, more...)
			same("after more rows")
		}
	})
}

func TestMergeCommutes(t *testing.T) {
	forEachCase(t, func(t *testing.T, b agg.Bound, r *rand.Rand) {
		if !mergeable(b) {
			s := states(b, 2)
			update(t, s, 0, input(t, r, b, 9, 5)...)
			update(t, s, 1, input(t, r, b, 9, 5)...)
			before := s.Append(nil, 0)
			if err := s.MergeFrom(0, s, 1); sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported || !bytes.Equal(s.Append(nil, 0), before) {
				t.Errorf("merged: %v", err)
			}
			return
		}
		for _, n := range sizes {
			for _, m := range sizes {
				s := states(b, 5)
				update(t, s, 0, input(t, r, b, n, n/2+1)...)
				update(t, s, 1, input(t, r, b, m, m+5)...)
				must(t, s.Merge(2, s.Append(nil, 0)))
				must(t, s.Merge(2, s.Append(nil, 1)))
				must(t, s.MergeFrom(3, s, 1))
				must(t, s.MergeFrom(3, s, 0))
				if !bytes.Equal(s.Append(nil, 2), s.Append(nil, 3)) {
					t.Fatalf("%d and %d rows: the order of a merge shows", n, m)
				}
			}
		}
	})
}

func TestReplayIsByteEqual(t *testing.T) {
	forEachCase(t, func(t *testing.T, b agg.Bound, r *rand.Rand) {
		v := input(t, r, b, 5000, 2000)
		whole, parts := states(b, 1), states(b, 1)
		update(t, whole, 0, v...)
		for at := 0; at < 5000; {
			n := min(1+r.IntN(700), 5000-at)
			sel := make([]int32, n)
			for i := range sel {
				sel[i] = int32(at + i)
			}
			update(t, parts, 0, gather(v, sel)...)
			at += n
		}
		if !bytes.Equal(whole.Append(nil, 0), parts.Append(nil, 0)) {
			t.Fatal("the size of batches shows in the state")
		}
	})
}

func TestDistinctMergeEqualsConcatenation(t *testing.T) {
	for _, p := range []float64{4, 8, 12} {
		b := mustBind(t, "approx_distinct", types.Int8, p)
		r := rand.New(rand.NewPCG(3, uint64(p)))
		for range 60 {
			const parts = 6
			s := states(b, parts+1)
			for g := range uint32(parts) {
				v := column(t, r, types.Of(types.Int8), r.IntN(1<<r.IntN(12)), 1<<(1+r.IntN(12)))
				update(t, s, g, v)
				update(t, s, parts, v)
			}
			for len := parts; len > 1; len-- { // a random tree, overlap included
				dst, src := uint32(r.IntN(len)), uint32(len-1)
				if dst == src {
					dst = 0
				}
				must(t, s.Merge(dst, s.Append(nil, src)))
				if r.IntN(3) == 0 {
					must(t, s.Merge(dst, s.Append(nil, src)))
				}
			}
			if !bytes.Equal(s.Append(nil, 0), s.Append(nil, parts)) {
				t.Fatalf("p=%v: the merge is not the state of all rows", p)
			}
		}
	}
}

func TestCorruptStatesAreRefused(t *testing.T) {
	forEachCase(t, func(t *testing.T, b agg.Bound, r *rand.Rand) {
		s := states(b, 2)
		if mergeable(b) {
			update(t, s, 0, input(t, r, b, 30, 20)...)
		}
		before := s.Append(nil, 0)
		for _, n := range sizes {
			update(t, s, 1, input(t, r, b, n, n+1)...)
			state := s.Append(nil, 1)
			for range 400 {
				bad := bytes.Clone(state)
				switch r.IntN(3) {
				case 0:
					bad = bad[:r.IntN(len(bad))]
				case 1:
					bad = append(bad, byte(r.IntN(256)))
				default:
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
				err := s.Merge(0, bad)
				var e *sqlerr.Error
				switch {
				case err == nil: // another state, as good as any
					s = states(b, 2)
					must(t, s.Merge(0, before))
					must(t, s.Merge(1, state))
				case !errors.As(err, &e) || e.Code != sqlerr.DataCorrupted:
					t.Fatalf("error %v", err)
				case !bytes.Equal(s.Append(nil, 0), before):
					t.Fatal("a refused state left a trace")
				}
			}
		}
	})
}

func TestEmptyGroups(t *testing.T) {
	for _, c := range contractCases {
		b := c.bind(t)
		s := states(b, 1)
		out := types.NewVector(b.Final.Type(), 1)
		bounds := newBounds(b)
		must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
		if out.Len() != 1 || b.Final.Approximate() && (bounds.Lo.Len() != 1 || bounds.Hi.Len() != 1 || bounds.Error.Floats[0] != 0) {
			t.Errorf("%s: %+v", c.name, out)
		}
	}
}

func newBounds(b agg.Bound) *agg.Bounds {
	return &agg.Bounds{Lo: types.NewVector(b.Final.Type(), 1), Hi: types.NewVector(b.Final.Type(), 1), Error: types.NewVector(types.Of(types.Float8), 1)}
}

func TestParametersAndTypes(t *testing.T) {
	for _, c := range []struct {
		name   string
		typ    types.OID
		params []float64
		code   sqlerr.Code
	}{
		{"approx_distinct", types.JSON, nil, sqlerr.UndefinedFunction},
		{"approx_distinct", types.Int4, []float64{19}, sqlerr.InvalidParameterValue},
		{"approx_distinct", types.Int4, []float64{3}, sqlerr.InvalidParameterValue},
		{"approx_distinct", types.Int4, []float64{0.5}, sqlerr.InvalidParameterValue},
		{"approx_distinct", types.Int4, []float64{12.5}, sqlerr.InvalidParameterValue},
		{"approx_distinct", types.Int4, []float64{-1}, sqlerr.InvalidParameterValue},
		{"approx_distinct", types.Int4, []float64{12, 1}, sqlerr.UndefinedFunction},
		{"approx_quantile", types.Text, []float64{0.5}, sqlerr.UndefinedFunction},
		{"approx_quantile", types.Interval, []float64{0.5}, sqlerr.UndefinedFunction},
		{"approx_quantile", types.Float8, nil, sqlerr.UndefinedFunction},
		{"approx_quantile", types.Float8, []float64{1.5}, sqlerr.InvalidParameterValue},
		{"approx_quantile", types.Float8, []float64{0.5, 7}, sqlerr.InvalidParameterValue},
		{"approx_quantile", types.Float8, []float64{0.5, 9000}, sqlerr.InvalidParameterValue},
		{"approx_median", types.Bool, nil, sqlerr.UndefinedFunction},
		{"approx_top_k", types.Text, []float64{0}, sqlerr.InvalidParameterValue},
		{"approx_top_k", types.Text, []float64{10, 9}, sqlerr.InvalidParameterValue},
		{"approx_top_k", types.Text, nil, sqlerr.UndefinedFunction},
		{"approx_top_k", types.JSON, []float64{5}, sqlerr.UndefinedFunction},
		{"hll_union", types.Text, nil, sqlerr.UndefinedFunction},
		{"theta_agg", types.JSON, nil, sqlerr.UndefinedFunction},
		{"theta_agg", types.Int8, []float64{15}, sqlerr.InvalidParameterValue},
		{"theta_agg", types.Int8, []float64{0.0001}, sqlerr.InvalidParameterValue},
		{"theta_agg", types.Int8, []float64{-1}, sqlerr.InvalidParameterValue},
		{"kll_agg", types.Timestamptz, nil, sqlerr.UndefinedFunction},
		{"approx_rank", types.Text, []float64{1}, sqlerr.UndefinedFunction},
		{"approx_quantiles", types.Float8, []float64{0.5}, sqlerr.UndefinedFunction},
		{"frequent_agg", types.Text, []float64{7}, sqlerr.InvalidParameterValue},
		{"fd_agg", types.Float8, nil, sqlerr.UndefinedFunction},
		{"fd_agg", types.TextArray, nil, sqlerr.UndefinedFunction},
		{"fd_agg", types.Float8Array, []float64{1}, sqlerr.InvalidParameterValue},
		{"projection_agg", types.Float8Array, nil, sqlerr.UndefinedFunction},
		{"graph_agg", types.Int8, nil, sqlerr.UndefinedFunction},
		{"varopt_agg", types.Int8, nil, sqlerr.UndefinedFunction},
		{"simhash_agg", types.Int8, nil, sqlerr.UndefinedFunction},
		{"bucket_agg", types.Int8, nil, sqlerr.UndefinedFunction},
		{"similar_pairs", types.Int8, []float64{0.5}, sqlerr.UndefinedFunction},
	} {
		_, err := bindCall(c.name, types.Of(c.typ), nil, c.params...)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s(%d)%v: %v, want %s", c.name, c.typ, c.params, err, c.code)
		}
	}
	if _, err := registry().Lookup("approx_quantile").Bind([]types.Type{types.Of(types.Float8), types.Of(types.Float8)}, make([]*types.Datum, 2)); err == nil {
		t.Error("a quantile that is not constant was taken")
	}
}

func TestCallsShareStates(t *testing.T) {
	same := [][2]agg.Bound{
		{mustBind(t, "approx_quantile", types.Float8, 0.5), mustBind(t, "approx_percentile", types.Numeric, 0.99)},
		{mustBind(t, "approx_quantile", types.Int4, 0.5), mustBind(t, "approx_median", types.Int8)},
		{mustBind(t, "approx_distinct", types.Int2), mustBind(t, "hll_agg", types.Int8, 12)},
		{mustBind(t, "approx_distinct", types.Varchar), mustBind(t, "approx_distinct", types.Text, 0.01625)},
		{mustBind(t, "approx_top_k", types.Text, 3), mustBind(t, "topk_agg", types.Text, 20)},
	}
	for i, p := range same {
		if p[0].State.Identity() != p[1].State.Identity() {
			t.Errorf("%d: %s and %s", i, p[0].State.Identity(), p[1].State.Identity())
		}
	}
}

func TestDescriptorsAreComplete(t *testing.T) {
	r := registry()
	for _, name := range r.Names() {
		d := r.Lookup(name).Descriptor
		for what, text := range map[string]string{
			"family": d.Family, "signature": d.Signature, "guarantee": d.Guarantee, "confidence": d.Confidence,
			"citation": d.Citation, "memory": d.Memory, "privacy": string(d.PrivacyClass), "stream": string(d.StreamModel), "merge": string(d.MergeAlgebra),
		} {
			if text == "" {
				t.Errorf("%s has no %s", name, what)
			}
		}
		if d.CodecVersion == 0 {
			t.Errorf("%s has no codec version", name)
		}
		if f := r.Lookup(name); f.Takes(agg.StrictTurnstile) != (f.Weighted != nil || f.Weight > 0) {
			t.Errorf("%s says that its model is %s", name, f.StreamModel)
		}
	}
}
