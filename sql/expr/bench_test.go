package expr

import (
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

func benchBatch() *types.Batch {
	in := &types.Batch{Rows: types.BatchRows}
	a, f, s := types.NewVector(types.Of(types.Int8), in.Rows), types.NewVector(types.Of(types.Float8), in.Rows), types.NewVector(types.Of(types.Text), in.Rows)
	for i := range in.Rows {
		a.AppendInt(int64(i * 7919 % 1000))
		f.AppendFloat(float64(i%100) * 1.5)
		s.AppendString([]string{"VN", "US", "DE", "FR"}[i%4])
	}
	in.Cols = []*types.Vector{a, f, s}
	return in
}

func BenchmarkKernels(b *testing.B) {
	in := benchBatch()
	i8, f8, txt := &Column{Index: 0, Typ: types.Of(types.Int8)}, &Column{Index: 1, Typ: types.Of(types.Float8)}, &Column{Index: 2, Typ: types.Of(types.Text)}
	k := func(d types.Datum) Expr { return &Const{Datum: d} }
	for _, c := range []struct {
		name, op string
		l, r     Expr
		filter   bool
	}{
		{"int8 + int8", "+", i8, i8, false},
		{"int8 + const", "+", i8, k(types.IntDatum(types.Int8, 5)), false},
		{"int8 * const", "*", i8, k(types.IntDatum(types.Int8, 5)), false},
		{"int8 / const", "/", i8, k(types.IntDatum(types.Int8, 5)), false},
		{"float8 * float8", "*", f8, f8, false},
		{"int8 < const", "<", i8, k(types.IntDatum(types.Int8, 500)), false},
		{"float8 < const", "<", f8, k(types.FloatDatum(50)), false},
		{"text = const", "=", txt, k(types.TextDatum("VN")), false},
		{"filter int8 < const", "<", i8, k(types.IntDatum(types.Int8, 500)), true},
		{"filter float8 < const", "<", f8, k(types.FloatDatum(50)), true},
		{"filter text = const", "=", txt, k(types.TextDatum("VN")), true},
	} {
		e, err := NewOperator(c.op, c.l, c.r)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			sel := make([]int32, 0, in.Rows)
			b.ReportAllocs()
			for b.Loop() {
				if c.filter {
					_, err = FilterSel(nil, e, in, sel)
				} else {
					_, err = e.Eval(nil, in)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.Rows), "ns/row")
		})
	}
}
