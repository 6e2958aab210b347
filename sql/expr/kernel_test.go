package expr

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// drawVector draws a column with NULLs and values near the limits.
func drawVector(t *rapid.T, o types.OID, n int) *types.Vector {
	v := types.NewVector(types.Of(o), n)
	for range n {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			v.AppendNull()
			continue
		}
		switch o.Kind() {
		case types.KindInt:
			lo, hi := intRange(o)
			if o == types.Bool {
				lo, hi = 0, 1
			}
			v.AppendInt(rapid.SampledFrom([]int64{max(lo, -3), max(lo, -1), max(lo, 0), 1, min(hi, 7), lo, hi}).Draw(t, "int"))
		case types.KindFloat:
			v.AppendFloat(rapid.SampledFrom([]float64{-1.5, 0, 1, 2.5, 3, math.NaN(), math.Inf(1), 1e300, 1e-300}).Draw(t, "float"))
		default:
			d := types.Datum{Type: types.Of(o), Bytes: []byte(rapid.SampledFrom([]string{"", "a", "ab", "b"}).Draw(t, "text"))}
			if o == types.Numeric || o == types.Interval || o == types.UUID || o == types.JSONB || o.IsArray() {
				text := map[bool]string{true: "{1,2}", false: "1"}[o.IsArray()]
				if o == types.UUID {
					text = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
				}
				d, _ = types.Parse(types.Of(o), []byte(text), nil)
			}
			v.AppendDatum(d)
		}
	}
	return v
}

// TestKernelsAgreeWithRows runs every operator that has a kernel both ways.
func TestKernelsAgreeWithRows(t *testing.T) {
	for name, fs := range operators() {
		for _, f := range fs {
			if f.vec == nil || isPseudo(f.args[0]) || f.args[0] == types.Record {
				continue
			}
			t.Run(name+" "+types.Of(f.args[0]).String(), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { checkKernel(t, f) })
			})
		}
	}
}

