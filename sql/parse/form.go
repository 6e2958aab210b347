package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// form is a construct that only PostgreSQL has. The rewriter emits it as a call of
// the function `f` whose first argument is the form's number in the side table and
// whose other arguments are the expressions in it; the decoder gives those back, in
// the same order, and gets the node.
type form interface {
	build(args []ast.Expr) ast.Expr
}

// formFunc makes a function a form.
type formFunc func(args []ast.Expr) ast.Expr

func (f formFunc) build(args []ast.Expr) ast.Expr { return f(args) }

// openForm emits the start of a call of f.
func (p *parser) openForm(f any, char int32) { p.emit("`f`("+p.keep(f), char) }

// wrapForm makes what was emitted since mark the first argument of a call of f.
func (p *parser) wrapForm(mark int, f any) { p.wrap(mark, "`f`("+p.keep(f)+",") }

// closeForm ends the call.
func (p *parser) closeForm() { p.emit(")", p.cur().char) }

// leaf emits a finished expression as a number.
func (p *parser) leaf(e ast.Expr) { p.emit(p.keep(e), int32(e.Position())) }
