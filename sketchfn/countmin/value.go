package countmin

import (
	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/countsketch"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// family is Count-Min as sketch values.
func family() *value.Family {
	return &value.Family{
		Name: "countmin", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			width, depth := k.Params[0], k.Params[1]
			if _, ok := value.TypeOf(k.Type); !isForeign(k) && (!ok || k.Params[2] != 0) || width < 2 || width > maxWidth || depth < 1 || depth > maxDepth {
				return nil
			}
			return specOf(k)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 {
			c, shape := read(s, g)
			return shape.errorShare(c, confidence)
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			c, shape := read(s, g)
			return []value.Field{
				{Name: "width", Value: k.Params[0]},
				{Name: "depth", Value: k.Params[1]},
				{Name: "n", Value: c.total},
				{Name: "exact", Value: c.counters == nil},
				{Name: "count_error", Value: shape.errorShare(c, confidence) * float64(c.total)},
				{Name: "confidence", Value: confidence},
			}
		},
		Export: export, Imports: []byte{dsFamily}, Import: importDataSketches,
	}
}

func read(s agg.States, g uint32) (*cell, shape) {
	in := s.(*cells.States[cell])
	return in.Cell(g), in.Algebra().(algebra).shape
}

func registerScalars(r *agg.Registry, fs *value.Families) {
	estimate := func(name string, of func(c *cell, e Estimate) types.Datum) func(*expr.Context, []types.Datum) (types.Datum, error) {
		return fs.Eval(name, "countmin", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			if isForeign(in[0].Kind) {
				return types.Datum{}, notKnown()
			}
			hash, err := in[0].Hash(ec, rest[0], keyhash.UseCounter)
			if err != nil {
				return types.Datum{}, err
			}
			c, shape := read(in[0].States, 0)
			return of(c, shape.estimate(c, hash, ec.Confidence())), nil
		})
	}
	count := func(x uint64) types.Datum { return types.IntDatum(types.Int8, int64(x)) }
	// Of a stream with deletes the sketch is a Count Sketch.
	freq := func(side int64, of func(c *cell, e Estimate) types.Datum) func(*expr.Context, []types.Datum) (types.Datum, error) {
		plain := estimate("freq", of)
		signed := fs.Eval("freq", "countsketch", func(ec *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
			hash, err := in[0].Hash(ec, rest[0], keyhash.UseCounter)
			if err != nil {
				return types.Datum{}, err
			}
			x, margin := countsketch.Sum(in[0], hash, ec.Confidence())
			return types.IntDatum(types.Int8, x+side*margin), nil
		})
		return func(ec *expr.Context, args []types.Datum) (types.Datum, error) {
			if value.IsOf(args[0], "countsketch") {
				return signed(ec, args)
			}
			return plain(ec, args)
		}
	}
	high := func(_ *cell, e Estimate) types.Datum { return count(e.Count) }
	r.Scalars().Register(expr.Function{
		Signature: "freq(sketch,any) int8", Description: "occurrences of a value in a frequency sketch; at most, if nothing was deleted",
		Volatility: expr.Stable,
		Eval:       freq(0, high), Upper: freq(1, high),
		Lower: freq(-1, func(_ *cell, e Estimate) types.Datum { return count(e.Lo) }),
	})
	share := func(x uint64, c *cell) types.Datum { return types.FloatDatum(float64(x) / float64(max(c.total, 1))) }
	highShare := func(c *cell, e Estimate) types.Datum { return share(e.Count, c) }
	r.Scalars().Register(expr.Function{
		Signature: "freq_norm(sketch,any) float8", Description: "occurrences of a value in a frequency sketch as a share of all, at most",
		Volatility: expr.Stable,
		Eval:       estimate("freq_norm", highShare), Upper: estimate("freq_norm", highShare),
		Lower: estimate("freq_norm", func(c *cell, e Estimate) types.Datum { return share(e.Lo, c) }),
	})
	r.Scalars().Register(expr.Function{
		Signature: "freq_total(sketch) int8", Description: "values that a frequency sketch counted",
		Eval: fs.Eval("freq_total", "countmin", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, _ := read(in[0].States, 0)
			return count(c.total), nil
		}),
	})
}
