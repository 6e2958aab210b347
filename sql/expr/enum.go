package expr

import (
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// enumFunctions tell what labels an enum has. The type of the argument says which enum;
// its value, but for the limits of a range, does not matter.
func enumFunctions() []overload {
	return []overload{
		fn("enum_first(anyenum) anyenum", "first label of an enum", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return enumEnd(ec, a[0].Type, false)
		}).onNull().stable(),
		fn("enum_last(anyenum) anyenum", "last label of an enum", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return enumEnd(ec, a[0].Type, true)
		}).onNull().stable(),
		fn("enum_range(anyenum) anyarray", "labels of an enum", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return enumRange(ec, a[0].Type, math.MinInt64, math.MaxInt64)
		}).onNull().stable(),
		fn("enum_range(anyenum,anyenum) anyarray", "labels of an enum from one to another", func(ec *Context, a []types.Datum) (types.Datum, error) {
			from, to := int64(math.MinInt64), int64(math.MaxInt64)
			if !a[0].Null {
				from = a[0].Int
			}
			if !a[1].Null {
				to = a[1].Int
			}
			return enumRange(ec, a[0].Type, from, to)
		}).onNull().stable(),
	}
}

func enumOf(ec *Context, t types.Type) (*types.Enum, error) {
	if e := ec.TextOptions().Enum(t.OID); e != nil {
		return e, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", t.OID)
}

// enumEnd returns the first or the last label.
func enumEnd(ec *Context, t types.Type, last bool) (types.Datum, error) {
	e, err := enumOf(ec, t)
	if err != nil {
		return types.Datum{}, err
	}
	position, better := int64(math.MaxInt64), func(a, b int64) bool { return a < b }
	if last {
		position, better = math.MinInt64, func(a, b int64) bool { return a > b }
	}
	found := false
	for _, list := range [...][]types.EnumLabel{e.Labels, e.Unsafe} {
		for _, l := range list {
			if better(l.Position, position) {
				position, found = l.Position, true
			}
		}
	}
	if !found {
		return types.Datum{}, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "enum %s contains no values", t)
	}
	_, err = e.Between(position, position)
	return types.Datum{Type: t, Int: position}, err
}

func enumRange(ec *Context, t types.Type, from, to int64) (types.Datum, error) {
	e, err := enumOf(ec, t)
	if err != nil {
		return types.Datum{}, err
	}
	labels, err := e.Between(from, to)
	if err != nil {
		return types.Datum{}, err
	}
	items := make([]types.Datum, len(labels))
	for i, l := range labels {
		items[i] = types.Datum{Type: t, Int: l.Position}
	}
	return types.NewArray(t, items).Datum(), nil
}
