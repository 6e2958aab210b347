package sketchfn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/datasketches-go/common"
	"github.com/apache/datasketches-go/frequencies"
	"github.com/apache/datasketches-go/hll"
	"github.com/apache/datasketches-go/kll"

	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

const benchRows = 4096

func texts(n, from int) *types.Vector {
	v := types.NewVector(types.Of(types.Text), n)
	for i := range n {
		v.AppendString(fmt.Sprintf("user-%07d", from+i))
	}
	return v
}

func ints(n, from int) *types.Vector {
	v := types.NewVector(types.Of(types.Int8), n)
	for i := range n {
		v.AppendInt(int64(from + i))
	}
	return v
}

func lognormals(n int, seed uint64) *types.Vector {
	r := rand.New(rand.NewPCG(seed, 5))
	v := types.NewVector(types.Of(types.Float8), n)
	for range n {
		v.AppendFloat(10 * math.Exp(r.NormFloat64()))
	}
	return v
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// benchUpdate folds batches into as many groups, whose rows take turns.
func benchUpdate(b *testing.B, bound agg.Bound, col *types.Vector, groups int) {
	s := states(bound, groups)
	gs, rows := make([]uint32, benchRows), make([]int32, benchRows)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range gs {
		gs[i] = uint32(r.IntN(groups))
	}
	at := 0
	b.ReportAllocs()
	for b.Loop() {
		for i := range rows {
			rows[i] = int32(at + i)
		}
		if at += benchRows; at+benchRows > col.Len() {
			at = 0
		}
		must(b, s.Update(gs, rows, []*types.Vector{col}))
	}
	perRow(b, benchRows)
}

func BenchmarkUpdate(b *testing.B) {
	const n = 1 << 20
	txt, num, val := texts(n, 0), ints(n, 0), lognormals(n, 1)
	for _, groups := range []int{1, 1000} {
		b.Run(fmt.Sprintf("hll/text/groups=%d", groups), func(b *testing.B) { benchUpdate(b, mustBind(b, "approx_distinct", types.Text), txt, groups) })
		b.Run(fmt.Sprintf("hll/int8/groups=%d", groups), func(b *testing.B) { benchUpdate(b, mustBind(b, "approx_distinct", types.Int8), num, groups) })
		b.Run(fmt.Sprintf("kll/float8/groups=%d", groups), func(b *testing.B) { benchUpdate(b, mustBind(b, "approx_quantile", types.Float8, 0.5), val, groups) })
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(5, 5)), 1.1, 1, 999_999)
	skewed, keys := types.NewVector(types.Of(types.Text), n), make([]int64, n)
	for i := range keys {
		keys[i] = int64(zipf.Uint64())
		skewed.AppendString(fmt.Sprintf("page-%06d", keys[i]))
	}
	b.Run("topk/text", func(b *testing.B) { benchUpdate(b, mustBind(b, "approx_top_k", types.Text, 10), skewed, 1) })
	b.Run("oracle/hll8/text", func(b *testing.B) {
		s, _ := hll.NewHllSketch(12, hll.TgtHllTypeHll8)
		oracleLoop(b, n, func(i int) { _ = s.UpdateSlice(txt.Bytes(i)) })
	})
	b.Run("oracle/hll8/int8", func(b *testing.B) {
		s, _ := hll.NewHllSketch(12, hll.TgtHllTypeHll8)
		oracleLoop(b, n, func(i int) { _ = s.UpdateInt64(num.Ints[i]) })
	})
	b.Run("oracle/kll/float8", func(b *testing.B) {
		s := oracleKLL()
		oracleLoop(b, n, func(i int) { s.Update(val.Floats[i]) })
	})
	b.Run("oracle/frequencies/int8", func(b *testing.B) {
		s, _ := frequencies.NewLongsSketchWithMaxMapSize(512)
		oracleLoop(b, n, func(i int) { _ = s.Update(keys[i]) })
	})
}

// BenchmarkHash is the share of the hash in an update.
func BenchmarkHash(b *testing.B) {
	const n = 1 << 20
	txt, num, h := texts(n, 0), ints(n, 0), valuehash.New(config.Seed, keyhash.UseDistinct)
	rows := make([]int32, benchRows)
	for i := range rows {
		rows[i] = int32(i)
	}
	for name, col := range map[string]*types.Vector{"text": txt, "int8": num} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h.Hash(col, rows)
			}
			perRow(b, benchRows)
		})
	}
}

func oracleLoop(b *testing.B, n int, f func(i int)) {
	at := 0
	for b.Loop() {
		for i := range benchRows {
			f(at + i)
		}
		if at += benchRows; at+benchRows > n {
			at = 0
		}
	}
	perRow(b, benchRows)
}

func oracleKLL() *kll.ItemsSketch[float64] {
	s, err := kll.NewKllItemsSketch[float64](200, 8, common.ItemSketchDoubleComparator(false), common.ItemSketchDoubleSerDe{})
	if err != nil {
		panic(err)
	}
	return s
}

