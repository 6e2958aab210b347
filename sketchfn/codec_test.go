package sketchfn_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

var rewrite = flag.Bool("rewrite", false, "write the fixtures in testdata anew")

// fixture is a state whose bytes were written by the first release of a codec.
type fixture struct {
	name string
	contractCase
	rows, distinct int
}

var fixtures = []fixture{
	{"hll-empty", contractCase{"approx_distinct", types.Text, nil, nil}, 0, 1},
	{"hll-sparse", contractCase{"approx_distinct", types.Text, nil, nil}, 500, 200},
	{"hll-dense", contractCase{"approx_distinct", types.Int8, []float64{10}, nil}, 20_000, 10_000},
	{"theta-empty", contractCase{"theta_agg", types.Text, nil, nil}, 0, 1},
	{"theta-exact", contractCase{"theta_agg", types.Text, nil, nil}, 500, 200},
	{"theta-sampled", contractCase{"theta_agg", types.Int8, []float64{64}, nil}, 20_000, 10_000},
	{"countmin-empty", contractCase{"freq_agg", types.Text, nil, nil}, 0, 1},
	{"countmin-exact", contractCase{"freq_agg", types.Text, nil, nil}, 500, 100},
	{"countmin-counters", contractCase{"freq_agg", types.Int8, []float64{0.9, 0.1}, nil}, 5000, 500},
	{"countsketch-empty", contractCase{"count_sketch_agg", types.Text, nil, []types.OID{types.Int8}}, 0, 1},
	{"countsketch", contractCase{"count_sketch_agg", types.Text, []float64{16, 3}, []types.OID{types.Int8}}, 500, 100},
	{"bloom-empty", contractCase{"bloom_agg", types.Text, nil, nil}, 0, 1},
	{"bloom-hashes", contractCase{"bloom_agg", types.Text, nil, nil}, 300, 100},
	{"bloom-bits", contractCase{"bloom_agg", types.Int8, []float64{0.1, 500}, nil}, 900, 300},
	{"ddsketch-empty", contractCase{"dd_agg", types.Float8, nil, nil}, 0, 1},
	{"ddsketch", contractCase{"dd_agg", types.Float8, nil, nil}, 500, 100},
	{"gk-empty", contractCase{"gk_agg", types.Float8, nil, nil}, 0, 1},
	{"gk-fresh", contractCase{"gk_agg", types.Float8, nil, nil}, 50, 100},
	{"gk", contractCase{"gk_agg", types.Float8, []float64{0.05}, nil}, 5010, 1000},
	{"req-empty", contractCase{"req_agg", types.Float8, nil, nil}, 0, 1},
	{"req", contractCase{"req_agg", types.Float8, []float64{4}, nil}, 5000, 1000},
	{"tdigest-empty", contractCase{"tdigest_agg", types.Float8, nil, nil}, 0, 1},
	{"tdigest", contractCase{"tdigest_agg", types.Float8, []float64{20}, nil}, 5010, 1000},
	{"ranked-empty", contractCase{"keyed_max", types.Int8, nil, []types.OID{types.Text}}, 0, 1},
	{"ranked", contractCase{"first_values", types.Text, []float64{5}, []types.OID{types.Timestamptz}}, 500, 100},
	{"ranked-last", contractCase{"last_values", types.Numeric, []float64{5}, []types.OID{types.Float8}}, 500, 100},
	{"sample", contractCase{"sample_agg", types.Text, []float64{20}, []types.OID{types.Int8}}, 500, 100},
	{"sample-priority", contractCase{"priority_sample", types.Numeric, []float64{8}, []types.OID{types.Float8, types.Int8}}, 500, 100},
	{"histogram-empty", contractCase{"histogram", types.Float8, []float64{-10, 10, 7}, nil}, 0, 1},
	{"histogram", contractCase{"histogram", types.Float8, []float64{-10, 10, 7}, nil}, 500, 100},
	{"fd-empty", contractCase{"fd_agg", types.Float8Array, nil, nil}, 0, 1},
	{"fd-rows", contractCase{"fd_agg", types.Float8Array, nil, nil}, 30, 50},
	{"fd", contractCase{"fd_agg", types.Float8Array, []float64{3}, nil}, 500, 50},
	{"projection-empty", contractCase{"projection_agg", types.Float8Array, nil, []types.OID{types.Int8}}, 0, 1},
	{"projection", contractCase{"projection_agg", types.Float8Array, []float64{3}, []types.OID{types.Int8}}, 500, 50},
	{"graph-empty", contractCase{"graph_agg", types.Text, nil, []types.OID{types.Text}}, 0, 1},
	{"graph-edges", contractCase{"graph_agg", types.Text, nil, []types.OID{types.Text, types.Int8}}, 500, 30},
	{"graph", contractCase{"graph_agg", types.Int8, []float64{16}, []types.OID{types.Int8, types.Int8}}, 500, 8},
	{"triest-empty", contractCase{"triangle_count", types.Int8, nil, []types.OID{types.Int8}}, 0, 1},
	{"triest-exact", contractCase{"triangle_count", types.Int8, nil, []types.OID{types.Int8}}, 500, 20},
	{"triest", contractCase{"triangle_count", types.Text, []float64{20}, []types.OID{types.Text}}, 500, 20},
	{"varopt-empty", contractCase{"varopt_agg", types.Text, nil, []types.OID{types.Float8}}, 0, 1},
	{"varopt-all", contractCase{"varopt_agg", types.Text, nil, []types.OID{types.Float8}}, 50, 10},
	{"varopt", contractCase{"varopt_agg", types.Text, []float64{10}, []types.OID{types.Float8}}, 507, 100},
	{"simhash-empty", contractCase{"simhash_agg", types.Text, nil, []types.OID{types.Int8}}, 0, 1},
	{"simhash", contractCase{"simhash_agg", types.Text, []float64{32}, []types.OID{types.Int8}}, 500, 100},
	{"bucket-empty", contractCase{"bucket_agg", types.Text, nil, []types.OID{types.Int4}}, 0, 1},
	{"bucket", contractCase{"bucket_agg", types.Text, nil, []types.OID{types.Int4, types.Int8}}, 500, 100},
	{"pairs-empty", contractCase{"similar_pairs", types.Int8, []float64{0.5, 16}, []types.OID{types.Text}}, 0, 1},
	{"pairs", contractCase{"similar_pairs", types.Int8, []float64{0.5, 16}, []types.OID{types.Text}}, 300, 20},
	{"minhash-empty", contractCase{"minhash_agg", types.Text, []float64{16}, nil}, 0, 1},
	{"minhash", contractCase{"minhash_agg", types.Text, []float64{16}, nil}, 500, 100},
	{"kll-empty", contractCase{"approx_quantile", types.Float8, []float64{0.5}, nil}, 0, 1},
	{"kll-raw", contractCase{"approx_quantile", types.Float8, []float64{0.5}, nil}, 50, 1000},
	{"kll-levels", contractCase{"approx_quantile", types.Float8, []float64{0.5}, nil}, 20_000, 10_000},
	{"kll-times", contractCase{"approx_median", types.Timestamptz, []float64{16}, nil}, 20_000, 10_000},
	{"topk-empty", contractCase{"approx_top_k", types.Text, []float64{3, 8}, nil}, 0, 1},
	{"topk-text", contractCase{"approx_top_k", types.Text, []float64{3, 8}, nil}, 500, 100},
	{"topk-float8", contractCase{"approx_top_k", types.Float8, []float64{3, 16}, nil}, 500, 10},
	{"topk-numeric", contractCase{"approx_top_k", types.Numeric, []float64{3, 8}, nil}, 500, 50},
}

