package sketchfn_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

func heap() int64 {
	runtime.GC()
	runtime.GC() // what a sweep of pools kept for one cycle goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryIsWhatIsHeld(t *testing.T) {
	for _, c := range []struct {
		contractCase
		groups, rows int
	}{
		{contractCase{"approx_distinct", types.Int8, nil, nil}, 100_000, 1},
		{contractCase{"approx_distinct", types.Int8, nil, nil}, 20_000, 20},
		{contractCase{"approx_distinct", types.Int8, nil, nil}, 300, 3000},
		{contractCase{"theta_agg", types.Int8, nil, nil}, 5000, 20},
		{contractCase{"theta_agg", types.Int8, nil, nil}, 100, 9000},
		{contractCase{"freq_agg", types.Int8, nil, nil}, 2000, 20},
		{contractCase{"bloom_agg", types.Int8, nil, nil}, 2000, 20},
		{contractCase{"bloom_agg", types.Int8, nil, nil}, 100, 2000},
		{contractCase{"freq_agg", types.Int8, nil, nil}, 50, 3000},
		{contractCase{"approx_median", types.Int8, nil, nil}, 20_000, 10},
		{contractCase{"approx_median", types.Int8, nil, nil}, 300, 5000},
		{contractCase{"approx_top_k", types.Int8, []float64{5}, nil}, 10_000, 20},
		{contractCase{"approx_top_k", types.Text, []float64{5}, nil}, 200, 2000},
	} {
		t.Run(fmt.Sprintf("%s %d x %d", c.name, c.groups, c.rows), func(t *testing.T) {
			b := mustBind(t, c.name, c.typ, c.params...)
			n := c.groups * c.rows
			col := ints(n, 0)
			if c.typ == types.Text {
				col = texts(n, 0)
			}
			groups, rows := make([]uint32, n), make([]int32, n)
			for i := range rows {
				groups[i], rows[i] = uint32(i%c.groups), int32(i)
			}
			before := heap()
			s := states(b, c.groups)
			for at := 0; at < n; at += benchRows {
				end := min(at+benchRows, n)
				must(t, s.Update(groups[at:end], rows[at:end], []*types.Vector{col}))
			}
			held, said := heap()-before, s.MemoryBytes()
			runtime.KeepAlive([]any{col, groups, rows, b})
			estimate := b.State.BytesPerGroup(int64(c.rows)) * int64(c.groups)
			t.Logf("held %d, said %d, estimated %d, %d a group", held, said, estimate, said/int64(c.groups))
			if diff := float64(held-said) / float64(held); diff > 0.05 || diff < -0.05 {
				t.Errorf("%d bytes are held, %d said", held, said)
			}
			if ratio := float64(estimate) / float64(said); ratio < 0.6 || ratio > 1.6 {
				t.Errorf("%d bytes estimated, %d said", estimate, said)
			}
		})
	}
}

// A group is a few words in a slice without pointers: updates allocate only when
// a slab grows.
func TestUpdateDoesNotAllocatePerRow(t *testing.T) {
	for _, c := range contractCases {
		switch c.typ {
		case types.Numeric, types.Interval, types.JSONB, types.TextArray, types.Float8Array:
			continue // whose key encoding allocates, or whose rows are compacted
		}
		if len(c.more) > 0 {
			continue
		}
		b := c.bind(t)
		s := states(b, 10)
		col := types.NewVector(b.ArgTypes[0], benchRows)
		groups, rows := make([]uint32, benchRows), make([]int32, benchRows)
		for i := range rows {
			groups[i], rows[i] = uint32(i%10), int32(i)
			switch c.typ {
			case types.Text:
				col.AppendString(fmt.Sprint("text ", i))
			case types.UUID:
				col.AppendBytes([]byte{15: byte(i), 14: byte(i >> 8)})
			case types.Float8:
				col.AppendFloat(float64(i))
			default:
				col.AppendInt(int64(i))
			}
		}
		in := []*types.Vector{col}
		fold := func() { must(t, s.Update(groups, rows, in)) }
		for range 60 {
			fold()
		}
		if n := testing.AllocsPerRun(20, fold); n > 10 {
			t.Errorf("%s(%d): %v allocations for %d rows", c.name, c.typ, n, benchRows)
		}
	}
}

// Graphs keep maps, whose memory is said by measurement.
func TestMemoryOfGraphs(t *testing.T) {
	for _, c := range []struct {
		groups, vertices, edges int64
	}{{2000, 40, 30}, {20, 1000, 7000}, {3, 200, 15_000}} {
		b := contractCase{"graph_agg", types.Int8, []float64{float64(c.vertices)}, []types.OID{types.Int8, types.Int8}}.bind(t)
		before := heap()
		s := states(b, int(c.groups))
		for g := range c.groups {
			in := edgeColumns(randomEdges(rand.New(rand.NewPCG(uint64(g), 1)), c.vertices, c.edges))
			update(t, s, uint32(g), in...)
		}
		held, said := heap()-before, s.MemoryBytes()
		estimate := b.State.BytesPerGroup(c.edges) * c.groups
		runtime.KeepAlive(s)
		t.Logf("held %d, said %d, estimated %d", held, said, estimate)
		if diff := float64(held-said) / float64(held); diff > 0.3 || diff < -0.3 {
			t.Errorf("%d bytes are held, %d said", held, said)
		}
		if ratio := float64(estimate) / float64(said); ratio < 0.6 || ratio > 1.6 {
			t.Errorf("%d bytes estimated, %d said", estimate, said)
		}
	}
}
