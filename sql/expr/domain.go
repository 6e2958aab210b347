package expr

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// DomainCheck is a CHECK constraint of a domain, over the value as the only column.
type DomainCheck struct {
	Name string
	Cond Expr
}

// Domain is a value brought to a domain, whose constraints it keeps or fails.
type Domain struct {
	Arg     Expr // of the type of the domain's values
	Typ     types.Type
	Name    string // of the domain, for messages
	NotNull bool
	Checks  []DomainCheck
}

// Type implements Expr.
func (d *Domain) Type() types.Type { return d.Typ }

// Children implements Expr.
func (d *Domain) Children() []Expr { return []Expr{d.Arg} }

// WithChildren implements Expr.
func (d *Domain) WithChildren(ch []Expr) Expr {
	n := *d
	n.Arg = ch[0]
	return &n
}

// String implements Expr.
func (d *Domain) String() string { return "(" + d.Arg.String() + ")::" + d.Name }

// Volatility implements Expr: constraints change, and constants that break one fail
// where they are computed, not where they are written.
func (d *Domain) Volatility() Volatility { return max(d.Arg.Volatility(), Stable) }

// Eval implements Expr.
func (d *Domain) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	v, err := d.Arg.Eval(ec, in)
	if err != nil {
		return nil, err
	}
	out := *v
	out.Type = d.Typ
	return &out, d.Check(ec, v, in.Rows)
}

// Check fails with the first value that breaks a constraint.
func (d *Domain) Check(ec *Context, v *types.Vector, rows int) error {
	for i := 0; d.NotNull && i < rows; i++ {
		if v.IsNull(i) {
			return &RowError{Row: i, Err: sqlerr.New(sqlerr.NotNullViolation, "domain %s does not allow null values", d.Name)}
		}
	}
	in := &types.Batch{Cols: []*types.Vector{v}, Rows: rows}
	for _, c := range d.Checks {
		ok, err := c.Cond.Eval(ec, in)
		if err != nil {
			return err
		}
		for i := range rows {
			if !ok.IsNull(i) && ok.Ints[i] == 0 {
				return &RowError{Row: i, Err: sqlerr.New(sqlerr.CheckViolation, "value for domain %s violates check constraint %q", d.Name, c.Name)}
			}
		}
	}
	return nil
}