func (f fixture) state(t testing.TB) (agg.Bound, []byte) {
	b := f.bind(t)
	s := states(b, 1)
	r := rand.New(rand.NewPCG(1, 1))
	update(t, s, 0, input(t, r, b, f.rows, f.distinct)...)
	return b, s.Append(nil, 0)
}

func (f fixture) path(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("v%d", version), f.name+".state")
}

// States that any version wrote are read for as long as there is a reader of it, and
// the same rows still give the same bytes of the newest.
func TestFixturesOfAllVersions(t *testing.T) {
	for _, f := range fixtures {
		b, fresh := f.state(t)
		newest := int(fresh[0])
		if *rewrite {
			must(t, os.MkdirAll(filepath.Dir(f.path(newest)), 0o755))
			must(t, os.WriteFile(f.path(newest), fresh, 0o644))
		}
		for version := 1; version <= newest; version++ {
			old, err := os.ReadFile(f.path(version))
			must(t, err)
			s := states(b, 1)
			if err := s.Merge(0, old); err != nil {
				t.Errorf("%s, version %d: %v", f.name, version, err)
				continue
			}
			written := s.Append(nil, 0)
			again := states(b, 1)
			must(t, again.Merge(0, written))
			if !bytes.Equal(again.Append(nil, 0), written) || version == newest && !bytes.Equal(written, old) {
				t.Errorf("%s, version %d, is written in another way than it was read", f.name, version)
			}
			if version == newest && !bytes.Equal(fresh, old) {
				t.Errorf("%s: the same rows give another state", f.name)
			}
		}
	}
}

