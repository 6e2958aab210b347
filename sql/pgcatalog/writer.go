package pgcatalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/tallydb/tallydb/sql/types"
)

// writer collects the rows of a table. Fillers name the columns that they know;
// the others hold NULL, or where the table does not allow it, zero, false or ”.
type writer struct {
	def   *tableDef
	batch *types.Batch
	from  []int // per column: the value of add that it holds, or -1
	fill  []any // what the columns without one hold
	width int
}

func newWriter(def *tableDef) *writer {
	w := &writer{def: def, batch: types.NewBatch(&types.Schema{Columns: def.columns}, 0)}
	w.from, w.fill = make([]int, len(def.columns)), make([]any, len(def.columns))
	for i, c := range def.columns {
		if c.NotNull {
			w.fill[i] = zeroOf(c)
		}
	}
	w.columns("")
	return w
}

func zeroOf(c types.Column) any {
	switch {
	case c.Name == "xmin":
		return 1
	case c.Type.Kind() == types.KindFloat:
		return 0.0
	case c.Type.OID == types.Char:
		return ""
	case c.Type.Kind() == types.KindInt:
		return 0
	case c.Type.OID.IsArray():
		return []int64{}
	}
	return ""
}

// columns says which columns the values of add are for.
func (w *writer) columns(names string) {
	for i := range w.from {
		w.from[i] = -1
	}
	for k, n := range strings.Fields(names) {
		w.from[w.must(n)] = k
		w.width = k + 1
	}
	if i := w.def.column("tableoid"); i >= w.def.shown {
		w.fill[i] = w.def.oid
	}
}

func (w *writer) must(name string) int {
	i := w.def.column(name)
	if i < 0 {
		panic(fmt.Sprintf("table %s has no column %q", w.def.name, name))
	}
	return i
}

// always sets what columns hold that add is not given: name, value, name, value.
func (w *writer) always(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		w.fill[w.must(name)] = pairs[i+1]
	}
}

// add appends a row.
func (w *writer) add(values ...any) {
	if len(values) != w.width {
		panic(fmt.Sprintf("table %s: %d values for %d columns", w.def.name, len(values), w.width))
	}
	for i, v := range w.batch.Cols {
		if k := w.from[i]; k >= 0 {
			appendValue(v, values[k])
		} else {
			appendValue(v, w.fill[i])
		}
	}
	w.batch.Rows++
}

// appendValue appends a Go value to a column whose type it fits.
func appendValue(v *types.Vector, x any) {
	switch t := x.(type) {
	case nil:
		v.AppendNull()
	case bool:
		v.AppendBool(t)
	case int:
		v.AppendInt(int64(t))
	case int64:
		v.AppendInt(t)
	case uint32:
		v.AppendInt(int64(t))
	case types.OID:
		v.AppendInt(int64(t))
	case byte:
		v.AppendInt(int64(t))
	case float64:
		v.AppendFloat(t)
	case time.Time:
		v.AppendInt(types.FromTime(t))
	case types.Datum:
		v.AppendDatum(t)
	default:
		appendBytes(v, x)
	}
}

func appendBytes(v *types.Vector, x any) {
	elem := v.Type.ElemType()
	switch t := x.(type) {
	case string:
		if v.Type.OID == types.Char {
			var c byte
			if t != "" {
				c = t[0]
			}
			v.AppendInt(int64(c))
			return
		}
		v.AppendString(t)
	case []string:
		items := make([]types.Datum, len(t))
		for i, s := range t {
			items[i] = types.Datum{Type: elem, Bytes: []byte(s)}
			if elem.OID == types.Char {
				items[i] = types.IntDatum(types.Char, int64(s[0]))
			}
		}
		v.AppendDatum(types.NewArray(elem, items).Datum())
	case []int64:
		if v.Type.OID == types.Int2Vector || v.Type.OID == types.OidVector {
			v.AppendDatum(types.VectorDatum(v.Type.OID, t...))
			return
		}
		items := make([]types.Datum, len(t))
		for i, n := range t {
			items[i] = types.IntDatum(elem.OID, n)
		}
		v.AppendDatum(types.NewArray(elem, items).Datum())
	default:
		panic(fmt.Sprintf("value %T in a catalog row", x))
	}
}

// orNull returns NULL for the empty string.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
