package agg

import "github.com/tallydb/tallydb/sql/types"

// First returns an aggregate whose value is its first input, NULL or not. Plans
// are made of it; clients cannot call it.
func First(t types.Type) Bound {
	in := []types.Type{t}
	return Bound{
		Inputs: []int{0}, ArgTypes: in,
		State: spec{identity: "first(" + t.String() + ") v1", bytes: 64, make: func(Config) States { return &firstStates{collectStates{types: in}} }},
		Final: exactly("first", t, func(states States, n int, out *types.Vector) error {
			s := states.(*firstStates)
			for g := range n {
				if lenOf(s.groups[g]) == 0 {
					out.AppendNull()
				} else {
					out.AppendFrom(s.groups[g][0], 0)
				}
			}
			return nil
		}),
	}
}

// firstStates is collected values of which only the first is kept.
type firstStates struct{ collectStates }

// Update implements States.
func (s *firstStates) Update(groups []uint32, rows []int32, inputs []*types.Vector) error {
	for i, g := range groups {
		if lenOf(s.groups[g]) == 0 {
			if err := s.collectStates.Update(groups[i:i+1], rows[i:i+1], inputs); err != nil {
				return err
			}
		}
	}
	return nil
}

// MergeFrom implements States.
func (s *firstStates) MergeFrom(dst uint32, other States, src uint32) error {
	if lenOf(s.groups[dst]) > 0 {
		return nil
	}
	return s.collectStates.MergeFrom(dst, &other.(*firstStates).collectStates, src)
}

// Merge implements States.
func (s *firstStates) Merge(group uint32, state []byte) error {
	if lenOf(s.groups[group]) > 0 {
		return nil
	}
	return s.collectStates.Merge(group, state)
}