func checkKernel(t *rapid.T, f *overload) {
	n := rapid.IntRange(0, 70).Draw(t, "rows")
	in := &types.Batch{Rows: n}
	c := &call{fn: f, typ: types.Of(f.ret), op: true}
	for i, o := range f.args {
		if rapid.IntRange(0, 3).Draw(t, "constant") == 0 {
			c.args = append(c.args, &Const{Datum: drawVector(t, o, 1).Datum(0)})
		} else {
			c.args = append(c.args, &Column{Index: i, Typ: types.Of(o)})
		}
		in.Cols = append(in.Cols, drawVector(t, o, n))
	}
	fast, err1 := c.Eval(nil, in)
	args, err := evalArgs(emptyContext, c.args, in)
	if err != nil {
		t.Fatal(err)
	}
	slow, err2 := c.evalRows(emptyContext, args, n)
	var r1, r2 *RowError
	if errors.As(err1, &r1) != errors.As(err2, &r2) || r1 != nil && (r1.Row != r2.Row || sqlerr.CodeOf(r1) != sqlerr.CodeOf(r2)) {
		t.Fatalf("errors %v and %v", err1, err2)
	}
	if err1 != nil {
		return
	}
	if fast.Len() != n || slow.Len() != n {
		t.Fatalf("%d and %d rows for %d", fast.Len(), slow.Len(), n)
	}
	for i := range n {
		if a, b := fast.Datum(i), slow.Datum(i); types.Compare(a, b) != 0 || a.Int != b.Int {
			t.Fatalf("row %d: %v and %v", i, a, b)
		}
	}
	if f.ret != types.Bool {
		return
	}
	sel, err := FilterSel(nil, c, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []int32
	for i := range n {
		if !slow.Nulls.Has(i) && slow.Ints[i] == 1 {
			want = append(want, int32(i))
		}
	}
	if len(sel) != len(want) {
		t.Fatalf("filter %v, want %v", sel, want)
	}
	for i := range sel {
		if sel[i] != want[i] {
			t.Fatalf("filter %v, want %v", sel, want)
		}
	}
}

func ints(xs ...int64) *types.Vector {
	v := types.NewVector(types.Of(types.Int4), len(xs))
	v.Ints = append(v.Ints, xs...)
	return v
}

func col(i int) Expr { return &Column{Index: i, Typ: types.Of(types.Int4), Name: "c"} }

func constant(x int64) Expr { return &Const{Datum: types.IntDatum(types.Int4, x)} }

func op(t *testing.T, name string, l, r Expr) Expr {
	t.Helper()
	e, err := NewOperator(name, l, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestGuardsAreEvaluatedFirst(t *testing.T) {
	in := &types.Batch{Cols: []*types.Vector{ints(0, 2, 5, 0)}, Rows: 4}
	guard := op(t, "<>", col(0), constant(0))
	divide := op(t, ">", op(t, "/", constant(10), col(0)), constant(3))
	and, err := NewAnd(guard, divide)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := FilterSel(nil, and, in, nil)
	if err != nil || len(sel) != 1 || sel[0] != 1 {
		t.Fatal(sel, err)
	}
	v, err := and.Eval(nil, in)
	if err != nil || v.Ints[1] != 1 || v.Ints[0] != 0 {
		t.Fatal(v, err)
	}
	c, err := NewCase(nil, []When{{guard, op(t, "/", constant(10), col(0))}}, constant(-1))
	if err != nil {
		t.Fatal(err)
	}
	v, err = c.Eval(nil, in)
	if err != nil || v.Ints[0] != -1 || v.Ints[1] != 5 || v.Ints[2] != 2 || v.Ints[3] != -1 {
		t.Fatal(v, err)
	}
}

func TestRowErrorNamesTheRowOfTheBatch(t *testing.T) {
	in := &types.Batch{Cols: []*types.Vector{ints(7, 1, 0, 1)}, Rows: 4}
	small := op(t, "<", col(0), constant(5))
	and, _ := NewAnd(op(t, "=", op(t, "%", col(0), constant(1)), constant(0)), small, op(t, "=", op(t, "/", constant(1), col(0)), constant(1)))
	_, err := and.Eval(nil, in)
	var re *RowError
	if !errors.As(err, &re) || re.Row != 2 || sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
		t.Fatal(err)
	}
}

type testCatalog struct{}

func (testCatalog) RelationOID(name string, _ []string) (uint32, bool) {
	return 17000, name == "clicks"
}

func (testCatalog) RelationName(oid uint32, _ []string) (string, bool) { return "clicks", oid == 17000 }

func (testCatalog) ViewDefinition(oid uint32) (string, bool) { return "SELECT 1", oid == 17000 }

func TestContext(t *testing.T) {
	ec := &Context{
		User: "ann", Database: "tally", SearchPath: []string{"public"}, Catalog: testCatalog{},
		Setting: func(n string) (string, bool) { return "on", n == "envelope" },
		Params:  []types.Datum{types.IntDatum(types.Int4, 41)},
	}
	check := func(want string, e Expr, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		d, err := EvalConst(ec, e)
		got := types.FormatDatum(d, ec.TextOptions())
		if err != nil {
			got = string(sqlerr.CodeOf(err))
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", e, got, want)
		}
	}
	call := func(name string, args ...Expr) (Expr, error) { return NewFunction(name, args) }
	e, err := Cast(NewLiteral("clicks"), types.Of(types.Regclass), Explicit)
	check("clicks", e, err)
	e, err = Cast(e, types.Of(types.Oid), Explicit)
	check("17000", e, err)
	e, err = Cast(NewLiteral("nosuch"), types.Of(types.Regclass), Explicit)
	check("42P01", e, err)
	e, err = call("current_setting", NewLiteral("envelope"))
	check("on", e, err)
	e, err = call("current_setting", NewLiteral("nosuch"))
	check("42704", e, err)
	e, err = call("pg_get_viewdef", &Const{Datum: types.IntDatum(types.Oid, 17000)})
	check("SELECT 1", e, err)
	e, err = call("current_user")
	check("ann", e, err)
	e, err = call("pg_catalog.current_schemas", &Const{Datum: types.BoolDatum(true)})
	check("{pg_catalog,public}", e, err)
	e, err = call("has_table_privilege", NewLiteral("clicks"), NewLiteral("SELECT"))
	check("t", e, err)
	e, err = NewOperator("+", &Param{N: 1, Typ: types.Of(types.Unknown)}, constant(1))
	check("42", e, err)
	if p := e.Children()[0].(*Param); p.Typ.OID != types.Int4 {
		t.Errorf("parameter has type %s", p.Typ)
	}
}

func TestErrorsSuggest(t *testing.T) {
	_, err := NewFunction("aprox_distinct", []Expr{constant(1)}, WithNames([]string{"approx_distinct", "sum"}))
	if e := sqlerr.From(err); e.Code != sqlerr.UndefinedFunction || !strings.Contains(e.Hint, "approx_distinct") ||
		e.Message != "function aprox_distinct(integer) does not exist" {
		t.Fatal(e, e.Hint)
	}
	_, err = Cast(NewLiteral("abc"), types.Of(types.Int4), Implicit)
	if e := sqlerr.From(err); e.Code != sqlerr.InvalidTextRepresentation || e.Message != `invalid input syntax for type integer: "abc"` {
		t.Fatal(e)
	}
}

func TestFoldKeepsFailuresForTheirRow(t *testing.T) {
	e := op(t, "+", op(t, "+", constant(1), constant(2)), col(0))
	if s := Fold(e, nil).String(); s != "(3 + c#0)" {
		t.Error(s)
	}
	bad := op(t, "/", constant(1), constant(0))
	if s := Fold(bad, nil).String(); s != "(1 / 0)" {
		t.Error(s)
	}
	if now, err := NewFunction("now", nil); err != nil || Fold(now, nil).Volatility() != Stable {
		t.Error("now() folded", err)
	}
	if !Equal(e, op(t, "+", op(t, "+", constant(1), constant(2)), col(0))) {
		t.Error("equal expressions differ")
	}
}

func TestAssignmentDoesNotCut(t *testing.T) {
	short := types.Of(types.Varchar).WithModifier(3 + 4)
	if _, err := Cast(NewLiteral("abcdef"), short, Assignment); sqlerr.CodeOf(err) != sqlerr.StringDataRightTruncation {
		t.Error(err)
	}
	e, err := Cast(NewLiteral("abcdef"), short, Explicit)
	if err != nil || e.String() != "'abc'::character varying(3)" {
		t.Error(e, err)
	}
	p, err := Cast(&Param{N: 1, Typ: types.Of(types.Unknown)}, short, Explicit)
	if err != nil {
		t.Fatal(err)
	}
	d, err := EvalConst(&Context{Params: []types.Datum{types.TextDatum("abcdef")}}, p)
	if err != nil || string(d.Bytes) != "abc" || p.Type() != short {
		t.Error(d, err)
	}
	if _, err := Cast(&Const{Datum: types.TextDatum("1")}, types.Of(types.Int4), Assignment); sqlerr.CodeOf(err) != sqlerr.DatatypeMismatch {
		t.Error(err)
	}
}

func TestFoldStable(t *testing.T) {
	ec := &Context{Now: time.Unix(1_700_000_000, 0), Params: []types.Datum{types.IntDatum(types.Int4, 5)}}
	lit, err := Cast(NewLiteral("2026-01-01"), types.Of(types.Timestamptz), Explicit)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := FoldStable(lit, ec).(*Const); !ok || lit.Volatility() != Stable {
		t.Error("literal in the session's zone is not folded")
	}
	sum := op(t, "+", &Param{N: 1, Typ: types.Of(types.Int4)}, constant(1))
	if s := FoldStable(sum, ec).String(); s != "6" {
		t.Error(s)
	}
	now, _ := NewFunction("now", nil)
	if _, ok := FoldStable(now, ec).(*Const); !ok || !ReadsClock(now) || ReadsClock(lit) {
		t.Error("now() is not folded, or the clock is not seen")
	}
	today, _ := Cast(NewLiteral("today"), types.Of(types.Timestamptz), Explicit)
	random, _ := NewFunction("random", nil)
	trunc, _ := NewFunction("date_trunc", []Expr{NewLiteral("day"), lit})
	if !ReadsClock(today) || !ReadsClock(random) || ReadsClock(trunc) {
		t.Error("ReadsClock", ReadsClock(today), ReadsClock(random), ReadsClock(trunc))
	}
}

// TestRegistryIsComplete checks what binding and pg_proc rely on.
func TestRegistryIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range append(Functions(), Operators()...) {
		key := f.Name
		for _, a := range f.Args {
			key += " " + a.String()
		}
		if seen[key] {
			t.Errorf("%s is declared twice", key)
		}
		seen[key] = true
		if f.Description == "" {
			t.Errorf("%s has no description", key)
		}
	}
	t.Logf("%d overloads", len(seen))
}
