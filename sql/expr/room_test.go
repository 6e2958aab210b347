package expr

import (
	"testing"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestResultsAreBounded: whichever node makes them, the values of one evaluation
// end in 53200 before they take more than MaxVectorBytes; one alone may be larger.
func TestResultsAreBounded(t *testing.T) {
	big := NewConst(types.Datum{Type: types.Of(types.Text), Bytes: make([]byte, 1<<20)})
	col := &Column{Typ: types.Of(types.Text), Name: "s"}
	must := func(e Expr, err error) Expr {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	int4 := func(n int64) Expr { return NewConst(types.IntDatum(types.Int4, n)) }
	for name, e := range map[string]Expr{
		"constant": big,
		"repeat":   must(NewFunction("repeat", []Expr{col, int4(1 << 20)})),
		"lpad":     must(NewFunction("lpad", []Expr{col, int4(1 << 20)})),
		"replace":  must(NewFunction("replace", []Expr{col, col, big})),
		"||":       must(NewOperator("||", col, big)),
		"concat":   must(NewFunction("concat", []Expr{col, big})),
		"coalesce": must(NewCoalesce(must(NewNullIf(col, col)), must(NewOperator("||", col, big)))),
		"array":    must(NewArray([]Expr{big, col})),
		"greatest": must(NewGreatest(col, must(NewOperator("||", col, big)))),
	} {
		for n, want := range map[int]sqlerr.Code{1: "", 4: "", 70: sqlerr.OutOfMemory} {
			in := &types.Batch{Cols: []*types.Vector{types.Repeat(types.TextDatum("x"), n)}, Rows: n}
			v, err := e.Eval(&Context{}, in)
			if got := sqlerr.CodeOf(err); err != nil && got != want || err == nil && want != "" || TooLarge(err) != (want != "") {
				t.Errorf("%s over %d rows: %v, want %q", name, n, err, want)
			}
			if err == nil && v.Len() != n {
				t.Errorf("%s over %d rows: %d rows", name, n, v.Len())
			}
		}
	}
	one := &types.Batch{Cols: []*types.Vector{types.Repeat(types.TextDatum("x"), 1)}, Rows: 1}
	if _, err := must(NewFunction("repeat", []Expr{col, int4(100 << 20)})).Eval(&Context{}, one); err != nil {
		t.Errorf("a value alone: %v", err)
	}
}
