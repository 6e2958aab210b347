package physical

import (
	"math"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// WindowBounds returns bounds, inclusive, of the starts of the windows that a
// scan's key filter can admit, so that owners read no others. The filter still
// decides; bounds only narrow.
func WindowBounds(scan *plan.FoldScan, ec *expr.Context) (from, to eventtime.Time) {
	from, to = eventtime.Min, eventtime.Max
	l := scan.Fold.Layout()
	if l.WindowStart < 0 {
		return from, to
	}
	size := scan.Fold.Window.Size
	for _, e := range plan.Conjuncts(scan.KeyFilter) {
		op, column, value, ok := comparison(e, ec)
		if !ok {
			continue
		}
		switch column {
		case l.WindowEnd:
			value = value.Add(-size)
		case l.WindowStart:
		default:
			continue
		}
		switch op {
		case "=":
			from, to = max(from, value), min(to, value)
		case ">", ">=":
			from = max(from, value)
		case "<", "<=":
			to = min(to, value)
		}
	}
	return from, to
}

// flipped is the operator with its operands exchanged.
var flipped = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparison takes "column op value" apart, where value is a timestamp that reads
// no column. What a node means is its canonical text.
func comparison(e expr.Expr, ec *expr.Context) (op string, column int, value eventtime.Time, ok bool) {
	args := e.Children()
	if len(args) != 2 {
		return "", 0, 0, false
	}
	for o, f := range flipped {
		if e.String() != "("+args[0].String()+" "+o+" "+args[1].String()+")" {
			continue
		}
		if c, isColumn := args[0].(*expr.Column); isColumn {
			at, isTime := instant(args[1], c.Typ, ec)
			return o, c.Index, at, isTime
		}
		if c, isColumn := args[1].(*expr.Column); isColumn {
			at, isTime := instant(args[0], c.Typ, ec)
			return f, c.Index, at, isTime
		}
	}
	return "", 0, 0, false
}

// instant evaluates a value of the column's own type.
func instant(e expr.Expr, t types.Type, ec *expr.Context) (eventtime.Time, bool) {
	timed := t.OID == types.Timestamp || t.OID == types.Timestamptz
	if !timed || e.Type().OID != t.OID || len(plan.Columns(e)) > 0 {
		return 0, false
	}
	v, err := e.Eval(ec, &types.Batch{Rows: 1})
	if err != nil || v.IsNull(0) || v.Ints[0] == math.MinInt64 || v.Ints[0] == math.MaxInt64 {
		return 0, false
	}
	return eventtime.Time(v.Ints[0]), true
}
