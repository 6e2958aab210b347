package plan

import (
	"strings"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// Conjuncts takes AND apart; nil gives none. What a node means is read from its
// canonical text, which is the contract of expr.Expr.
func Conjuncts(e expr.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	args := e.Children()
	if len(args) < 2 || e.Type().OID != types.Bool {
		return []expr.Expr{e}
	}
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.String()
	}
	if strings.Trim(e.String(), "()") != strings.Trim(strings.Join(parts, " AND "), "()") || !strings.Contains(e.String(), " AND ") {
		return []expr.Expr{e}
	}
	var out []expr.Expr
	for _, a := range args {
		out = append(out, Conjuncts(a)...)
	}
	return out
}

// Equality returns the operands of a = b.
func Equality(e expr.Expr) (a, b expr.Expr, ok bool) {
	args := e.Children()
	if len(args) != 2 || e.String() != "("+args[0].String()+" = "+args[1].String()+")" {
		return nil, nil, false
	}
	return args[0], args[1], true
}
