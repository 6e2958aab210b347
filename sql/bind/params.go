package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

const maxParams = 65535

// param binds $N: of the declared type, or unknown until a cast decides.
func (b *binder) param(p *ast.Param) (expr.Expr, error) {
	if p.Number < 1 || p.Number > maxParams {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", p.Number).At(p.Position())
	}
	b.maxParam = max(b.maxParam, p.Number)
	t := types.Of(types.Unknown)
	if p.Number <= len(b.params) && b.params[p.Number-1].OID != 0 {
		t = b.params[p.Number-1]
	}
	return &expr.Param{N: p.Number, Typ: t}, nil
}

// paramTypes returns the types of all parameters of the plan: declared, taken
// from the first use that fixes one, or text.
func (b *binder) paramTypes(root plan.Node) ([]types.Type, error) {
	out := make([]types.Type, max(len(b.params), b.maxParam))
	seen := make([]bool, len(out))
	copy(out, b.params)
	plan.Visit(root, func(n plan.Node) {
		for _, e := range n.Exprs() {
			if e == nil {
				continue
			}
			expr.Walk(e, func(x expr.Expr) bool {
				p, ok := x.(*expr.Param)
				if !ok || p.N > len(out) {
					return true
				}
				seen[p.N-1] = true
				if unknown(out[p.N-1]) && !unknown(p.Typ) {
					out[p.N-1] = p.Typ
				}
				return true
			})
		}
	})
	for i := range out {
		if !unknown(out[i]) {
			continue
		}
		if !seen[i] {
			return nil, sqlerr.New(sqlerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
		out[i] = types.Of(types.Text)
	}
	return out, nil
}

func unknown(t types.Type) bool { return t.OID == 0 || t.OID == types.Unknown }