// States that nobody changes are merged from by several goroutines at a time; the
// race detector watches.
func TestMergeFromOnlyReadsItsSource(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			b, want := f.state(t)
			source := states(b, 1)
			must(t, source.Merge(0, want))
			var readers sync.WaitGroup
			for range 2 {
				readers.Go(func() {
					s := states(b, 1)
					if err := s.MergeFrom(0, source, 0); err != nil {
						t.Error(err)
					}
					if !bytes.Equal(s.Append(nil, 0), want) {
						t.Error("the copy has other bytes")
					}
				})
			}
			readers.Wait()
		})
	}
}

// TestL2FinaliseLeavesNoTrace: an owner finishes states that go on, so that reading
// them must not change what they become.
func TestL2FinaliseLeavesNoTrace(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			b, state := f.state(t)
			r := rand.New(rand.NewPCG(3, 3))
			more := input(t, r, b, f.rows/2, f.distinct)
			var ends [][]byte
			for _, read := range []bool{false, true} {
				s := states(b, 1)
				must(t, s.Merge(0, state))
				if read {
					out := types.NewVector(b.Final.Type(), 1)
					bounds := &agg.Bounds{Lo: types.NewVector(b.Final.Type(), 1), Hi: types.NewVector(b.Final.Type(), 1), Error: types.NewVector(types.Of(types.Float8), 1)}
					must(t, b.Final.Finalise(s, 1, 0.95, out, bounds))
				}
				if f.rows > 0 {
					update(t, s, 0, more...)
				}
				ends = append(ends, s.Append(nil, 0))
			}
			if !bytes.Equal(ends[0], ends[1]) {
				t.Error("what was read goes on in another way")
			}
		})
	}
}

// fuzzMerge merges any bytes into an empty group and into one that has values.
// What is accepted is canonical, and what is refused leaves no trace.
func fuzzMerge(f *testing.F, family string, cases ...contractCase) {
	for _, x := range fixtures {
		if strings.HasPrefix(x.name+"-", family+"-") {
			_, state := x.state(f)
			for i := range cases {
				f.Add(state, uint8(i))
			}
		}
	}
	bounds := make([]agg.Bound, len(cases))
	some := make([][]byte, len(cases))
	for i, c := range cases {
		bounds[i] = c.bind(f)
		s := states(bounds[i], 1)
		distinct := 100
		if family == "graph" {
			distinct = 8
		}
		update(f, s, 0, input(f, rand.New(rand.NewPCG(2, 2)), bounds[i], 300, distinct)...)
		some[i] = s.Append(nil, 0)
	}
	f.Fuzz(func(t *testing.T, state []byte, which uint8) {
		i := int(which) % len(cases)
		b := bounds[i]
		s := states(b, 2)
		must(t, s.Merge(1, some[i]))
		err := s.Merge(0, state)
		if own := s.Append(nil, 0); err == nil && own[0] == state[0] && !bytes.Equal(own, state) { // older versions are written as the newest
			t.Fatal("a state that is not canonical was accepted")
		}
		if err != nil && !bytes.Equal(s.Append(nil, 0), states(b, 1).Append(nil, 0)) {
			t.Fatal("a refused state left a trace")
		}
		if again := s.Merge(1, state); err != nil {
			if again == nil || !bytes.Equal(s.Append(nil, 1), some[i]) {
				t.Fatal("a refused state was accepted, or left a trace, in another group")
			}
		}
		out, limits := types.NewVector(b.Final.Type(), 2), newBounds(b)
		must(t, b.Final.Finalise(s, 2, 0.95, out, limits))
		for g := range 2 {
			if !b.Final.Approximate() || limits.Lo.IsNull(g) {
				continue
			}
			lo, x, hi := limits.Lo.Datum(g), out.Datum(g), limits.Hi.Datum(g)
			if types.Compare(lo, x) > 0 || types.Compare(x, hi) > 0 {
				t.Fatal(fmt.Sprint(lo, x, hi))
			}
		}
	})
}

