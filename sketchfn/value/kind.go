package value

import (
	"fmt"
	"math"

	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// String shows a kind in errors.
func (k Kind) String() string {
	text := k.Family
	if k.Type != "" {
		text += "(" + k.Type + ")"
	}
	for _, p := range k.Params {
		if p != 0 {
			text += fmt.Sprintf(" %d", p)
		}
	}
	return text
}

// TypeOf returns the type that a kind's name stands for; ok is false if there is
// none, or the name is not the canonical one.
func TypeOf(name string) (types.Type, bool) {
	t, err := types.ByName(name)
	if err != nil || t.String() != name || !valuehash.Hashable(t.OID) {
		return types.Type{}, false
	}
	return t, true
}

// Column makes a value that is looked up in a sketch a column of the type that
// the sketch was made of: a literal is read as that type, numbers are converted
// where nothing is lost. Other types are 42804.
func Column(k Kind, d types.Datum) (*types.Vector, error) {
	t, ok := TypeOf(k.Type)
	if !ok {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "values cannot be looked up in a sketch of %s", k)
	}
	v := types.NewVector(t, 1)
	if !d.Null && d.Type.OID != t.OID {
		var err error
		if d, err = coerce(d, t); err != nil {
			return nil, err
		}
	}
	v.AppendDatum(d)
	return v, nil
}

// Hash returns the hash of a value that is looked up in a sketch, for one of
// keyhash's uses. A sketch of another seed than the caller's is TY003.
func (o Opened) Hash(ec *expr.Context, d types.Datum, use uint64) (uint64, error) {
	if err := o.Own(ec); err != nil {
		return 0, err
	}
	v, err := Column(o.Kind, d)
	if err != nil {
		return 0, err
	}
	return valuehash.New(ec.Seed, use).Hash(v, []int32{0})[0], nil
}

func coerce(d types.Datum, t types.Type) (types.Datum, error) {
	if d.Type.OID == types.Unknown {
		return types.Parse(t, d.Bytes, nil)
	}
	switch widest := valuehash.Widest(d.Type); {
	case widest.OID == t.OID && t.OID == types.Float8:
		return types.FloatDatum(d.Float), nil
	case widest.OID == t.OID:
		d.Type = t
		return d, nil
	case t.OID == types.Float8 && widest.OID == types.Int8 && math.Abs(float64(d.Int)) < 1<<53:
		return types.FloatDatum(float64(d.Int)), nil
	}
	c, err := expr.Cast(expr.NewConst(d), t, expr.Implicit)
	if err != nil {
		return d, sqlerr.New(sqlerr.DatatypeMismatch, "the sketch holds values of type %s, not %s", t, d.Type).
			WithHint("Cast the value.")
	}
	return expr.EvalConst(&expr.Context{}, c)
}
