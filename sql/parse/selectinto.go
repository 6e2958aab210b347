package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// into is the INTO of SELECT INTO, and the SELECT that it stands in.
type into struct {
	core  *ast.SelectCore // nil: there is none
	char  int32
	table *ast.CreateTable
}

// selectStatement parses a query that is a statement, which with INTO makes a table.
func (p *parser) selectStatement() (ast.Statement, error) {
	outer, own := p.into, &into{}
	p.into = own
	defer func() { p.into = outer }()
	q, err := p.parseQuery()
	if err != nil || own.core == nil {
		return q, err
	}
	switch {
	case firstCore(q) == own.core:
	case combines(q, own.core):
		return nil, sqlerr.New(sqlerr.SyntaxError, "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT").At(int(own.char))
	default:
		return nil, errInto(own.char)
	}
	own.table.As = q
	return own.table, nil
}

// intoClause parses INTO [TEMP|UNLOGGED] [TABLE] name.
func (p *parser) intoClause(core *ast.SelectCore) (err error) {
	t := p.next()
	if p.into == nil || p.into.core != nil {
		return errInto(t.char)
	}
	scoped := p.isWord("local", "global") && p.peek(1).isWord("temp", "temporary")
	if scoped {
		p.at++
	}
	table := &ast.CreateTable{Pos: core.Pos, Temporary: p.acceptWord("temp", "temporary")}
	table.Unlogged = !table.Temporary && p.acceptWord("unlogged")
	p.acceptWord("table")
	if table.Name, err = p.objectName(); err == nil {
		p.into.core, p.into.char, p.into.table = core, t.char, table
	}
	return err
}

func errInto(char int32) error {
	return sqlerr.New(sqlerr.SyntaxError, "SELECT ... INTO is not allowed here").At(int(char))
}

// firstCore returns the first SELECT of a query.
func firstCore(q *ast.Select) *ast.SelectCore {
	for {
		switch x := q.Body.(type) {
		case *ast.SelectCore:
			return x
		case *ast.SetOp:
			q = x.Left
		default:
			return nil
		}
	}
}

// combines reports whether a SELECT is one of those that a query is the UNION, INTERSECT or
// EXCEPT of.
func combines(q *ast.Select, core *ast.SelectCore) bool {
	switch x := q.Body.(type) {
	case *ast.SelectCore:
		return x == core
	case *ast.SetOp:
		return combines(x.Left, core) || combines(x.Right, core)
	}
	return false
}
