package expr

import (
	"fmt"
	"strconv"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Column reads a column of the input batch.
type Column struct {
	Index int
	Typ   types.Type
	Name  string
}

// Type implements Expr.
func (c *Column) Type() types.Type { return c.Typ }

// Eval implements Expr.
func (c *Column) Eval(_ *Context, in *types.Batch) (*types.Vector, error) {
	return in.Cols[c.Index].Flat(), nil
}

// Children implements Expr.
func (c *Column) Children() []Expr { return nil }

// WithChildren implements Expr.
func (c *Column) WithChildren([]Expr) Expr { return c }

// String implements Expr: the name with the column's number.
func (c *Column) String() string { return c.Name + "#" + strconv.Itoa(c.Index) }

// Volatility implements Expr.
func (c *Column) Volatility() Volatility { return Immutable }

// Const is a literal. A string literal that has no type yet, and a bare NULL,
// are of type unknown.
type Const struct{ Datum types.Datum }

// NewConst returns a literal.
func NewConst(d types.Datum) *Const { return &Const{Datum: d} }

// NewLiteral returns a string literal whose type is still unknown.
func NewLiteral(s string) *Const {
	return &Const{Datum: types.Datum{Type: types.Of(types.Unknown), Bytes: []byte(s)}}
}

// NewNull returns a bare NULL.
func NewNull() *Const { return &Const{Datum: types.NullOf(types.Of(types.Unknown))} }

// Type implements Expr.
func (c *Const) Type() types.Type { return c.Datum.Type }

// Eval implements Expr.
func (c *Const) Eval(_ *Context, in *types.Batch) (*types.Vector, error) {
	return repeated(c.Datum, in.Rows)
}

// Children implements Expr.
func (c *Const) Children() []Expr { return nil }

// WithChildren implements Expr.
func (c *Const) WithChildren([]Expr) Expr { return c }

// String implements Expr: the value in quotes with its type.
func (c *Const) String() string {
	t := c.Datum.Type
	if c.Datum.Null {
		return "NULL::" + t.String()
	}
	s := types.FormatDatum(c.Datum, nil)
	switch t.OID {
	case types.Int4:
		return s
	case types.Bool:
		if s == "t" {
			return "true"
		}
		return "false"
	}
	return QuoteLiteral(s) + "::" + t.String()
}

// Volatility implements Expr.
func (c *Const) Volatility() Volatility { return Immutable }

// Param is $N. A Param of type unknown takes the type that it is cast to, so
// the binder learns parameter types by walking the bound expression.
type Param struct {
	N   int // 1-based
	Typ types.Type
}

// Type implements Expr.
func (p *Param) Type() types.Type { return p.Typ }

func (p *Param) value(ec *Context) (types.Datum, error) {
	if ec == nil || p.N < 1 || p.N > len(ec.Params) {
		return types.Datum{}, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", p.N)
	}
	d := ec.Params[p.N-1]
	if d.Type.Kind() != p.Typ.Kind() && !d.Null {
		return d, sqlerr.New(sqlerr.DatatypeMismatch, "parameter $%d has type %s instead of %s", p.N, d.Type, p.Typ)
	}
	d.Type = p.Typ
	return d, nil
}

// Eval implements Expr.
func (p *Param) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	d, err := p.value(ec)
	if err != nil {
		return nil, err
	}
	return repeated(d, in.Rows)
}

// Children implements Expr.
func (p *Param) Children() []Expr { return nil }

// WithChildren implements Expr.
func (p *Param) WithChildren([]Expr) Expr { return p }

// String implements Expr.
func (p *Param) String() string { return fmt.Sprintf("$%d::%s", p.N, p.Typ) }

// Volatility implements Expr: a parameter is fixed for the statement.
func (p *Param) Volatility() Volatility { return Stable }
