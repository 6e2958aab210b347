package agg_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// call is an aggregate to test.
type call struct {
	name     string
	args     []types.OID
	distinct bool
	float    bool // merges agree to rounding only
	ordered  bool // merging is not commutative
	weighted bool // rows have weights
}

var calls = []call{
	{name: "count"},
	{name: "count", args: []types.OID{types.Text}},
	{name: "count", args: []types.OID{types.Text}, distinct: true},
	{name: "sum", args: []types.OID{types.Int4}, distinct: true},
	{name: "sum", args: []types.OID{types.Int2}},
	{name: "sum", args: []types.OID{types.Int4}},
	{name: "sum", args: []types.OID{types.Int8}},
	{name: "avg", args: []types.OID{types.Int8}},
	{name: "sum", args: []types.OID{types.Float8}, float: true},
	{name: "avg", args: []types.OID{types.Float8}, float: true},
	{name: "sum", args: []types.OID{types.Numeric}},
	{name: "avg", args: []types.OID{types.Numeric}},
	{name: "sum", args: []types.OID{types.Interval}},
	{name: "avg", args: []types.OID{types.Interval}},
	{name: "min", args: []types.OID{types.Int8}},
	{name: "max", args: []types.OID{types.Float8}},
	{name: "min", args: []types.OID{types.Text}},
	{name: "max", args: []types.OID{types.Numeric}},
	{name: "max", args: []types.OID{types.Interval}},
	{name: "stddev", args: []types.OID{types.Int8}},
	{name: "var_pop", args: []types.OID{types.Numeric}},
	{name: "variance", args: []types.OID{types.Float8}, float: true},
	{name: "bool_and", args: []types.OID{types.Bool}},
	{name: "bit_or", args: []types.OID{types.Int4}},
	{name: "bit_xor", args: []types.OID{types.Int8}},
	{name: "corr", args: []types.OID{types.Float8, types.Float8}, float: true},
	{name: "regr_count", args: []types.OID{types.Float8, types.Float8}, float: true},
	{name: "covar_samp", args: []types.OID{types.Float8, types.Float8}, float: true},
	{name: "mode", args: []types.OID{types.Int4}, ordered: true},
	{name: "exact_count_distinct", args: []types.OID{types.Text}},
	{name: "set_agg", args: []types.OID{types.Int4}},
	{name: "string_agg", args: []types.OID{types.Text, types.Text}, ordered: true},
	{name: "array_agg", args: []types.OID{types.Int4}, ordered: true},
	{name: "count", weighted: true},
	{name: "count", args: []types.OID{types.Text}, weighted: true},
	{name: "sum", args: []types.OID{types.Int4}, weighted: true},
	{name: "avg", args: []types.OID{types.Int8}, weighted: true},
	{name: "sum", args: []types.OID{types.Numeric}, weighted: true},
	{name: "sum", args: []types.OID{types.Float8}, float: true, weighted: true},
	{name: "stddev", args: []types.OID{types.Int4}, weighted: true},
	{name: "exact_count_distinct", args: []types.OID{types.Text}, weighted: true},
}

func registry() *agg.Registry {
	r := agg.NewRegistry()
	agg.RegisterExact(r)
	return r
}

