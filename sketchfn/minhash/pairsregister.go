package minhash

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/jsonvalue"
	"github.com/tallydb/tallydb/sketchfn/limits"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var (
	thresholdParameter = agg.Parameter{Name: "threshold", Default: 0.5, Min: 0.05, Max: 1, Meaning: "the similarity from which on a pair is listed"}
	setsParameter      = agg.Parameter{Name: "sets", Default: 1000, Min: 2, Max: 10000, Meaning: "the sets that are compared, at most"}
)

// maxPairs limits the pairs that are listed.
const maxPairs = 1000

func registerPairs(r *agg.Registry) {
	r.Register(&agg.Function{Descriptor: agg.Descriptor{
		Name: "similar_pairs", Family: "minhash", Signature: "similar_pairs(set any type with equality, element any type with equality, threshold float8 [, k int4 [, sets int4]]) → jsonb",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{thresholdParameter, kParameter, setsParameter},
		Guarantee:    "a pair with the similarity is found with a probability of 0.99 or more; what is listed as exact is, for sets of at most k elements; else the similarity is unbiased with standard error sqrt(j*(1-j)/k); the 1000 most similar pairs",
		Confidence:   "not used",
		Citation:     "Broder: On the resemblance and containment of documents, 1997; Leskovec, Rajaraman, Ullman: Mining of massive datasets, 2014, chapter 3",
		Memory:       "16 bytes a group; 120 bytes a set and 8 an element, 4*k from k elements on",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV1),
	}, Bind: bindPairs})
}

func bindPairs(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
	const name = "similar_pairs"
	if len(args) < 3 || len(args) > 5 || !valuehash.Hashable(args[0].OID) || !valuehash.Hashable(args[1].OID) {
		return agg.Bound{}, param.NoFunction(name, args)
	}
	threshold, err := param.Float(name, thresholdParameter, args, consts, 2)
	if err != nil {
		return agg.Bound{}, err
	}
	k, err := param.Integer(name, kParameter, args, consts, 3)
	if err != nil {
		return agg.Bound{}, err
	}
	most, err := param.Integer(name, setsParameter, args, consts, 4)
	if err != nil {
		return agg.Bound{}, err
	}
	k = (k + 1) &^ 1
	set, element := valuehash.Widest(args[0]), valuehash.Widest(args[1])
	return agg.Bound{
		Inputs: []int{1, 0}, ArgTypes: []types.Type{element, set}, Final: pairsFinal{threshold, set},
		State: cells.Spec[collection]{
			Family: "similar_pairs", ID: fmt.Sprintf("similar_pairs(%s, %s) k=%d sets=%d siphash13 v%d", set, element, k, most, codecV1),
			Version: codecV1, HashUse: keyhash.UseDistinct,
			Algebra: func(agg.Config) cells.Algebra[collection] { return &pairs{shape: shape{k}, most: most, name: set} },
			Group: func(n int64) int64 {
				const usualElements = 20
				return (bytesOfSet + 8*usualElements) * min(n/usualElements+1, int64(most))
			},
		},
	}, nil
}

// pairsFinal makes a collection the list of its similar pairs.
type pairsFinal struct {
	threshold float64
	set       types.Type
}

// Type implements agg.Finaliser.
func (pairsFinal) Type() types.Type { return types.Of(types.JSONB) }

// Approximate implements agg.Finaliser.
func (pairsFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (pairsFinal) Kind() agg.ErrorKind { return agg.Probabilistic }

// String implements agg.Finaliser.
func (f pairsFinal) String() string { return fmt.Sprintf("pairs from %v on", f.threshold) }

// Finalise implements agg.Finaliser. The error is that of a similarity at 1/2.
func (f pairsFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[collection])
	algebra := s.Algebra().(*pairs)
	for g := range uint32(n) {
		c := s.Cell(g)
		list, err := algebra.similar(c, f.threshold)
		if err != nil {
			return err
		}
		text := []byte{'['}
		for i, p := range list[:min(len(list), maxPairs)] {
			if i > 0 {
				text = append(text, ',')
			}
			a, _ := ranked.Decode(f.set, []byte(p.a))
			b, _ := ranked.Decode(f.set, []byte(p.b))
			text = jsonvalue.Append(append(text, `{"a": `...), a)
			text = jsonvalue.Append(append(text, `, "b": `...), b)
			text = strconv.AppendFloat(append(text, `, "similarity": `...), p.similarity, 'g', -1, 64)
			text = fmt.Appendf(text, `, "exact": %t}`, p.exact)
		}
		d, err := types.Parse(types.Of(types.JSONB), append(text, ']'), nil)
		if err != nil {
			return err
		}
		out.AppendDatum(d)
		if bounds != nil {
			bounds.Lo.AppendNull()
			bounds.Hi.AppendNull()
			bounds.Error.AppendFloat(algebra.declared(c, confidence))
		}
	}
	return nil
}

// declared is the error of the similarities, 0 if all are exact.
func (p *pairs) declared(c *collection, confidence float64) float64 {
	for _, s := range c.sets {
		if s.signed.least != nil {
			return limits.Deviations(confidence) / 2 / math.Sqrt(float64(p.k))
		}
	}
	return 0
}
