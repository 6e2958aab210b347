package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

var frameBounds = map[ast.BoundKind]plan.FrameBoundKind{
	ast.UnboundedPreceding: plan.UnboundedPreceding, ast.OffsetPreceding: plan.OffsetPreceding,
	ast.CurrentRow: plan.CurrentRow, ast.OffsetFollowing: plan.OffsetFollowing, ast.UnboundedFollowing: plan.UnboundedFollowing,
}

var frameModes = map[ast.FrameMode]plan.FrameMode{
	ast.FrameRange: plan.FrameRange, ast.FrameRows: plan.FrameRows, ast.FrameGroups: plan.FrameGroups,
}

var exclusions = map[ast.Exclusion]plan.Exclusion{
	ast.ExcludeNone: plan.ExcludeNone, ast.ExcludeCurrentRow: plan.ExcludeCurrentRow,
	ast.ExcludeGroup: plan.ExcludeGroup, ast.ExcludeTies: plan.ExcludeTies,
}

// sqlerr.WindowingError is PostgreSQL's code for a window that makes no sense.
// frame binds the frame of a window with this order.
func (b *binder) frame(f *ast.Frame, order []plan.SortKey) (plan.Frame, error) {
	if f == nil {
		return plan.DefaultFrame(), nil
	}
	out := plan.Frame{Mode: frameModes[f.Mode], Exclude: exclusions[f.Exclude]}
	if out.Mode == plan.FrameGroups && len(order) == 0 {
		return out, sqlerr.New(sqlerr.WindowingError, "GROUPS mode requires an ORDER BY clause")
	}
	for i, bound := range []ast.FrameBound{f.Start, f.End} {
		pb := plan.FrameBound{Kind: plan.CurrentRow}
		if bound.Kind != 0 {
			pb.Kind = frameBounds[bound.Kind]
		}
		if bound.Offset != nil {
			var err error
			if out.Mode == plan.FrameRange {
				err = b.rangeOffset(&out, &pb, bound.Offset, order)
			} else {
				pb.Offset, err = b.rowCount(&scope{node: plan.OneRow(), ctx: &context{}}, bound.Offset, [...]string{"RANGE", "ROWS", "GROUPS"}[out.Mode])
			}
			if err != nil {
				return out, err
			}
		}
		if i == 0 {
			out.Start = pb
		} else {
			out.End = pb
		}
	}
	return out, nil
}

// rangeOffset binds an offset of a RANGE frame: how far the value of the one order
// key may be from the row's.
func (b *binder) rangeOffset(f *plan.Frame, bound *plan.FrameBound, offset ast.Expr, order []plan.SortKey) error {
	if len(order) != 1 {
		return sqlerr.New(sqlerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	off, err := b.expr(&clause{s: &scope{node: plan.OneRow(), ctx: &context{}}, name: "window RANGE"}, offset)
	if err != nil {
		return err
	}
	value := order[0].Value
	key, by, ok := rangeTypes(value.Type().OID)
	if !ok {
		return sqlerr.New(sqlerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", value.Type()).At(offset.Position())
	}
	given := off.Type()
	if off, err = expr.Cast(off, types.Of(by), expr.Implicit); err != nil {
		if unknown(given) {
			return sqlerr.From(err).At(offset.Position())
		}
		return sqlerr.New(sqlerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s", value.Type(), given).
			WithHint("Cast the offset value to an appropriate type.").At(offset.Position())
	}
	bound.Offset = off
	if f.Key, err = expr.Cast(value, types.Of(key), expr.Implicit); err != nil {
		return err
	}
	if key == types.Numeric { // sums of integers must not overflow
		if off, err = expr.Cast(off, types.Of(key), expr.Implicit); err != nil {
			return err
		}
	}
	op := "+"
	if (bound.Kind == plan.OffsetPreceding) != order[0].Descending {
		op = "-"
	}
	bound.Limit, err = expr.NewOperator(op, f.Key, off)
	return err
}

// rangeTypes returns in which type values of a type are compared with limits, and
// the type of offsets.
func rangeTypes(t types.OID) (key, offset types.OID, ok bool) {
	switch t {
	case types.Int2, types.Int4, types.Int8:
		return types.Numeric, types.Int8, true
	case types.Numeric:
		return types.Numeric, types.Numeric, true
	case types.Float4, types.Float8:
		return types.Float8, types.Float8, true
	case types.Date, types.Timestamp:
		return types.Timestamp, types.Interval, true
	case types.Timestamptz, types.Interval:
		return t, types.Interval, true
	}
	return 0, 0, false
}