func (c call) bind(t interface{ Fatal(...any) }) agg.Bound {
	in := make([]types.Type, len(c.args))
	for i, o := range c.args {
		in[i] = types.Of(o)
	}
	fn := registry().Lookup(c.name)
	bind := fn.Bind
	if c.weighted {
		in = append(in, types.Of(types.Int8))
		bind = func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
			return fn.Weighted(args, consts, true)
		}
	}
	b, err := bind(in, make([]*types.Datum, len(in)))
	if err == nil && c.distinct {
		b, err = agg.Distinct(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// columns are random inputs of a call.
func (c call) columns(t *rapid.T, b agg.Bound, n int) []*types.Vector {
	cols := make([]*types.Vector, len(b.ArgTypes))
	for i, typ := range b.ArgTypes {
		if c.weighted && i == len(cols)-1 {
			cols[i] = types.NewVector(typ, n)
			for range n {
				cols[i].AppendInt(rapid.Int64Range(-3, 3).Draw(t, "weight"))
			}
			continue
		}
		cols[i] = draw(t, typ, n)
	}
	return cols
}

// draw makes a column of n random values, some of them NULL.
func draw(t *rapid.T, typ types.Type, n int) *types.Vector {
	v := types.NewVector(typ, n)
	for range n {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			v.AppendNull()
			continue
		}
		small := rapid.Int64Range(-9, 9).Draw(t, "x")
		switch typ.OID {
		case types.Bool:
			v.AppendInt(small & 1)
		case types.Int8:
			if rapid.Bool().Draw(t, "huge") {
				small *= math.MaxInt64 / 9
			}
			v.AppendInt(small)
		case types.Int2, types.Int4:
			v.AppendInt(small)
		case types.Float8:
			v.AppendFloat(float64(small) * 1.1)
		case types.Numeric:
			d := types.DecimalFromInt(small)
			if rapid.Bool().Draw(t, "scale") {
				d, _ = types.ParseDecimal([]byte("0.125"))
			}
			v.AppendBytes(d.Append(nil))
		case types.Interval:
			v.AppendBytes(types.Span{Micros: small * 1000, Days: int32(small), Months: int32(small)}.Append(nil))
		default:
			v.AppendString(string(rune('a'+small+9)) + "x")
		}
	}
	return v
}

func fold(t *rapid.T, b agg.Bound, cols []*types.Vector, from, to int) agg.States {
	s := b.State.New(agg.Config{})
	s.Grow(1)
	var groups []uint32
	var rows []int32
	for i := from; i < to; i++ {
		groups, rows = append(groups, 0), append(rows, int32(i))
	}
	if err := s.Update(groups, rows, cols); err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t *rapid.T, b agg.Bound, s agg.States) types.Datum {
	out := types.NewVector(b.Final.Type(), 1)
	if err := b.Final.Finalise(s, 1, 0.95, out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Datum(0)
}

func same(a, b types.Datum, float bool) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if float {
		return math.Abs(a.Float-b.Float) <= 1e-9*(1+math.Abs(a.Float))
	}
	return a.Int == b.Int && bytes.Equal(a.Bytes, b.Bytes) && (a.Float == b.Float || math.IsNaN(a.Float) && math.IsNaN(b.Float))
}

// TestL5MergeIsFoldOfConcatenation: splitting the rows anywhere, merging the
// parts in either order and through either form gives the state of all rows.
func TestL5MergeIsFoldOfConcatenation(t *testing.T) {
	for _, c := range calls {
		name := c.name
		for _, a := range c.args {
			name += " " + types.Of(a).String()
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := c.bind(t)
				n := rapid.IntRange(0, 20).Draw(t, "n")
				cut := rapid.IntRange(0, n).Draw(t, "cut")
				cols := c.columns(t, b, n)
				whole := fold(t, b, cols, 0, n)
				left, right := fold(t, b, cols, 0, cut), fold(t, b, cols, cut, n)
				leftBytes, rightBytes := left.Append(nil, 0), right.Append(nil, 0)
				want := value(t, b, whole)
				check := func(s agg.States, how string) {
					if got := value(t, b, s); !same(got, want, c.float) {
						t.Fatalf("%s: got %+v, want %+v", how, got, want)
					}
					if !c.float && !bytes.Equal(s.Append(nil, 0), whole.Append(nil, 0)) {
						t.Fatalf("%s: states differ", how)
					}
				}
				merged := func(parts ...[]byte) agg.States {
					s := b.State.New(agg.Config{})
					s.Grow(1)
					for _, p := range parts {
						if err := s.Merge(0, p); err != nil {
							t.Fatal(err)
						}
					}
					return s
				}
				check(merged(whole.Append(nil, 0)), "round trip")
				copied := merged()
				if err := copied.MergeFrom(0, whole, 0); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(copied.Append(nil, 0), whole.Append(nil, 0)) { // as checkpoints copy (L-2)
					t.Fatal("a copy in memory has other bytes")
				}
				check(merged(leftBytes, rightBytes), "left, right")
				if !c.ordered {
					check(merged(rightBytes, leftBytes), "right, left")
				}
				if err := left.MergeFrom(0, right, 0); err != nil {
					t.Fatal(err)
				}
				check(left, "MergeFrom")
			})
		})
	}
}

