package countmin

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/countsketch"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/shadow"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var (
	pParameter = agg.Parameter{
		Name: "p", Default: 0.995, Min: 0.5, Max: 0.999999,
		Meaning: "the probability that a count is within the error; rows of counters are ln(1/(1-p))",
	}
	epsParameter = agg.Parameter{
		Name: "eps", Default: 0.002, Min: 0.00001, Max: 0.5,
		Meaning: "the error of counts as a share of all values; counters in a row are e/eps",
	}
)

// Limits of the shape that parameters lead to.
const (
	maxWidth = 271829
	maxDepth = 14
)

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "countmin", Signature: signature,
		StreamModel: agg.Turnstile, MergeAlgebra: agg.MergeableSummary, Parameters: []agg.Parameter{pParameter, epsParameter},
		Guarantee:    "true count ≤ count for sure; count ≤ true count + eps*total with probability p; exact up to width*depth/8 distinct values. Where a stream has deletes, it is a Count Sketch: |count - true count| ≤ eps*sqrt(F2) with probability p, where eps is 0.1 if it is left out and F2 the sum of the squares of all counts",
		Confidence:   "Lo = count - (1-confidence)^(-1/depth)/width*total; Hi = count, for sure",
		Citation:     "Cormode, Muthukrishnan: An improved data stream summary: the Count-Min sketch and its applications, 2005; Estan, Varghese: New directions in traffic measurement and accounting, 2002",
		Memory:       "64 bytes a group; 21 to 43 bytes a value up to width*depth/8 values, then 8*width*depth bytes; width = e/eps, depth = ln(1/(1-p))",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers approx_frequency, freq_agg, freq_union, freq, freq_norm and
// freq_total.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("freq_agg", "freq_agg(x any type with equality [, p float8 [, eps float8]]) → sketch")
	d.Aliases = []string{"cmsketch_agg"}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		b, kind, err := bind("freq_agg", args, consts, 1)
		if err != nil {
			return agg.Bound{}, err
		}
		b.Final = value.NewFinal(f, kind)
		return b, nil
	}, Weighted: func(args []types.Type, consts []*types.Datum, _ bool) (agg.Bound, error) {
		b, _, err := countsketch.BindFrequency("freq_agg", pParameter, args, consts, 1)
		return b, err
	}})
	d = descriptor("approx_frequency", "approx_frequency(x any type with equality, value of x's type [, p float8 [, eps float8]]) → int8")
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		const name = "approx_frequency"
		if len(args) < 2 {
			return agg.Bound{}, param.NoFunction(name, args)
		}
		b, kind, err := bind(name, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		column, text, err := lookup(name, kind, consts)
		if err != nil {
			return agg.Bound{}, err
		}
		b.Final = final{column, text}
		b.Shadow = shadow.Count(b.ArgTypes[0], func(v *shadow.Values) uint64 { return v.Count(column) })
		return b, nil
	}, Weighted: func(args []types.Type, consts []*types.Datum, strict bool) (agg.Bound, error) {
		const name = "approx_frequency"
		if len(args) < 3 {
			return agg.Bound{}, param.NoFunction(name, args[:len(args)-1])
		}
		b, kind, err := countsketch.BindFrequency(name, pParameter, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		column, text, err := lookup(name, kind, consts)
		if err != nil {
			return agg.Bound{}, err
		}
		b.Final = countsketch.Frequency{Column: column, Text: text, Strict: strict}
		return b, nil
	}})
	fs.RegisterUnion(r, d, "freq_union")
	registerScalars(r, fs)
}

// lookup is the value that a call asks for, in a column of the sketch's type, and its
// text.
func lookup(name string, kind value.Kind, consts []*types.Datum) (*types.Vector, string, error) {
	v, err := param.Constant(name, "value", consts, 1)
	if err != nil {
		return nil, "", err
	}
	column, err := value.Column(kind, v)
	return column, types.FormatDatum(v, nil), err
}

// bind binds a call whose parameters begin with argument at.
func bind(name string, args []types.Type, consts []*types.Datum, at int) (agg.Bound, value.Kind, error) {
	if len(args) < at || !valuehash.Hashable(args[0].OID) {
		return agg.Bound{}, value.Kind{}, param.NoFunction(name, args)
	}
	numbers, err := param.All(name, []agg.Parameter{pParameter, epsParameter}, args, consts, at)
	if err != nil {
		return agg.Bound{}, value.Kind{}, err
	}
	p, eps := numbers[0], numbers[1]
	t := valuehash.Widest(args[0])
	kind := kindOf(t.String(), int(math.Ceil(math.E/eps)), int(math.Ceil(-math.Log(1-p))))
	return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: specOf(kind)}, kind, nil
}

// kindOf is the kind of a sketch: its width and its depth.
func kindOf(typ string, width, depth int) value.Kind {
	return value.Kind{Family: "countmin", Type: typ, Params: [3]uint64{uint64(width), uint64(depth)}}
}

// specOf is the StateSpec of a kind that is valid.
func specOf(k value.Kind) cells.Spec[cell] {
	s := newShape(int(k.Params[0]), int(k.Params[1]))
	if isForeign(k) {
		s.limit = 0 // DataSketches has counters for the first value
	}
	return cells.Spec[cell]{
		Family: "countmin", ID: fmt.Sprintf("countmin(%s) width=%d depth=%d conservative siphash13 v%d", k.Type, s.width, s.depth, codecV1),
		Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(agg.Config) cells.Algebra[cell] { return algebra{s} },
		Group: func(n int64) int64 {
			if n > int64(s.limit) {
				return 8 * int64(s.width) * int64(s.depth)
			}
			places := leastPlaces
			for !fits(int(n), places) {
				places *= 2
			}
			return 16 * int64(places)
		},
	}
}

// final makes a state the count of one value, which is row 0 of column.
type final struct {
	column *types.Vector
	text   string
}

// Type implements agg.Finaliser.
func (final) Type() types.Type { return types.Of(types.Int8) }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f final) String() string { return "frequency of " + f.text }

// Finalise implements agg.Finaliser.
func (f final) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[cell])
	shape := s.Algebra().(algebra).shape
	hash := s.Hash(f.column, 0)
	for g := range uint32(n) {
		e := shape.estimate(s.Cell(g), hash, confidence)
		out.AppendInt(int64(e.Count))
		if bounds != nil {
			bounds.Lo.AppendInt(int64(e.Lo))
			bounds.Hi.AppendInt(int64(e.Count))
			bounds.Error.AppendFloat(e.Error)
		}
	}
	return nil
}
