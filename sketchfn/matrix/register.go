package matrix

import (
	"fmt"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var (
	directionsParameter = agg.Parameter{
		Name: "l", Default: 32, Min: 2, Max: 256,
		Meaning: "the directions that are kept: the error is at most the energy outside the best k of them over l+1-k",
	}
	projectionParameter = agg.Parameter{
		Name: "l", Default: 64, Min: 1, Max: 1024,
		Meaning: "the rows projected onto: the error is of the order of all energy over the root of l",
	}
)

var rowType = types.Of(types.Float8Array)

// Register registers fd_agg, fd_union, fd_covariance, fd_top_directions,
// projection_agg, projection_union and projection_covariance.
func Register(r *agg.Registry, fs *value.Families) {
	fd, rp := frequentFamily(), projectionFamily()
	fs.Add(fd)
	fs.Add(rp)
	registerDirections(r, fs, fd)
	registerProjection(r, fs, rp)
	registerScalars(r, fs)
}

func registerDirections(r *agg.Registry, fs *value.Families, f *value.Family) {
	d := agg.Descriptor{
		Name: "fd_agg", Family: f.Name, Signature: "fd_agg(row float8[] [, l int4]) → sketch",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary, Parameters: []agg.Parameter{directionsParameter},
		Guarantee:    "0 ≤ ‖Ax‖² - ‖Bx‖² ≤ error for every unit vector x; the error is kept exactly, is at most ‖A-A_k‖²_F/(l+1-k) for every k ≤ l, and 0 where rows have at most l numbers, up to 2^-40 of ‖A‖²_F for rounding",
		Confidence:   "not used: it holds for sure",
		Citation:     "Liberty: Simple and deterministic matrix sketching, 2013; Ghashami, Liberty, Phillips, Woodruff: Frequent directions, 2016",
		Memory:       "72 bytes a group; 8 bytes a number of a row, then 16*l*d bytes for rows of d numbers",
		PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 1 || len(args) > 2 || !isRow(args[0]) {
			return agg.Bound{}, param.NoFunction("fd_agg", args)
		}
		l, err := param.Integer("fd_agg", directionsParameter, args, consts, 1)
		if err != nil {
			return agg.Bound{}, err
		}
		kind := value.Kind{Family: f.Name, Params: [3]uint64{uint64(l)}}
		return agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{rowType}, State: frequentSpec(l), Final: value.NewFinal(f, kind)}, nil
	}})
	fs.RegisterUnion(r, d, "fd_union")
}

func registerProjection(r *agg.Registry, fs *value.Families, f *value.Family) {
	d := agg.Descriptor{
		Name: "projection_agg", Family: f.Name, Signature: "projection_agg(row float8[], id any type with equality [, l int4]) → sketch",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary, Parameters: []agg.Parameter{projectionParameter},
		Guarantee:    "BᵀB is unbiased, and ‖AᵀA-BᵀB‖_F ≤ ‖A‖²_F * sqrt(2/(l*p)) but for a probability of p",
		Confidence:   "p = 1-confidence, by Markov's inequality",
		Citation:     "Vempala: The random projection method, 2004; Alon, Matias, Szegedy: The space complexity of approximating the frequency moments, 1996",
		Memory:       "48 bytes a group, then 8*l*d bytes for rows of d numbers",
		PrivacyClass: agg.Aggregated, CodecVersion: int(codecV1),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < 2 || len(args) > 3 || !isRow(args[0]) || !valuehash.Hashable(args[1].OID) {
			return agg.Bound{}, param.NoFunction("projection_agg", args)
		}
		l, err := param.Integer("projection_agg", projectionParameter, args, consts, 2)
		if err != nil {
			return agg.Bound{}, err
		}
		id := valuehash.Widest(args[1])
		kind := value.Kind{Family: f.Name, Type: id.String(), Params: [3]uint64{uint64(l)}}
		return agg.Bound{Inputs: []int{1, 0}, ArgTypes: []types.Type{id, rowType}, State: projectionSpec(kind), Final: value.NewFinal(f, kind)}, nil
	}})
	fs.RegisterUnion(r, d, "projection_union")
}

