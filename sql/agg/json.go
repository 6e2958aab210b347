package agg

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// registerJSON registers the aggregates that collect values as JSON. The values
// reach them as JSON: their inputs are of type json or jsonb whatever the
// arguments were, and keys are text.
func registerJSON(r *Registry) {
	for _, t := range []types.OID{types.JSON, types.JSONB} {
		name := types.Of(t).String()
		d := exactDescriptor(name+"_agg", name+"_agg(x any) → "+name, "the values", HoldsValues)
		d.MergeAlgebra = OrderedMonoid
		r.Register(&Function{Descriptor: d, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			if len(args) != 1 {
				return Bound{}, noFunction(d.Name, args)
			}
			in := []types.Type{types.Of(t)}
			separator := ", "
			if args[0].OID.IsArray() || args[0].OID == types.Record {
				separator = ", \n " // PostgreSQL's, between values that have parts
			}
			return Bound{Inputs: []int{0}, ArgTypes: in, State: collectSpec(in), Final: jsonAggFinal(d.Name, t, separator)}, nil
		}})
		o := exactDescriptor(name+"_object_agg", name+"_object_agg(key any, value any) → "+name, "the values", HoldsValues)
		o.MergeAlgebra = OrderedMonoid
		r.Register(&Function{Descriptor: o, Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
			if len(args) != 2 {
				return Bound{}, noFunction(o.Name, args)
			}
			in := []types.Type{types.Of(types.Text), types.Of(t)}
			return Bound{Inputs: []int{0, 1}, ArgTypes: in, JSONKey: true, State: collectSpec(in), Final: jsonObjectFinal(o.Name, t)}, nil
		}})
	}
}

// appendJSONItem appends row i of a column of JSON; SQL NULL is null.
func appendJSONItem(dst []byte, c *types.Vector, i int) []byte {
	if c.Nulls.Has(i) {
		return append(dst, "null"...)
	}
	return append(dst, c.Bytes(i)...)
}

// appendJSONValue appends a document to out, in the form of its type.
func appendJSONValue(out *types.Vector, t types.OID, text []byte) error {
	if t == types.JSONB {
		d, err := types.Parse(types.Of(t), text, nil)
		if err != nil {
			return err
		}
		text = d.Bytes
	}
	out.AppendBytes(text)
	return nil
}

func jsonAggFinal(name string, t types.OID, separator string) Finaliser {
	return exactly(name, types.Of(t), func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		var buf []byte
		for g := range n {
			cols := s.groups[g]
			if lenOf(cols) == 0 {
				out.AppendNull()
				continue
			}
			buf = append(buf[:0], '[')
			for i := range lenOf(cols) {
				switch {
				case i == 0:
				case cols[0].Nulls.Has(i):
					buf = append(buf, ", "...)
				default:
					buf = append(buf, separator...)
				}
				buf = appendJSONItem(buf, cols[0], i)
			}
			if err := appendJSONValue(out, t, append(buf, ']')); err != nil {
				return err
			}
		}
		return nil
	})
}

func jsonObjectFinal(name string, t types.OID) Finaliser {
	return exactly(name, types.Of(t), func(states States, n int, out *types.Vector) error {
		s := states.(*collectStates)
		var buf []byte
		for g := range n {
			cols := s.groups[g]
			if lenOf(cols) == 0 {
				out.AppendNull()
				continue
			}
			buf = append(buf[:0], "{ "...)
			for i := range lenOf(cols) {
				if cols[0].Nulls.Has(i) {
					return sqlerr.New(sqlerr.InvalidParameterValue, "field name must not be null")
				}
				if i > 0 {
					buf = append(buf, ", "...)
				}
				buf = append(types.AppendJSONString(buf, string(cols[0].Bytes(i))), " : "...)
				buf = appendJSONItem(buf, cols[1], i)
			}
			if err := appendJSONValue(out, t, append(buf, " }"...)); err != nil {
				return err
			}
		}
		return nil
	})
}
