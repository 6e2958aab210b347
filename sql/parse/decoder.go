package parse

import (
	"strconv"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// decoder turns TiDB's tree of one fragment into sql/ast. It panics with a
// decodeFailure where the tree is not what the rewriter asked for; parser.grammar
// turns that into an error.
type decoder struct {
	parser *parser
	text   *rendered
}

func (d *decoder) fail(format string, args ...any) {
	panic(decodeFailure{sqlerr.New(sqlerr.InternalError, "the grammar's tree is not as expected: "+format, args...)})
}

// kept returns the entry i of the side table.
func (d *decoder) kept(i int) any {
	if i < 0 || i >= len(d.parser.side) {
		d.fail("no side entry %d", i)
	}
	return d.parser.side[i]
}

// named returns the entry that a name in the text stands for.
func (d *decoder) named(name tidb.CIStr) any {
	i, err := strconv.Atoi(name.O)
	if err != nil {
		d.fail("name %q", name.O)
	}
	return d.kept(i)
}

// formCall returns the side entry and the arguments of a call of f, false if e is none.
func (d *decoder) formCall(e tidb.ExprNode) (any, []tidb.ExprNode, bool) {
	call, ok := e.(*tidb.FuncCallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, nil, false
	}
	n, ok := call.Args[0].(*number)
	if !ok {
		return nil, nil, false
	}
	return d.kept(n.index()), call.Args[1:], true
}

// charBefore returns the source position of the piece that stands n pieces before e.
func (d *decoder) charBefore(e tidb.ExprNode, n int) ast.Pos {
	i := d.text.pieceAt(e.OriginTextPosition()) - n
	if i < 0 {
		return 0
	}
	return ast.Pos(d.text.chars[i])
}

// soleField returns the only expression of SELECT expression.
func (d *decoder) soleField(stmt grammarNode) ast.Expr {
	s, ok := stmt.(*tidb.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != 1 {
		d.fail("no single field in %T", stmt)
	}
	return d.expr(s.Fields.Fields[0].Expr)
}

// soleFrom returns the FROM items of SELECT 0 FROM ....
func (d *decoder) soleFrom(stmt grammarNode) []ast.FromItem {
	s, ok := stmt.(*tidb.SelectStmt)
	if !ok {
		d.fail("%T", stmt)
	}
	return d.from(s.From)
}

// soleTargets returns the targets of SELECT a, b.
func (d *decoder) soleTargets(stmt grammarNode) []ast.Target {
	s, ok := stmt.(*tidb.SelectStmt)
	if !ok {
		d.fail("%T", stmt)
	}
	return d.targets(s.Fields.Fields)
}

func (d *decoder) targets(fields []*tidb.SelectField) []ast.Target {
	if len(fields) == 0 {
		return nil
	}
	list := make([]ast.Target, len(fields))
	for i, f := range fields {
		list[i].Expr = d.expr(f.Expr)
		if f.AsName.O != "" {
			list[i].Alias, _ = d.named(f.AsName).(string)
		}
	}
	return list
}