func FuzzHLL(f *testing.F) {
	fuzzMerge(f, "hll", contractCase{"approx_distinct", types.Text, nil, nil}, contractCase{"approx_distinct", types.Int8, []float64{10}, nil}, contractCase{"approx_distinct", types.Int8, []float64{4}, nil})
}

func FuzzTheta(f *testing.F) {
	fuzzMerge(f, "theta", contractCase{"theta_agg", types.Text, nil, nil}, contractCase{"theta_agg", types.Int8, []float64{64}, nil}, contractCase{"theta_agg", types.Int8, []float64{16}, nil})
}

func FuzzCountMin(f *testing.F) {
	fuzzMerge(f, "countmin", contractCase{"freq_agg", types.Text, nil, nil}, contractCase{"freq_agg", types.Int8, []float64{0.9, 0.1}, nil}, contractCase{"approx_frequency", types.Float8, []float64{3, 0.5, 0.5}, nil})
}

func FuzzCountSketch(f *testing.F) {
	fuzzMerge(f, "countsketch", contractCase{"count_sketch_agg", types.Text, []float64{16, 3}, []types.OID{types.Int8}})
}

func FuzzBloom(f *testing.F) {
	fuzzMerge(f, "bloom", contractCase{"bloom_agg", types.Text, nil, nil}, contractCase{"bloom_agg", types.Int8, []float64{0.1, 500}, nil})
}

func FuzzDD(f *testing.F) {
	fuzzMerge(f, "ddsketch", contractCase{"dd_quantile", types.Float8, []float64{0.5}, nil})
}

func FuzzGK(f *testing.F) {
	fuzzMerge(f, "gk", contractCase{"gk_quantile", types.Float8, []float64{0.5}, nil}, contractCase{"gk_agg", types.Float8, []float64{0.05}, nil})
}

func FuzzREQ(f *testing.F) {
	fuzzMerge(f, "req", contractCase{"req_quantile", types.Float8, []float64{0.9}, nil}, contractCase{"req_agg", types.Float8, []float64{4}, nil})
}

func FuzzTDigest(f *testing.F) {
	fuzzMerge(f, "tdigest", contractCase{"tdigest_quantile", types.Float8, []float64{0.9}, nil}, contractCase{"tdigest_agg", types.Float8, []float64{20}, nil})
}

func FuzzRanked(f *testing.F) {
	fuzzMerge(f, "ranked", contractCase{"first_values", types.Text, []float64{5}, []types.OID{types.Timestamptz}}, contractCase{"keyed_max", types.Int8, nil, []types.OID{types.Text}},
		contractCase{"last_values", types.Numeric, []float64{5}, []types.OID{types.Float8}})
}

func FuzzSample(f *testing.F) {
	fuzzMerge(f, "sample", contractCase{"sample_agg", types.Text, []float64{20}, []types.OID{types.Int8}}, contractCase{"priority_sample", types.Numeric, []float64{8}, []types.OID{types.Float8, types.Int8}})
}

