package agg

import "github.com/tallydb/tallydb/sql/types"

// registerSets registers exact_count_distinct and set_agg, which keep every
// distinct value: count(DISTINCT x) and array_agg(DISTINCT x) as functions.
func registerSets(r *Registry) {
	over := func(name, inner string) func([]types.Type, []*types.Datum) (Bound, error) {
		return func(args []types.Type, consts []*types.Datum) (Bound, error) {
			if len(args) != 1 {
				return Bound{}, noFunction(name, args)
			}
			b, err := r.Lookup(inner).Bind(args, consts)
			if err != nil {
				return Bound{}, noFunction(name, args)
			}
			return Distinct(b)
		}
	}
	d := exactDescriptor("exact_count_distinct", "exact_count_distinct(x any) → int8", "48 bytes a distinct value and the value", HoldsValues)
	d.MergeAlgebra = Idempotent
	r.Register(&Function{Descriptor: subtracts(d, Turnstile), Bind: over(d.Name, "count"), Weighted: BindPresent})
	d = exactDescriptor("set_agg", "set_agg(x any) → array, sorted", "48 bytes a distinct value and the value", HoldsValues)
	d.MergeAlgebra = Idempotent
	r.Register(&Function{Descriptor: d, Bind: over(d.Name, "array_agg")})
}
