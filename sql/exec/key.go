package exec

import (
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// maxKeys is up to how many keys rows are looked up instead of the table scanned.
const maxKeys = 1000

// keys returns rows of a table with the keys that a scan is for, and NULLs besides; nil
// where it has none or too many, and has to read the table.
func (r *run) keys(x *plan.TableScan) (*types.Batch, error) {
	if x.Key == nil {
		return nil, nil
	}
	values, n := make(map[int][]types.Datum, len(x.Key.Columns)), 1
	for i, of := range x.Key.Columns {
		column := x.Key.Index.Columns[i]
		given, err := r.keyValues(x.Table.Columns[column].Type, of)
		if err != nil {
			return nil, err
		}
		values[column] = given
		if n *= len(given); n > maxKeys {
			return nil, nil
		}
	}
	out := types.NewBatch(x.Table.RowSchema(), n)
	for out.Rows < n {
		rest := out.Rows // in the mixed base of the numbers of values
		for c, v := range out.Cols {
			if given := values[c]; given == nil {
				v.AppendNull()
			} else {
				v.AppendDatum(given[rest%len(given)])
				rest /= len(given)
			}
		}
		out.Rows++
	}
	return out, nil
}

// keyValues returns the values of a column of a key that a row can have: not NULL, which
// nothing equals, nor an integer beyond those of the column.
func (r *run) keyValues(column types.Type, of plan.KeyColumn) ([]types.Datum, error) {
	out := make([]types.Datum, 0, len(of.Values))
	add := func(d types.Datum) {
		if !d.Null && (!column.OID.IsInteger() || column.OID.Holds(d.Int)) {
			out = append(out, d)
		}
	}
	for _, e := range of.Values {
		v, err := e.Eval(r.ec, &types.Batch{Rows: 1})
		if err != nil {
			return nil, cause(err)
		}
		d := v.Datum(0)
		if !of.Array || d.Null {
			add(d)
			continue
		}
		a, err := types.ArrayDatum(d)
		if err != nil {
			return nil, err
		}
		for _, item := range a.Items {
			add(item)
		}
	}
	return out, nil
}
