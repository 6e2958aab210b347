package param

import (
	"math"
	"strings"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// NoFunction is PostgreSQL's error for a call that no function fits.
func NoFunction(name string, args []types.Type) error {
	text := make([]string, len(args))
	for i, a := range args {
		text[i] = a.String()
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, strings.Join(text, ", ")).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// Number returns the constant number that argument i is.
func Number(name, meaning string, args []types.Type, consts []*types.Datum, i int) (float64, error) {
	switch args[i].OID {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Unknown:
	default:
		return 0, NoFunction(name, args)
	}
	if i >= len(consts) || consts[i] == nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must be a constant", meaning, name)
	}
	d := *consts[i]
	switch {
	case d.Null:
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must not be null", meaning, name)
	case d.Type.OID == types.Numeric:
		return types.DecodeDecimal(d.Bytes).Float64(), nil
	case d.Type.Kind() == types.KindFloat:
		return d.Float, nil
	case d.Type.Kind() == types.KindInt:
		return float64(d.Int), nil
	}
	return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must be a number", meaning, name)
}

// Within checks a number against the limits of a parameter.
func Within(name string, p agg.Parameter, x float64) error {
	if x >= p.Min && x <= p.Max {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must be between %v and %v", p.Name, name, p.Min, p.Max).
		WithDetail("%s is %v.", p.Name, x).WithHint("It is %s.", p.Meaning)
}

// Integer returns the constant whole number that argument i is, or the
// parameter's default where the call has no such argument.
func Integer(name string, p agg.Parameter, args []types.Type, consts []*types.Datum, i int) (int, error) {
	p.Whole = true
	x, err := Float(name, p, args, consts, i)
	return int(x), err
}

// Float returns the constant number within limits that argument i is, or the
// parameter's default where the call has no such argument.
func Float(name string, p agg.Parameter, args []types.Type, consts []*types.Datum, i int) (float64, error) {
	if i >= len(args) {
		return p.Default, nil
	}
	x, err := Number(name, p.Name, args, consts, i)
	if err != nil {
		return 0, err
	}
	if err := Within(name, p, x); err != nil {
		return 0, err
	}
	if p.Whole && x != math.Trunc(x) {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must be a whole number between %v and %v", p.Name, name, p.Min, p.Max)
	}
	return x, nil
}

// All returns the numbers that the arguments from one on are, the defaults of parameters
// that the call does not have included.
func All(name string, parameters []agg.Parameter, args []types.Type, consts []*types.Datum, first int) ([]float64, error) {
	if len(args) < first || len(args) > first+len(parameters) {
		return nil, NoFunction(name, args)
	}
	out := make([]float64, len(parameters))
	for i, p := range parameters {
		var err error
		if out[i], err = Float(name, p, args, consts, first+i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Constant returns the constant value, not NULL, that argument i is.
func Constant(name, what string, consts []*types.Datum, i int) (types.Datum, error) {
	if i >= len(consts) || consts[i] == nil {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must be a constant", what, name)
	}
	if consts[i].Null {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "the %s of %s must not be null", what, name)
	}
	return *consts[i], nil
}
