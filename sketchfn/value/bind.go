package value

import (
	"github.com/tallydb/tallydb/sketchfn/param"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

// Hashed describes an aggregate that makes sketches of hashed values.
type Hashed struct {
	Name     string
	Weighted bool // whose second argument is an integer, of each row
	// Parameters are the arguments behind those.
	Parameters []agg.Parameter
	// State is the kind of the sketches, and their states.
	State func(t types.Type, parameters []float64) (Kind, agg.StateSpec)
}

// Bind returns what binds calls of an aggregate whose values are sketches of the family.
func (f *Family) Bind(h Hashed) func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
	read := 1 // arguments that are read per row
	if h.Weighted {
		read = 2
	}
	return func(args []types.Type, consts []*types.Datum) (agg.Bound, error) {
		if len(args) < read || !valuehash.Hashable(args[0].OID) || h.Weighted && valuehash.Widest(args[1]).OID != types.Int8 {
			return agg.Bound{}, param.NoFunction(h.Name, args)
		}
		p, err := param.All(h.Name, h.Parameters, args, consts, read)
		if err != nil {
			return agg.Bound{}, err
		}
		t := valuehash.Widest(args[0])
		kind, state := h.State(t, p)
		b := agg.Bound{Inputs: []int{0}, ArgTypes: []types.Type{t}, State: state, Final: NewFinal(f, kind)}
		if h.Weighted {
			b.Inputs, b.ArgTypes = append(b.Inputs, 1), append(b.ArgTypes, types.Of(types.Int8))
		}
		return b, nil
	}
}
