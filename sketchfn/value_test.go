package sketchfn_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// scalar calls a scalar function with constants.
func scalar(name string, args ...types.Datum) (types.Datum, error) {
	return evalScalar(&expr.Context{Seed: config.Seed}, name, args...)
}

func evalScalar(ec *expr.Context, name string, args ...types.Datum) (types.Datum, error) {
	in := make([]expr.Expr, len(args))
	for i, a := range args {
		in[i] = expr.NewConst(a)
	}
	e, err := expr.NewFunction(name, in, expr.WithLibrary(registry().Scalars()))
	if err != nil {
		return types.Datum{}, err
	}
	return expr.EvalConst(ec, e)
}

func mustScalar(t testing.TB, name string, args ...types.Datum) types.Datum {
	t.Helper()
	d, err := scalar(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// sketchOf is the value of a sketch aggregate over a column.
func sketchOf(t testing.TB, seed keyhash.Seed, name string, v *types.Vector, params ...float64) types.Datum {
	t.Helper()
	b := mustBind(t, name, v.Type.OID, params...)
	s := b.State.New(agg.Config{Seed: seed})
	s.Grow(1)
	update(t, s, 0, v)
	out := types.NewVector(types.Of(types.Sketch), 1)
	must(t, b.Final.Finalise(s, 1, 0.95, out, newBounds(b)))
	return types.Datum{Type: out.Type, Bytes: bytes.Clone(out.Bytes(0))}
}

func bytea(b []byte) types.Datum { return types.Datum{Type: types.Of(types.Bytea), Bytes: b} }

// sketchAggregates make sketch values, of rows that have other values from n on.
var sketchAggregates = []contractCase{
	{"hll_agg", types.Int8, nil, nil},
	{"hll_agg", types.Text, []float64{6}, nil},
	{"theta_agg", types.Int8, nil, nil},
	{"theta_agg", types.Text, []float64{64}, nil},
	{"freq_agg", types.Int8, nil, nil},
	{"freq_agg", types.Text, []float64{0.9, 0.1}, nil},
	{"bloom_agg", types.Int8, nil, nil},
	{"bloom_agg", types.Text, []float64{0.1, 100}, nil},
	{"minhash_agg", types.Text, nil, nil},
	{"dd_agg", types.Float8, nil, nil},
	{"gk_agg", types.Float8, nil, nil},
	{"req_agg", types.Float8, nil, nil},
	{"tdigest_agg", types.Float8, nil, nil},
	{"kll_agg", types.Int8, nil, nil},
	{"kll_agg", types.Float8, []float64{16}, nil},
	{"frequent_agg", types.Int8, []float64{20}, nil},
	{"frequent_agg", types.Text, nil, nil},
	{"frequent_agg", types.Numeric, []float64{8}, nil},
}

func TestMergedValuesAreThoseOfAllRows(t *testing.T) {
	for _, c := range sketchAggregates {
		r := rand.New(rand.NewPCG(5, 5))
		a, b := column(t, r, types.Of(c.typ), 3000, 1500), column(t, r, types.Of(c.typ), 900, 4000)
		x, y := sketchOf(t, config.Seed, c.name, a, c.params...), sketchOf(t, config.Seed, c.name, b, c.params...)
		merged := mustScalar(t, "sketch_merge", x, y)
		if again := mustScalar(t, "sketch_merge", y, x); !bytes.Equal(again.Bytes, merged.Bytes) {
			t.Errorf("%s: the order of a merge shows", c.name)
		}
		values := types.NewVector(types.Of(types.Sketch), 2)
		values.AppendDatum(x)
		values.AppendNull()
		values.AppendDatum(y)
		if got := sketchOf(t, config.Seed, "sketch_merge", values); !bytes.Equal(got.Bytes, merged.Bytes) {
			t.Errorf("%s: the aggregate and the function merge differently", c.name)
		}
		info := mustScalar(t, "sketch_info", merged)
		if !bytes.Contains(info.Bytes, []byte(`"family"`)) {
			t.Errorf("%s: %s", c.name, info.Bytes)
		}
	}
}

func TestWhatDoesNotMerge(t *testing.T) {
	v := ints(100, 0)
	base := sketchOf(t, config.Seed, "hll_agg", v)
	for what, other := range map[string]types.Datum{
		"another precision": sketchOf(t, config.Seed, "hll_agg", v, 10),
		"another type":      sketchOf(t, config.Seed, "hll_agg", texts(100, 0)),
		"another seed":      sketchOf(t, keyhash.Seed{K0: 5}, "hll_agg", v),
		"another family":    sketchOf(t, config.Seed, "theta_agg", v),
	} {
		if _, err := scalar("sketch_merge", base, other); sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
			t.Errorf("%s: %v", what, err)
		}
		values := types.NewVector(types.Of(types.Sketch), 2)
		values.AppendDatum(base)
		values.AppendDatum(other)
		b := mustBind(t, "sketch_merge", types.Sketch)
		s := states(b, 1)
		if err := s.Update([]uint32{0, 0}, []int32{0, 1}, []*types.Vector{values}); sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
			t.Errorf("%s, aggregated: %v", what, err)
		}
	}
	for _, name := range []string{"theta_union", "theta_intersect", "theta_diff"} {
		a := sketchOf(t, config.Seed, "theta_agg", v)
		if _, err := scalar(name, a, sketchOf(t, keyhash.Seed{K0: 5}, "theta_agg", v)); sqlerr.CodeOf(err) != sqlerr.IncompatibleState {
			t.Errorf("%s of two seeds: %v", name, err)
		}
		if _, err := scalar(name, a, base); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
			t.Errorf("%s of two families: %v", name, err)
		}
	}
}

func TestCorruptValuesAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, c := range sketchAggregates {
		for _, n := range []int{0, 1, 50, 3000} {
			good := sketchOf(t, config.Seed, c.name, column(t, r, types.Of(c.typ), n, n+1), c.params...)
			for range 300 {
				bad := types.Datum{Type: good.Type, Bytes: bytes.Clone(good.Bytes)}
				switch r.IntN(3) {
				case 0:
					bad.Bytes = bad.Bytes[:r.IntN(len(bad.Bytes))]
				case 1:
					bad.Bytes = append(bad.Bytes, byte(r.IntN(256)))
				default:
					bad.Bytes[r.IntN(len(bad.Bytes))] ^= 1 << r.IntN(8)
				}
				if _, err := scalar("sketch_info", bad); err != nil && sqlerr.CodeOf(err) != sqlerr.DataCorrupted {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
		}
	}
}

// The first release had values of HyperLogLog only, without a family in them.
func TestValuesOfVersion1(t *testing.T) {
	b := mustBind(t, "hll_agg", types.Int8)
	s := states(b, 1)
	update(t, s, 0, ints(500, 0))
	old := binary.LittleEndian.AppendUint64([]byte{1}, config.Seed.ID())
	old = s.Append(append(append(old, 6), "bigint"...), 0)
	now := sketchOf(t, config.Seed, "hll_agg", ints(500, 0))
	merged := mustScalar(t, "hll_union", types.Datum{Type: now.Type, Bytes: old}, now)
	if !bytes.Equal(merged.Bytes, now.Bytes) {
		t.Error("a value of version 1 is not that of version 2")
	}
	if e, err := hll.EstimateValue(old, 0.95); err != nil || e.Lo > 500 || e.Hi < 500 {
		t.Errorf("%+v, %v", e, err)
	}
}

func FuzzValue(f *testing.F) {
	for _, c := range sketchAggregates {
		f.Add(sketchOf(f, config.Seed, c.name, column(f, rand.New(rand.NewPCG(1, 1)), types.Of(c.typ), 300, 200), c.params...).Bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := types.Datum{Type: types.Of(types.Sketch), Bytes: b}
		_, err := scalar("sketch_info", d)
		if err != nil && sqlerr.CodeOf(err) != sqlerr.DataCorrupted {
			t.Fatal(err)
		}
		if err == nil {
			mustScalar(t, "sketch_merge", d, d)
		}
	})
}

func jsonValue(t testing.TB, d types.Datum, to any) {
	t.Helper()
	must(t, json.Unmarshal(d.Bytes, to))
}

// jsonNumber returns a number of a jsonb object.
func jsonNumber(t testing.TB, d types.Datum, field string) float64 {
	t.Helper()
	var m map[string]any
	jsonValue(t, d, &m)
	x, ok := m[field].(float64)
	if !ok {
		t.Fatalf("%s has no number %q", d.Bytes, field)
	}
	return x
}

// evalBounds returns a function's value and its limits.
func evalBounds(t testing.TB, ec *expr.Context, name string, args ...types.Datum) (lo, hi, x types.Datum) {
	t.Helper()
	in := make([]expr.Expr, len(args))
	for i, a := range args {
		in[i] = expr.NewConst(a)
	}
	e, err := expr.NewFunction(name, in, expr.WithLibrary(registry().Scalars()))
	must(t, err)
	l, h, ok := registry().Scalars().Bounds(e)
	if !ok {
		t.Fatalf("%s has no bounds", name)
	}
	for to, e := range map[*types.Datum]expr.Expr{&lo: l, &hi: h, &x: e} {
		if *to, err = expr.EvalConst(ec, e); err != nil {
			t.Fatal(err)
		}
	}
	return lo, hi, x
}

// TestFunctionsTakeAnySketch calls every function of sketches with sketches of every
// kind, of no row, of one and of some: an answer or an error of SQL, never a panic.
func TestFunctionsTakeAnySketch(t *testing.T) {
	arguments := map[types.OID]types.Datum{
		types.Int4: types.IntDatum(types.Int4, 2), types.Int8: types.IntDatum(types.Int8, 2), types.Float8: types.FloatDatum(0.5),
		types.Text: types.TextDatum("datasketches"), types.Any: types.IntDatum(types.Int8, 3),
		types.Float8Array: types.MatrixDatum([][]float64{{0.5, 1}}),
	}
	r := rand.New(rand.NewPCG(6, 6))
	for _, c := range contractCases {
		b := c.bind(t)
		if b.Final.Type().OID != types.Sketch {
			continue
		}
		for _, n := range []int{0, 1, 300} {
			s := states(b, 1)
			update(t, s, 0, input(t, r, b, n, n+1)...)
			sketch := sketchValue(t, b, s)
			for _, f := range registry().Scalars().Functions() {
				args := []types.Datum{}
				for _, a := range f.Args {
					if a.OID == types.Sketch {
						args = append(args, sketch)
					} else {
						args = append(args, arguments[a.OID])
					}
				}
				if len(args) == 0 || args[0].Type.OID != types.Sketch {
					continue
				}
				if _, err := scalar(f.Name, args...); err != nil && sqlerr.CodeOf(err) == sqlerr.InternalError {
					t.Errorf("%s of %s with %d rows: %v", f.Name, c.name, n, err)
				}
			}
		}
	}
}
