package theta

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/hashset"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Limits of k.
const (
	DefaultK = 4096
	MinK     = 16
	MaxK     = 1 << 20
)

var kParameter = agg.Parameter{
	Name: "k", Default: DefaultK, Min: MinK, Max: MaxK,
	Meaning: "the number of hashes kept: the relative standard error is 1/sqrt(k-1); a number below 1 is the error wanted",
}

func descriptor(name, signature string) agg.Descriptor {
	return agg.Descriptor{
		Name: name, Family: "theta", Signature: signature,
		StreamModel: agg.CashRegister, Subtracting: "count(DISTINCT x)", MergeAlgebra: agg.Idempotent, Parameters: []agg.Parameter{kParameter},
		Guarantee:    "relative standard error 1/sqrt(k-1); exact up to k values; of an intersection or difference sqrt(union/(k*result))",
		Confidence:   "Lo and Hi are the Clopper-Pearson limits of the number of values of which so many were kept at rate theta, Wilson's from 200 on",
		Citation:     "Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan: Counting distinct elements in a data stream, 2002; Dasgupta, Lang, Rhodes, Thaler: A framework for estimating stream expression cardinalities, 2016",
		Memory:       "48 bytes a group; 11 to 21 bytes a value up to 3k/2 values, then 16k bytes (k rounded up to a power of two); 8 bytes a value, at most 8k, where states were merged",
		PrivacyClass: agg.HoldsHashes, CodecVersion: int(codecV1),
	}
}

// Register registers theta_agg, theta_union, theta_intersect, theta_diff and
// theta_estimate.
func Register(r *agg.Registry, fs *value.Families) {
	f := family()
	fs.Add(f)
	d := descriptor("theta_agg", "theta_agg(x any type with equality [, k int4 | rse float8]) → sketch")
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 1 || len(args) > 2 || !valuehash.Hashable(args[0].OID) {
			return agg.Bound{}, param.NoFunction("theta_agg", args)
		}
		k, err := kOf(args, consts)
		if err != nil {
			return agg.Bound{}, err
		}
		t := valuehash.Widest(args[0])
		kind := kindOf(t.String(), k, false)
		return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: specOf(kind), Final: value.NewFinal(f, kind)}, nil
	}})
	d = descriptor("theta_union", "theta_union(s sketch) → sketch")
	d.Parameters = nil
	r.Register(&agg.Function{Descriptor: d, Bind: fs.BindUnion(d.Name, "theta", nil)})
	registerScalars(r, fs)
}

// kOf reads the second argument: k, or a relative standard error.
func kOf(args []types.Type, consts []*types.Datum) (int, error) {
	if len(args) < 2 {
		return DefaultK, nil
	}
	x, err := param.Number("theta_agg", kParameter.Name, args, consts, 1)
	if err != nil {
		return 0, err
	}
	if x >= 1 {
		return param.Integer("theta_agg", kParameter, args, consts, 1)
	}
	k := math.Ceil(1/(x*x)) + 1
	if !(x > 0 && k <= MaxK) {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the error of theta_agg must be between %.6f and 1", 1/math.Sqrt(MaxK-1)).
			WithHint("Or give k, between %d and %d.", MinK, MaxK)
	}
	return max(int(k), MinK), nil
}

// kindOf is the kind of a sample: k, and 1 for the hashes of DataSketches.
func kindOf(typ string, k int, foreign bool) value.Kind {
	kind := value.Kind{Family: "theta", Type: typ, Params: [3]uint64{uint64(k)}}
	if foreign {
		kind.Params[1] = 1
	}
	return kind
}

// specOf is the StateSpec of a kind that is valid.
func specOf(k value.Kind) cells.Spec[cell] {
	hash := "siphash13"
	if k.Params[1] == 1 {
		hash = "datasketches"
	}
	s := newShape(int(k.Params[0]))
	return cells.Spec[cell]{
		Family: "theta", ID: fmt.Sprintf("theta(%s) k=%d %s v%d", k.Type, s.k, hash, codecV1),
		Version: codecV1, HashUse: keyhash.UseDistinct,
		Algebra: func(agg.Config) cells.Algebra[cell] { return algebra{s, &scratch{}} },
		Group: func(n int64) int64 {
			return 8 * int64(hashset.Places(int(min(n, int64(s.limit)))))
		},
	}
}
