package bench

import (
	"encoding/binary"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/apache/datasketches-go/common"
	"github.com/apache/datasketches-go/frequencies"
	ds "github.com/apache/datasketches-go/hll"
	"github.com/apache/datasketches-go/kll"
	"github.com/apache/datasketches-go/theta"
	axiom "github.com/axiomhq/hyperloglog"
	"github.com/bits-and-blooms/bloom/v3"
	caio "github.com/caio/go-tdigest/v4"
	influx "github.com/influxdata/tdigest"

	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// rows is the number of values of a benchmark: distinct integers, or floats that
// are exponentially distributed.
const rows = 1 << 16

var (
	integers = func() []int64 {
		out := make([]int64, rows)
		for i := range out {
			out[i] = int64(i) * 7919
		}
		return out
	}()
	floats = func() []float64 {
		out := make([]float64, rows)
		for i := range out {
			out[i] = -math.Log((float64(uint64(i)*0x9e3779b97f4a7c15>>11) + 0.5) / (1 << 53))
		}
		return out
	}()
)

var registry = func() *agg.Registry {
	r := agg.NewRegistry()
	sketchfn.Register(r)
	return r
}()

// ours is one of our sketches over the rows.
type ours struct {
	bound agg.Bound
	in    []*types.Vector
}

func newOurs(b testing.TB, name string, t types.OID, params ...float64) ours {
	b.Helper()
	args, consts := []types.Type{types.Of(t)}, []*types.Datum{nil}
	for _, p := range params {
		d := types.FloatDatum(p)
		args, consts = append(args, d.Type), append(consts, &d)
	}
	bound, err := registry.Lookup(name).Bind(args, consts)
	if err != nil {
		b.Fatal(err)
	}
	v := types.NewVector(types.Of(t), rows)
	if t == types.Int8 {
		v.Ints = append(v.Ints, integers...)
	} else {
		v.Floats = append(v.Floats, floats...)
	}
	return ours{bound, []*types.Vector{v}}
}

func (o ours) states(n int) agg.States {
	s := o.bound.State.New(agg.Config{Seed: keyhash.Seed{K0: 1, K1: 2}})
	s.Grow(n)
	return s
}

// fold folds all rows into group g, in batches as partitions do.
func (o ours) fold(b testing.TB, s agg.States, g uint32) {
	const batch = 4096
	groups, numbers := make([]uint32, batch), make([]int32, batch)
	for at := 0; at < o.in[0].Len(); at += batch {
		n := min(batch, o.in[0].Len()-at)
		for i := range n {
			groups[i], numbers[i] = g, int32(at+i)
		}
		if err := s.Update(groups[:n], numbers[:n], o.in); err != nil {
			b.Fatal(err)
		}
	}
}

// update measures the update of one value, and reports the bytes of the state.
func (o ours) update(b *testing.B) {
	var s agg.States
	for range b.N {
		s = o.states(1)
		o.fold(b, s, 0)
	}
	report(b, len(s.Append(nil, 0)))
}

// merge measures the merge of one state that is as large as it gets into another. It is
// of families that count nothing, whose states are the same after it.
func (o ours) merge(b *testing.B) {
	s := o.states(2)
	o.fold(b, s, 0)
	o.fold(b, s, 1)
	b.ResetTimer()
	for range b.N {
		if err := s.MergeFrom(0, s, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B, bytes int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/value")
	b.ReportMetric(float64(bytes), "bytes")
}

// theirs measures what makes a sketch of all rows and returns its bytes.
func theirs(b *testing.B, make func() int) {
	bytes := 0
	for range b.N {
		bytes = make()
	}
	report(b, bytes)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func newDSHLL() ds.HllSketch {
	s := must(ds.NewHllSketch(12, ds.TgtHllTypeHll8))
	for _, x := range integers {
		if err := s.UpdateInt64(x); err != nil {
			panic(err)
		}
	}
	return s
}

func newAxiom() *axiom.Sketch {
	s := must(axiom.NewSketch(12, true))
	var buf [8]byte
	for _, x := range integers {
		binary.LittleEndian.PutUint64(buf[:], uint64(x))
		s.Insert(buf[:])
	}
	return s
}

func newDSKLL() *kll.ItemsSketch[float64] {
	s := must(kll.NewKllItemsSketch[float64](200, 8, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{}))
	for _, x := range floats {
		s.Update(x)
	}
	return s
}

func newDSFrequent(values []int64) *frequencies.LongsSketch {
	s := must(frequencies.NewLongsSketchWithMaxMapSize(1024))
	for _, x := range values {
		if err := s.Update(x); err != nil {
			panic(err)
		}
	}
	return s
}

func newDSTheta() *theta.CompactSketch {
	s := must(theta.NewQuickSelectUpdateSketch())
	for _, x := range integers {
		_ = s.UpdateInt64(x) // says so where the hash is above theta
	}
	return s.Compact(true)
}

func newDD() *ddsketch.DDSketch {
	s := must(ddsketch.NewDefaultDDSketch(0.01))
	for _, x := range floats {
		if err := s.Add(x); err != nil {
			panic(err)
		}
	}
	return s
}

func BenchmarkUpdate(b *testing.B) {
	b.Run("distinct/tally-hll", func(b *testing.B) { newOurs(b, "approx_distinct", types.Int8).update(b) })
	b.Run("distinct/datasketches-hll", func(b *testing.B) {
		theirs(b, func() int { return len(must(newDSHLL().ToCompactSlice())) })
	})
	b.Run("distinct/axiomhq", func(b *testing.B) { theirs(b, func() int { return len(must(newAxiom().MarshalBinary())) }) })
	b.Run("sets/tally-theta", func(b *testing.B) { newOurs(b, "theta_agg", types.Int8).update(b) })
	b.Run("sets/datasketches-theta", func(b *testing.B) { theirs(b, func() int { return 16 + 8*int(newDSTheta().NumRetained()) }) })
	b.Run("quantiles/tally-kll", func(b *testing.B) { newOurs(b, "approx_median", types.Float8).update(b) })
	b.Run("quantiles/tally-req", func(b *testing.B) { newOurs(b, "req_quantile", types.Float8, 0.5).update(b) })
	b.Run("quantiles/tally-gk", func(b *testing.B) { newOurs(b, "gk_quantile", types.Float8, 0.5).update(b) })
	b.Run("quantiles/datasketches-kll", func(b *testing.B) { theirs(b, func() int { return len(must(newDSKLL().ToSlice())) }) })
	b.Run("relative/tally-dd", func(b *testing.B) { newOurs(b, "dd_quantile", types.Float8, 0.5).update(b) })
	b.Run("relative/datadog", func(b *testing.B) {
		theirs(b, func() int {
			var out []byte
			newDD().Encode(&out, false)
			return len(out)
		})
	})
	b.Run("tdigest/tally", func(b *testing.B) { newOurs(b, "tdigest_quantile", types.Float8, 0.5).update(b) })
	b.Run("tdigest/caio", func(b *testing.B) {
		theirs(b, func() int {
			s := must(caio.New(caio.Compression(100)))
			for _, x := range floats {
				if err := s.Add(x); err != nil {
					panic(err)
				}
			}
			return len(must(s.AsBytes()))
		})
	})
	b.Run("tdigest/influxdata", func(b *testing.B) {
		theirs(b, func() int {
			s := influx.NewWithCompression(100)
			for _, x := range floats {
				s.Add(x, 1)
			}
			return 16 * len(s.Centroids())
		})
	})
	b.Run("frequent/tally", func(b *testing.B) { newOurs(b, "frequent_agg", types.Int8, 292).update(b) })
	b.Run("frequent/datasketches", func(b *testing.B) {
		theirs(b, func() int {
			return len(newDSFrequent(integers).ToSlice())
		})
	})
	b.Run("membership/tally-bloom", func(b *testing.B) { newOurs(b, "bloom_agg", types.Int8, 0.02, rows).update(b) })
	b.Run("membership/bits-and-blooms", func(b *testing.B) {
		theirs(b, func() int {
			s := bloom.NewWithEstimates(rows, 0.02)
			var buf [8]byte
			for _, x := range integers {
				binary.LittleEndian.PutUint64(buf[:], uint64(x))
				s.Add(buf[:])
			}
			return len(must(s.MarshalBinary()))
		})
	})
}

func BenchmarkMerge(b *testing.B) {
	b.Run("distinct/tally-hll", func(b *testing.B) { newOurs(b, "approx_distinct", types.Int8).merge(b) })
	b.Run("distinct/datasketches-hll", func(b *testing.B) {
		u, s := must(ds.NewUnion(12)), newDSHLL()
		b.ResetTimer()
		for range b.N {
			if err := u.UpdateSketch(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("distinct/axiomhq", func(b *testing.B) {
		x, y := newAxiom(), newAxiom()
		b.ResetTimer()
		for range b.N {
			if err := x.Merge(y); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sets/tally-theta", func(b *testing.B) { newOurs(b, "theta_agg", types.Int8).merge(b) })
	b.Run("sets/datasketches-theta", func(b *testing.B) {
		u, s := must(theta.NewUnion()), newDSTheta()
		b.ResetTimer()
		for range b.N {
			if err := u.Update(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("disjoint/tally-theta", func(b *testing.B) {
		x, y := newOurs(b, "theta_agg", types.Int8), newOurs(b, "theta_agg", types.Int8)
		for i := range y.in[0].Ints {
			y.in[0].Ints[i] = -1 - y.in[0].Ints[i]
		}
		mergeTwo(b, x, y)
	})
	b.Run("disjoint/datasketches-theta", func(b *testing.B) {
		other := must(theta.NewQuickSelectUpdateSketch())
		for _, x := range integers {
			_ = other.UpdateInt64(-1 - x) // says so where the hash is above theta
		}
		x, y := newDSTheta(), other.Compact(true)
		mergeFreshTheirs(b, func() *theta.Union {
			u := must(theta.NewUnion())
			if err := u.Update(x); err != nil {
				b.Fatal(err)
			}
			return u
		}, func(u *theta.Union) {
			if err := u.Update(y); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("quantiles/tally-kll", func(b *testing.B) { mergeFresh(b, newOurs(b, "approx_median", types.Float8)) })
	b.Run("quantiles/datasketches-kll", func(b *testing.B) {
		y := newDSKLL()
		copied := must(y.ToSlice())
		mergeFreshTheirs(b, func() *kll.ItemsSketch[float64] {
			return must(kll.NewKllItemsSketchFromSlice[float64](copied, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{}))
		}, func(x *kll.ItemsSketch[float64]) { x.Merge(y) })
	})
	for name, second := range map[string][]int64{"frequent": integers[:fullTable], "frequent-disjoint": integers[fullTable : 2*fullTable]} {
		b.Run(name+"/tally", func(b *testing.B) {
			x, y := newOurs(b, "frequent_agg", types.Int8, 292), newOurs(b, "frequent_agg", types.Int8, 292)
			x.in[0].Ints, y.in[0].Ints = integers[:fullTable], second
			mergeTwo(b, x, y)
		})
		b.Run(name+"/datasketches", func(b *testing.B) {
			y, copied := newDSFrequent(second), newDSFrequent(integers[:fullTable]).ToSlice()
			mergeFreshTheirs(b, func() *frequencies.LongsSketch { return must(frequencies.NewLongsSketchFromSlice(copied)) }, func(x *frequencies.LongsSketch) {
				if _, err := x.Merge(y); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.Run("relative/tally-dd", func(b *testing.B) { mergeFresh(b, newOurs(b, "dd_quantile", types.Float8, 0.5)) })
	b.Run("relative/datadog", func(b *testing.B) {
		y := newDD()
		mergeFreshTheirs(b, y.Copy, func(x *ddsketch.DDSketch) {
			if err := x.MergeWith(y); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// fullTable is a number of values that is nearly as large as tables of frequent items get.
const fullTable = 760

// batch is how many merges are measured at a time, each into a state of its own, so
// that the clock is not stopped between them.
const batch = 64

// mergeFresh merges into a new copy each time, so that totals do not overflow.
func mergeFresh(b *testing.B, o ours) { mergeTwo(b, o, o) }

// mergeTwo merges the sketch of other rows into new copies of the sketch of some.
func mergeTwo(b *testing.B, o, other ours) {
	s := o.states(2)
	o.fold(b, s, 0)
	other.fold(b, s, 1)
	inBatches(b, func() agg.States {
		to := o.states(batch)
		for g := range uint32(batch) {
			if err := to.MergeFrom(g, s, 0); err != nil {
				b.Fatal(err)
			}
		}
		return to
	}, func(to agg.States, n int) {
		for g := range uint32(n) {
			if err := to.MergeFrom(g, s, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// mergeFreshTheirs is mergeFresh of another library.
func mergeFreshTheirs[S any](b *testing.B, fresh func() S, merge func(to S)) {
	inBatches(b, func() []S {
		to := make([]S, batch)
		for i := range to {
			to[i] = fresh()
		}
		return to
	}, func(to []S, n int) {
		for _, x := range to[:n] {
			merge(x)
		}
	})
}

// inBatches measures what is done with copies, and not their making. Garbage is collected
// between measurements only: most of it is the copies.
func inBatches[S any](b *testing.B, fresh func() S, merge func(to S, n int)) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for done := 0; done < b.N; done += batch {
		b.StopTimer()
		to := fresh()
		if done/batch%collectEvery == 0 {
			runtime.GC()
		}
		b.StartTimer()
		merge(to, min(batch, b.N-done))
	}
}

// collectEvery is after how many batches garbage is collected.
const collectEvery = 16
