package sketchfn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sketchfn/countmin"
	"github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sketchfn/kll"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Plan is the smallest sketch that keeps an error.
type Plan struct {
	Function   string  // that makes it
	Family     string  // "hll", "kll", …
	Parameters string  // as in the call: "k = 546"
	Unit       string  // of the error
	Error      float64 // that the parameters give, at most the one asked for
	Confidence float64
	Bytes      int64  // of a group that has seen very many rows
	Call       string // example: "approx_quantile(x, 0.5, 546)"
}

// choice is what the formula of a family answers: constant arguments and the
// error that they give; ok is false if no parameters are good enough.
type choice struct {
	names  []string
	values []float64
	err    float64
	ok     bool
}

// calculation is the formula of a function.
type calculation struct {
	function string
	aliases  []string  // other functions of the same state, and the family
	unit     string    // of the error
	lead     []float64 // constant arguments before the parameters
	second   bool      // the function has a second input, a weight
	choose   func(err, confidence float64) choice
}

// calculations lists the functions that can be planned.
var calculations = []calculation{
	{"approx_distinct", []string{"hll", "hll_agg"}, "relative to the count", nil, false, func(e, confidence float64) choice {
		return smallest("precision", hll.MinPrecision, hll.MaxPrecision, e, func(p int) float64 {
			return limits.Deviations(confidence) * hll.RelativeError(uint(p))
		})
	}},
	{"theta_agg", []string{"theta"}, "relative to the count", nil, false, func(e, confidence float64) choice {
		return smallest("k", 16, 1<<20, e, func(k int) float64 { return limits.Deviations(confidence) / math.Sqrt(float64(k-1)) })
	}},
	{"approx_quantile", []string{"kll", "kll_agg", "approx_median", "approx_quantiles", "approx_rank", "approx_cdf"}, "in ranks, as a share of all values", []float64{0.5}, false, func(e, confidence float64) choice {
		return smallest("k", kll.MinK, kll.MaxK, e, func(k int) float64 { return kll.RankError(k, confidence) })
	}},
	{"req_quantile", []string{"req", "req_agg"}, "in ranks, relative to the share of values above", []float64{0.99}, false, func(e, confidence float64) choice {
		return smallest("k", 4, 1024, e, func(k int) float64 { return limits.Deviations(confidence) * math.Sqrt(0.0512/3) / float64(k&^1) })
	}},
	{"dd_quantile", []string{"ddsketch", "dd_agg"}, "relative to the value", []float64{0.5}, false, func(e, _ float64) choice {
		return choice{[]string{"alpha"}, []float64{min(e, 0.25)}, min(e, 0.25), e >= 0.0005}
	}},
	{"gk_quantile", []string{"gk", "gk_agg"}, "in ranks, as a share of all values", []float64{0.5}, false, func(e, _ float64) choice {
		return choice{[]string{"epsilon"}, []float64{min(e, 0.25)}, min(e, 0.25), e >= 0.0005}
	}},
	{"approx_top_k", []string{"topk", "topk_agg", "frequent_agg"}, "in counts, as a share of all values", []float64{8}, false, func(e, _ float64) choice {
		return smallest("capacity", 8, 8192, e, func(c int) float64 { return 1 / float64(c+1) })
	}},
	{"freq_agg", []string{"countmin", "approx_frequency"}, "in counts, as a share of all values", nil, false, chooseCountMin},
	{"count_sketch_agg", []string{"countsketch"}, "in sums, relative to the root of the sum of all squares", nil, true, func(e, confidence float64) choice {
		rate := limits.MedianRate(5, confidence)
		return smallest("width", 8, 1<<18, e, func(w int) float64 { return 1 / math.Sqrt(float64(w)*rate) })
	}},
	{"bloom_agg", []string{"bloom"}, "share of false positives, at 16384 values", nil, false, func(e, _ float64) choice {
		return choice{[]string{"p"}, []float64{min(e, 0.5)}, min(e, 0.5), e >= 0.000001}
	}},
	{"minhash_agg", []string{"minhash"}, "in similarities, at 1/2", nil, false, func(e, confidence float64) choice {
		return smallest("k", 16, 4096, e, func(k int) float64 { return limits.Deviations(confidence) / 2 / math.Sqrt(float64((k+1)&^1)) })
	}},
}

