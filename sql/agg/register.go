package agg

import "github.com/tallydb/tallydb/sql/types"

// RegisterExact registers the exact aggregates.
func RegisterExact(r *Registry) {
	registerCount(r)
	registerSum(r)
	registerMinMax(r)
	registerVariance(r)
	registerBitwise(r)
	registerCollect(r)
	registerJSON(r)
	registerOrderedSet(r)
	registerRegression(r)
	registerSets(r)
}

func exactDescriptor(name, signature, memory string, privacy PrivacyClass) Descriptor {
	return Descriptor{
		Name: name, Family: "exact", Signature: signature,
		StreamModel: CashRegister, MergeAlgebra: CommutativeMonoid,
		Guarantee: "exact", Confidence: "1", Memory: memory, PrivacyClass: privacy, CodecVersion: int(codecV1),
	}
}

// known makes text of an untyped literal.
func known(t types.Type) types.Type {
	if t.OID == types.Unknown {
		return types.Of(types.Text)
	}
	return t
}

// registerSum registers sum and avg, whose states are shared.
func registerSum(r *Registry) {
	d := exactDescriptor("sum", "sum(x) → int8 for int2, int4; numeric for int8, numeric; x's type for floats, interval", "24 bytes a group", Aggregated)
	r.Register(&Function{Descriptor: subtracts(d, Turnstile), Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
		return bindSum("sum", args)
	}, Weighted: bindWeightedSum("sum")})
	d = exactDescriptor("avg", "avg(x) → numeric for integers, numeric; float8 for floats; interval", "24 bytes a group", Aggregated)
	r.Register(&Function{Descriptor: subtracts(d, Turnstile), Bind: func(args []types.Type, _ []*types.Datum) (Bound, error) {
		return bindSum("avg", args)
	}, Weighted: bindWeightedSum("avg")})
}

func bindSum(name string, args []types.Type) (Bound, error) {
	if len(args) != 1 {
		return Bound{}, noFunction(name, args)
	}
	avg := name == "avg"
	pick := func(sum, mean Finaliser) Finaliser {
		if avg {
			return mean
		}
		return sum
	}
	b := Bound{Inputs: []int{0}, ArgTypes: []types.Type{types.Of(args[0].OID)}}
	switch args[0].OID {
	case types.Int2, types.Int4:
		b.State, b.Final = sumIntSpec(), pick(sumInt8Final, avgIntFinal)
	case types.Int8:
		b.State, b.Final = sumIntSpec(), pick(sumIntNumericFinal, avgIntFinal)
	case types.Unknown:
		b.ArgTypes[0] = types.Of(types.Float8)
		b.State, b.Final = sumFloatSpec(), pick(sumFloatFinal(types.Float8), avgFloatFinal)
	case types.Float4, types.Float8:
		b.State, b.Final = sumFloatSpec(), pick(sumFloatFinal(args[0].OID), avgFloatFinal)
	case types.Numeric:
		b.State, b.Final = sumNumericSpec(), pick(sumNumericFinal, avgNumericFinal)
	case types.Interval:
		b.State, b.Final = sumIntervalSpec(), pick(sumIntervalFinal, avgIntervalFinal)
	default:
		return Bound{}, noFunction(name, args)
	}
	return b, nil
}