func FuzzHistogram(f *testing.F) {
	fuzzMerge(f, "histogram", contractCase{"histogram", types.Float8, []float64{-10, 10, 7}, nil})
}

func FuzzMinHash(f *testing.F) {
	fuzzMerge(f, "minhash", contractCase{"minhash_agg", types.Text, []float64{16}, nil})
}

func FuzzFrequentDirections(f *testing.F) {
	fuzzMerge(f, "fd", contractCase{"fd_agg", types.Float8Array, nil, nil}, contractCase{"fd_agg", types.Float8Array, []float64{3}, nil})
}

func FuzzProjection(f *testing.F) {
	fuzzMerge(f, "projection", contractCase{"projection_agg", types.Float8Array, []float64{3}, []types.OID{types.Int8}})
}

func FuzzGraph(f *testing.F) {
	fuzzMerge(f, "graph", contractCase{"graph_agg", types.Text, nil, []types.OID{types.Text}}, contractCase{"graph_agg", types.Int8, []float64{16}, []types.OID{types.Int8, types.Int8}})
}

func FuzzTriest(f *testing.F) {
	fuzzMerge(f, "triest", contractCase{"triangle_count", types.Int8, nil, []types.OID{types.Int8}}, contractCase{"triangle_count", types.Text, []float64{20}, []types.OID{types.Text}})
}

func FuzzVarOpt(f *testing.F) {
	fuzzMerge(f, "varopt", contractCase{"varopt_agg", types.Text, []float64{10}, []types.OID{types.Float8}}, contractCase{"varopt_agg", types.Int8, nil, []types.OID{types.Float8}})
}

func FuzzSimHash(f *testing.F) {
	fuzzMerge(f, "simhash", contractCase{"simhash_agg", types.Text, []float64{32}, []types.OID{types.Int8}})
}

func FuzzBucket(f *testing.F) {
	fuzzMerge(f, "bucket", contractCase{"bucket_agg", types.Text, nil, []types.OID{types.Int4, types.Int8}}, contractCase{"bucket_agg", types.Text, nil, []types.OID{types.Int4}})
}

func FuzzSimilarPairs(f *testing.F) {
	fuzzMerge(f, "pairs", contractCase{"similar_pairs", types.Int8, []float64{0.5, 16}, []types.OID{types.Text}})
}

func FuzzKLL(f *testing.F) {
	fuzzMerge(f, "kll", contractCase{"approx_quantile", types.Float8, []float64{0.5}, nil}, contractCase{"approx_median", types.Timestamptz, []float64{16}, nil}, contractCase{"approx_median", types.Int8, []float64{8}, nil})
}

func FuzzTopK(f *testing.F) {
	fuzzMerge(f, "topk", contractCase{"approx_top_k", types.Text, []float64{3, 8}, nil}, contractCase{"approx_top_k", types.Float8, []float64{3, 16}, nil},
		contractCase{"approx_top_k", types.Numeric, []float64{3, 8}, nil}, contractCase{"approx_top_k", types.JSONB, []float64{3, 8}, nil}, contractCase{"approx_top_k", types.TextArray, []float64{3, 8}, nil})
}

func FuzzUnion(f *testing.F) {
	b := mustBind(f, "hll_agg", types.Int8)
	s := states(b, 1)
	update(f, s, 0, ints(50, 0))
	out := types.NewVector(types.Of(types.Sketch), 1)
	must(f, b.Final.Finalise(s, 1, 0.95, out, nil))
	f.Add(append([]byte{1}, out.Bytes(0)...))
	union := mustBind(f, "hll_union_count", types.Sketch)
	f.Fuzz(func(t *testing.T, state []byte) {
		s := states(union, 1)
		old := len(state) > 1 && state[1] == 1 // a value of version 1 is written as one of version 2
		if s.Merge(0, state) == nil && !old && !bytes.Equal(s.Append(nil, 0), state) {
			t.Fatal("a state that is not canonical was accepted")
		}
		must(t, union.Final.Finalise(s, 1, 0.95, types.NewVector(types.Of(types.Int8), 1), newBounds(union)))
	})
}