// TestL2FinaliseLeavesNoTrace: an owner finishes states that go on, so that reading
// them must not change what they become.
func TestL2FinaliseLeavesNoTrace(t *testing.T) {
	for _, c := range calls {
		rapid.Check(t, func(t *rapid.T) {
			b := c.bind(t)
			cols := c.columns(t, b, 10)
			plain, read := fold(t, b, cols, 0, 5), fold(t, b, cols, 0, 5)
			value(t, b, read)
			for i := 5; i < 10; i++ {
				for _, s := range []agg.States{plain, read} {
					if err := s.Update([]uint32{0}, []int32{int32(i)}, cols); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !bytes.Equal(plain.Append(nil, 0), read.Append(nil, 0)) {
				t.Fatalf("%s: what was read goes on in another way", c.name)
			}
		})
	}
}

// TestMergeFromOnlyReadsItsSource: states that nobody changes are merged from by
// several goroutines at a time; the race detector watches.
func TestMergeFromOnlyReadsItsSource(t *testing.T) {
	for _, c := range calls {
		rapid.Check(t, func(t *rapid.T) {
			b := c.bind(t)
			cols := c.columns(t, b, 5)
			source := fold(t, b, cols, 0, 5)
			var readers sync.WaitGroup
			for range 2 {
				readers.Go(func() {
					s := b.State.New(agg.Config{})
					s.Grow(1)
					if err := s.MergeFrom(0, source, 0); err != nil {
						t.Error(err)
					}
				})
			}
			readers.Wait()
		})
	}
}

// FuzzMerge: bytes that are no state give XX001 (or an honest overflow), leave
// the state as it was, and never panic.
func FuzzMerge(f *testing.F) {
	for i, c := range calls {
		b := c.bind(f)
		s := b.State.New(agg.Config{})
		s.Grow(1)
		f.Add(i, s.Append(nil, 0))
		f.Add(i, []byte{})
		f.Add(i, []byte{1, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	}
	f.Fuzz(func(t *testing.T, i int, state []byte) {
		if i < 0 || i >= len(calls) {
			return
		}
		b := calls[i].bind(t)
		s := b.State.New(agg.Config{})
		s.Grow(1)
		before := s.Append(nil, 0)
		if err := s.Merge(0, state); err != nil {
			switch code := sqlerr.CodeOf(err); code {
			case sqlerr.DataCorrupted, sqlerr.NumericValueOutOfRange, sqlerr.DatetimeFieldOverflow:
			default:
				t.Fatalf("got %s: %v", code, err)
			}
			if !bytes.Equal(before, s.Append(nil, 0)) {
				t.Fatal("a refused state changed the group")
			}
			return
		}
		out := types.NewVector(b.Final.Type(), 1)
		_ = b.Final.Finalise(s, 1, 0.95, out, nil) // an overflow is fine, a panic is not
	})
}

func TestSumOfIntegersOverflows(t *testing.T) {
	b := call{name: "sum", args: []types.OID{types.Int4}}.bind(t)
	s := b.State.New(agg.Config{})
	s.Grow(1)
	v := types.NewVector(types.Of(types.Int8), 2)
	v.AppendInt(math.MaxInt64)
	v.AppendInt(1)
	if err := s.Update([]uint32{0, 0}, []int32{0, 1}, []*types.Vector{v}); err != nil {
		t.Fatal(err)
	}
	err := b.Final.Finalise(s, 1, 0.95, types.NewVector(types.Of(types.Int8), 1), nil)
	if sqlerr.CodeOf(err) != sqlerr.NumericValueOutOfRange {
		t.Fatalf("got %v", err)
	}
}

// different returns a column of n values, no two of them equal.
func different(typ types.Type, n int) *types.Vector {
	v := types.NewVector(typ, n)
	for i := range n {
		switch typ.OID {
		case types.Bool:
			v.AppendInt(int64(i & 1))
		case types.Int2, types.Int4, types.Int8:
			v.AppendInt(int64(i & 0x7fff))
		case types.Float8:
			v.AppendFloat(float64(i))
		case types.Numeric:
			v.AppendBytes(types.DecimalFromInt(int64(i)).Append(nil))
		case types.Interval:
			v.AppendBytes(types.Span{Micros: int64(i)}.Append(nil))
		default:
			v.AppendString(fmt.Sprintf("value %d", i))
		}
	}
	return v
}

// TestL11StatesChargeWhatTheyHold: what states say they hold, by which statements and
// views are bounded, is what the runtime gave them, for many groups and for large ones.
func TestL11StatesChargeWhatTheyHold(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const rows = 200_000
	for _, c := range calls {
		bound := c.bind(t)
		cols := make([]*types.Vector, len(bound.ArgTypes))
		for i, typ := range bound.ArgTypes {
			cols[i] = different(typ, rows)
		}
		for _, groups := range []int{1, rows / 20} {
			sel, of := make([]int32, rows), make([]uint32, rows)
			for i := range sel {
				sel[i], of[i] = int32(i), uint32(i%groups)
			}
			before := heap()
			s := bound.State.New(agg.Config{})
			s.Grow(groups)
			for from := 0; from < rows; from += 1000 {
				if err := s.Update(of[from:from+1000], sel[from:from+1000], cols); err != nil {
					t.Fatal(err)
				}
			}
			held, charged := heap()-before, s.MemoryBytes()
			if held > 64<<10 && charged < held*8/10 {
				t.Errorf("%s(%v), %d groups: %d KiB are charged of %d", c.name, c.args, groups, charged>>10, held>>10)
			}
			runtime.KeepAlive(s)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	const n, groups = 4096, 1000
	g, rows := make([]uint32, n), make([]int32, n)
	ints, floats := types.NewVector(types.Of(types.Int8), n), types.NewVector(types.Of(types.Float8), n)
	for i := range n {
		g[i], rows[i] = uint32(i*7919%groups), int32(i)
		ints.AppendInt(int64(i) * 31)
		floats.AppendFloat(float64(i) * 0.1)
	}
	for _, c := range []struct {
		name string
		call call
		in   *types.Vector
	}{
		{"count", call{name: "count"}, nil},
		{"sum_int8", call{name: "sum", args: []types.OID{types.Int8}}, ints},
		{"sum_float8", call{name: "sum", args: []types.OID{types.Float8}}, floats},
		{"min_int8", call{name: "min", args: []types.OID{types.Int8}}, ints},
		{"max_float8", call{name: "max", args: []types.OID{types.Float8}}, floats},
	} {
		b.Run(c.name, func(b *testing.B) {
			bound := c.call.bind(b)
			s := bound.State.New(agg.Config{})
			s.Grow(groups)
			var in []*types.Vector
			if c.in != nil {
				in = append(in, c.in)
			}
			for b.Loop() {
				if err := s.Update(g, rows, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