// smallest finds the smallest integer parameter whose error, which falls with it,
// is small enough.
func smallest(name string, least, most int, e float64, errorOf func(int) float64) choice {
	lo, hi := least, most
	for lo < hi {
		if mid := (lo + hi) / 2; errorOf(mid) <= e {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	got := errorOf(lo)
	return choice{[]string{name}, []float64{float64(lo)}, got, got <= e}
}

// chooseCountMin takes the number of rows with which the counters are fewest.
func chooseCountMin(e, confidence float64) choice {
	best, counters := choice{}, math.Inf(1)
	for depth := 1; depth <= 14; depth++ {
		width := math.Ceil(countmin.ErrorShare(1<<40, depth, confidence) * (1 << 40) / e)
		p, eps := 1-math.Exp(-float64(depth)+0.01), math.E/width
		if p < 0.5 || eps < 0.00001 || eps > 0.5 || width*float64(depth) >= counters {
			continue
		}
		counters = width * float64(depth)
		best = choice{[]string{"p", "eps"}, []float64{roundUp(p, 6), eps}, countmin.ErrorShare(int(math.Ceil(math.E/eps)), depth, confidence), true}
	}
	return best
}

func roundUp(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Ceil(x*scale) / scale
}

// PlanFor returns the smallest sketch of a function, or of a family, whose error at
// a confidence is at most maxError. Errors are *sqlerr.Error: 42704 for a name
// without a formula, 22023 for an error that no parameters keep.
func PlanFor(r *agg.Registry, name string, maxError, confidence float64) (Plan, error) {
	i := slices.IndexFunc(calculations, func(c calculation) bool { return c.function == name || slices.Contains(c.aliases, name) })
	if i < 0 {
		return Plan{}, sqlerr.New(sqlerr.UndefinedObject, "there is no formula for %q", name).
			WithHint("There is one for %s.", strings.Join(Planned(), ", "))
	}
	if !(maxError > 0 && maxError < 1) || !(confidence > 0 && confidence < 1) {
		return Plan{}, sqlerr.New(sqlerr.InvalidParameterValue, "the error and the confidence must be between 0 and 1")
	}
	c := calculations[i]
	got := c.choose(maxError, confidence)
	if !got.ok {
		return Plan{}, sqlerr.New(sqlerr.InvalidParameterValue, "no parameters of %s keep an error of %v at a confidence of %v", c.function, maxError, confidence).
			WithHint("Ask for a larger error, or a lower confidence.")
	}
	f := r.Lookup(c.function)
	args, consts := []types.Type{types.Of(types.Float8)}, []*types.Datum{nil}
	call := []string{"x"}
	if c.second {
		args, consts, call = append(args, types.Of(types.Int8)), append(consts, nil), append(call, "weight")
	}
	out := Plan{Function: c.function, Family: f.Family, Unit: c.unit, Error: got.err, Confidence: confidence}
	for _, x := range append(slices.Clone(c.lead), got.values...) {
		d := types.FloatDatum(x)
		args, consts, call = append(args, d.Type), append(consts, &d), append(call, number(x))
	}
	b, err := f.Bind(args, consts)
	if err != nil {
		return Plan{}, err
	}
	const many = 1 << 40
	out.Bytes = b.State.BytesPerGroup(many)
	for i, n := range got.names {
		if i > 0 {
			out.Parameters += ", "
		}
		out.Parameters += n + " = " + number(got.values[i])
	}
	out.Call = fmt.Sprintf("%s(%s)", c.function, strings.Join(call, ", "))
	return out, nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

// Planned lists the names that PlanFor knows: functions and their families.
func Planned() []string {
	var out []string
	for _, c := range calculations {
		out = append(out, c.function)
		out = append(out, c.aliases...)
	}
	slices.Sort(out)
	return out
}
