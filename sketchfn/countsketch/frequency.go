package countsketch

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Frequencies of rows with weights: what approx_frequency and freq_agg are where a
// stream has deletes.

// epsParameter is that of Count-Min in another unit: a Count Sketch of a Count-Min's
// error would be a thousand times as large.
var epsParameter = agg.Parameter{
	Name: "eps", Default: 0.1, Min: 0.0001, Max: 0.5,
	Meaning: "the error of counts as a share of the root of the sum of their squares",
}

// BindFrequency binds the sketch of a call whose parameters p and eps begin with
// argument at and whose last argument is the weight.
func BindFrequency(name string, p agg.Parameter, args []types.Type, consts []*types.Datum, at int) (agg.Bound, value.Kind, error) {
	weight := len(args) - 1
	if weight < at || !valuehash.Hashable(args[0].OID) {
		return agg.Bound{}, value.Kind{}, param.NoFunction(name, args[:weight])
	}
	numbers, err := param.All(name, []agg.Parameter{p, epsParameter}, args[:weight], consts[:weight], at)
	if err != nil {
		return agg.Bound{}, value.Kind{}, err
	}
	probability, eps := numbers[0], numbers[1]
	s, ok := smallest(probability, eps)
	if !ok {
		return agg.Bound{}, value.Kind{}, sqlerr.New(sqlerr.InvalidParameterValue, "%s of a stream with deletes cannot have an error of %v with probability %v", name, eps, probability).
			WithHint("The error is a share of the root of the sum of the squares of all counts; 0.01 is possible.")
	}
	t := valuehash.Widest(args[0])
	kind := kindOf(t.String(), s.width, s.depth)
	return agg.Bound{
		Inputs: []int{0, weight}, ArgTypes: []types.Type{t, types.Of(types.Int8)},
		State: specOf(kind), Final: value.NewFinal(family(), kind),
	}, kind, nil
}

// smallest returns the smallest shape whose sums are within eps of the root of the
// second moment with a probability.
func smallest(p, eps float64) (best shape, ok bool) {
	for depth := 1; depth <= int(depthParameter.Max); depth += 2 {
		width := math.Ceil(1 / (eps * eps * limits.MedianRate(depth, p)))
		if width > widthParameter.Max {
			continue
		}
		s := shape{max(int(width), int(widthParameter.Min)), depth}
		if !ok || s.width*s.depth < best.width*best.depth {
			best, ok = s, true
		}
	}
	return best, ok
}

// Frequency makes a state the count of one value, which is row 0 of column.
type Frequency struct {
	Column *types.Vector
	Text   string
	// Strict says that no count is less than nothing.
	Strict bool
}

// Type implements agg.Finaliser.
func (Frequency) Type() types.Type { return types.Of(types.Int8) }

// Approximate implements agg.Finaliser.
func (Frequency) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (Frequency) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f Frequency) String() string { return "frequency of " + f.Text }

// Finalise implements agg.Finaliser. The error is a share of the root of the second
// moment.
func (f Frequency) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[cell])
	shape := s.Algebra().(shape)
	hash := s.Hash(f.Column, 0)
	least := int64(math.MinInt64)
	if f.Strict {
		least = 0
	}
	for g := range uint32(n) {
		c := s.Cell(g)
		x, margin := shape.sum(c, hash), int64(shape.margin(c, confidence))
		out.AppendInt(max(x, least))
		if bounds != nil {
			bounds.Lo.AppendInt(max(x-margin, least))
			bounds.Hi.AppendInt(max(x+margin, least))
			bounds.Error.AppendFloat(shape.errorShare(c, confidence))
		}
	}
	return nil
}

// errorShare is the error of sums as a share of the root of the second moment.
func (s shape) errorShare(c *cell, confidence float64) float64 {
	if c.counters == nil {
		return 0
	}
	return min(1, math.Sqrt(1/float64(s.width)/limits.MedianRate(s.depth, confidence)))
}

// Sum returns the estimated sum of the weights of a hash in an opened sketch, and how
// far it may be off with the confidence.
func Sum(o value.Opened, hash uint64, confidence float64) (sum, margin int64) {
	c, shape := read(o.States, 0)
	return shape.sum(c, hash), int64(shape.margin(c, confidence))
}