// benchMerge merges portable states into groups that are like them.
func benchMerge(b *testing.B, bound agg.Bound, column func(seed int) *types.Vector) {
	const groups = 64
	s := states(bound, 2*groups)
	portable := make([][]byte, groups)
	for g := range groups {
		update(b, s, uint32(g), column(2*g))
		portable[g] = s.Append(nil, uint32(g))
		update(b, s, uint32(groups+g), column(2*g+1))
	}
	size := len(portable[0])
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			to := states(bound, groups)
			for g := range uint32(groups) {
				must(b, to.MergeFrom(g, s, groups+g))
				must(b, to.Merge(g, portable[g]))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/groups, "ns/group")
		b.ReportMetric(float64(size), "bytes/state")
	})
	b.Run("second", func(b *testing.B) {
		to := states(bound, groups)
		for g := range uint32(groups) {
			must(b, to.Merge(g, portable[g]))
		}
		i := 0
		for b.Loop() {
			must(b, to.Merge(uint32(i%groups), portable[i%groups]))
			i++
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{10, 100, 100_000} {
		b.Run(fmt.Sprintf("hll/n=%d", n), func(b *testing.B) {
			benchMerge(b, mustBind(b, "approx_distinct", types.Int8), func(seed int) *types.Vector { return ints(n, seed*n) })
		})
	}
	for _, n := range []int{10, 60, 100, 10_000} {
		b.Run(fmt.Sprintf("kll/n=%d", n), func(b *testing.B) {
			benchMerge(b, mustBind(b, "approx_quantile", types.Float8, 0.5), func(seed int) *types.Vector { return lognormals(n, uint64(seed)) })
		})
	}
	b.Run("topk/n=1000", func(b *testing.B) {
		benchMerge(b, mustBind(b, "approx_top_k", types.Text, 10), func(seed int) *types.Vector { return texts(1000, seed*100) })
	})
	b.Run("oracle/hll8/n=100000", func(b *testing.B) {
		x, _ := hll.NewHllSketch(12, hll.TgtHllTypeHll8)
		y, _ := hll.NewHllSketch(12, hll.TgtHllTypeHll8)
		for i := range 100_000 {
			_, _ = x.UpdateInt64(int64(i)), y.UpdateInt64(int64(i+50_000))
		}
		u, _ := hll.NewUnion(12)
		_ = u.UpdateSketch(x)
		for b.Loop() {
			_ = u.UpdateSketch(y)
		}
	})
	for _, n := range []int{60, 10_000} {
		b.Run(fmt.Sprintf("oracle/kll/n=%d", n), func(b *testing.B) {
			y := oracleKLL()
			for _, f := range lognormals(n, 3).Floats {
				y.Update(f)
			}
			for b.Loop() {
				x := oracleKLL()
				x.Merge(y)
				x.Merge(y)
			}
		})
	}
}

// BenchmarkQueryMerge is what a query over 8,000 groups does with states of 20 rows.
func BenchmarkQueryMerge(b *testing.B) {
	const groups, rows = 8000, 20
	for _, c := range []contractCase{{"approx_distinct", types.Int8, nil, nil}, {"approx_quantile", types.Float8, []float64{0.99}, nil}, {"approx_top_k", types.Int8, []float64{5}, nil}} {
		bound := mustBind(b, c.name, c.typ, c.params...)
		from := states(bound, groups)
		portable := make([][]byte, groups)
		for g := range groups {
			col := ints(rows, g*rows)
			if c.typ == types.Float8 {
				col = lognormals(rows, uint64(g))
			}
			update(b, from, uint32(g), col)
			portable[g] = from.Append(nil, uint32(g))
		}
		b.Run(c.name+"/merge", func(b *testing.B) {
			for b.Loop() {
				to := states(bound, groups)
				for g, p := range portable {
					must(b, to.Merge(uint32(g), p))
				}
			}
		})
		b.Run(c.name+"/finalise", func(b *testing.B) {
			for b.Loop() {
				must(b, bound.Final.Finalise(from, groups, 0.95, types.NewVector(bound.Final.Type(), groups), newBounds(bound)))
			}
		})
		b.Run(c.name+"/append", func(b *testing.B) {
			var buf []byte
			for b.Loop() {
				for g := range uint32(groups) {
					buf = from.Append(buf[:0], g)
				}
			}
		})
	}
}

// BenchmarkFinaliseDense is the cost of one value of a full sketch.
func BenchmarkFinaliseDense(b *testing.B) {
	for _, c := range []contractCase{{"approx_distinct", types.Int8, nil, nil}, {"approx_quantile", types.Int8, []float64{0.99}, nil}, {"approx_top_k", types.Int8, []float64{5}, nil}} {
		bound := mustBind(b, c.name, c.typ, c.params...)
		s := states(bound, 1)
		update(b, s, 0, ints(100_000, 0))
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				must(b, bound.Final.Finalise(s, 1, 0.95, types.NewVector(bound.Final.Type(), 1), newBounds(bound)))
			}
		})
	}
}