// isRow reports whether a type can be made float8[].
func isRow(t types.Type) bool {
	return t.OID == types.Unknown || t.OID.IsArray() && t.OID.Elem().Category() == 'N'
}

// usualDims is how many numbers a row is taken to have where memory is estimated.
const usualDims = 16

func frequentSpec(l int) cells.Spec[directions] {
	return cells.Spec[directions]{
		Family: "fd", ID: fmt.Sprintf("fd(float8[]) l=%d v%d", l, codecV1), Version: codecV1,
		Algebra: func(agg.Config) cells.Algebra[directions] { return frequent{l} },
		Group:   func(n int64) int64 { return 8 * usualDims * min(n, 2*int64(l)) },
	}
}

func projectionSpec(k value.Kind) cells.Spec[projected] {
	l := int(k.Params[0])
	return cells.Spec[projected]{
		Family: "projection", ID: fmt.Sprintf("projection(%s) l=%d siphash13 v%d", k.Type, l, codecV1), Version: codecV1, HashUse: keyhash.UseCounter,
		Algebra: func(agg.Config) cells.Algebra[projected] { return projection{l} },
		Group:   func(int64) int64 { return 8 * usualDims * int64(l) },
	}
}

func frequentFamily() *value.Family {
	return &value.Family{
		Name: "fd", ErrorKind: agg.WorstCase, Unseeded: true,
		Spec: func(k value.Kind) agg.StateSpec {
			if l := k.Params[0]; k.Type != "" || l < uint64(directionsParameter.Min) || l > uint64(directionsParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return frequentSpec(int(k.Params[0]))
		},
		Error: func(s agg.States, g uint32, _ float64) float64 { // as a share of the energy
			c := frequentCell(s, g)
			if c.energy == 0 {
				return 0
			}
			return c.bound() / c.energy
		},
		Info: func(k value.Kind, s agg.States, g uint32, _ float64) []value.Field {
			c := frequentCell(s, g)
			return append(fields(k, &c.matrix), value.Field{Name: "shrinkage", Value: c.shrinkage}, value.Field{Name: "covariance_error", Value: c.bound()})
		},
	}
}

func projectionFamily() *value.Family {
	return &value.Family{
		Name: "projection", ErrorKind: agg.Probabilistic,
		Spec: func(k value.Kind) agg.StateSpec {
			l := k.Params[0]
			if _, ok := value.TypeOf(k.Type); !ok || l < uint64(projectionParameter.Min) || l > uint64(projectionParameter.Max) || k.Params[1] != 0 || k.Params[2] != 0 {
				return nil
			}
			return projectionSpec(k)
		},
		Error: func(s agg.States, g uint32, confidence float64) float64 { // as a share of the energy
			c, shape := projectionCell(s, g)
			if c.energy == 0 {
				return 0
			}
			return shape.relativeError(confidence)
		},
		Info: func(k value.Kind, s agg.States, g uint32, confidence float64) []value.Field {
			c, shape := projectionCell(s, g)
			return append(fields(k, &c.matrix), value.Field{Name: "covariance_error", Value: c.energy * shape.relativeError(confidence)}, value.Field{Name: "confidence", Value: confidence})
		},
	}
}

func fields(k value.Kind, m *matrix) []value.Field {
	return []value.Field{{Name: "l", Value: k.Params[0]}, {Name: "dimensions", Value: m.d}, {Name: "rows", Value: m.n}, {Name: "energy", Value: m.energy}}
}

func frequentCell(s agg.States, g uint32) *directions { return s.(*cells.States[directions]).Cell(g) }

func projectionCell(s agg.States, g uint32) (*projected, projection) {
	in := s.(*cells.States[projected])
	return in.Cell(g), in.Algebra().(projection)
}
