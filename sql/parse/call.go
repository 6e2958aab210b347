package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// callForm is a function call. The arguments of its form are the call's arguments,
// the sort keys, the filter, and the window's expressions.
type callForm struct {
	node   *ast.FuncCall
	args   int
	sorts  []sortForm
	filter bool
	window *windowForm
}

func (f *callForm) build(args []ast.Expr) ast.Expr {
	call := f.node
	if f.args > 0 {
		call.Args, args = args[:f.args:f.args], args[f.args:]
	}
	call.OrderBy, args = fillSorts(f.sorts, args)
	if f.filter {
		call.Filter, args = args[0], args[1:]
	}
	if f.window != nil {
		call.Over = f.window.fill(args)
	}
	return call
}

// call rewrites a function call; keyword marks one that is part of the grammar.
func (p *parser) call(keyword bool) error {
	t := p.cur()
	parts, err := p.dottedParts()
	if err != nil {
		return err
	}
	name, err := makeObjectName(t, parts)
	if err != nil {
		return err
	}
	f := &callForm{node: &ast.FuncCall{Pos: ast.Pos(t.char), Name: name, SQLSyntax: keyword}}
	p.openForm(f, t.char)
	p.at++ // the parenthesis
	if err := p.callArguments(f); err != nil {
		return err
	}
	if keyword && name.Name == "nullif" && f.args < 2 {
		return p.errorHere()
	}
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	if !keyword {
		if err := p.callSuffixes(f); err != nil {
			return err
		}
	}
	p.closeForm()
	return nil
}

// callArguments reads what is inside the parentheses.
func (p *parser) callArguments(f *callForm) error {
	if p.isOp("*") {
		p.at++
		f.node.Star = true
		return nil
	}
	if p.isPunct(")") {
		return nil
	}
	if !p.acceptWord("all") {
		f.node.Distinct = p.acceptWord("distinct")
	}
	err := p.commaList(func() error {
		f.args++
		if err := p.callArgument(f); err != nil {
			return err
		}
		if f.node.Variadic && p.isPunct(",") {
			return p.errorHere() // VARIADIC is the last argument
		}
		return nil
	})
	if err != nil || !p.acceptWord("order") {
		return err
	}
	if err := p.expectWord("by"); err != nil {
		return err
	}
	return p.sortArguments(&f.sorts)
}

// callArgument reads an expression, name => expression, or VARIADIC expression.
func (p *parser) callArgument(f *callForm) error {
	t := p.cur()
	f.node.Variadic = p.acceptWord("variadic")
	named := t.isTypeFuncName() && (p.peek(1).isPunct("=>") || p.peek(1).isPunct(":="))
	if !named {
		return p.argument()
	}
	p.at += 2
	p.emit(",", t.char)
	mark := p.mark()
	if _, err := p.expr(0); err != nil {
		return err
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.NamedArg{Pos: ast.Pos(t.char), Name: t.text, Arg: args[0]}
	}))
	p.closeForm()
	return nil
}

// callSuffixes reads WITHIN GROUP, FILTER and OVER.
func (p *parser) callSuffixes(f *callForm) error {
	if t := p.cur(); p.acceptWords("within", "group") {
		if err := p.withinGroup(f, t); err != nil {
			return err
		}
	}
	if p.isWord("filter") && p.peek(1).isPunct("(") {
		p.at += 2
		if err := p.expectWord("where"); err != nil {
			return err
		}
		f.filter = true
		if err := p.argument(); err != nil {
			return err
		}
		if err := p.expectPunct(")"); err != nil {
			return err
		}
	}
	if !p.acceptWord("over") {
		return nil
	}
	f.window = &windowForm{}
	if p.isPunct("(") {
		return p.windowSpec(f.window)
	}
	id, err := p.columnID()
	f.window.spec = &ast.WindowSpec{Pos: id.Pos, Ref: id.Name}
	return err
}

// withinGroup reads WITHIN GROUP (ORDER BY ...).
func (p *parser) withinGroup(f *callForm, t *token) error {
	switch {
	case len(f.sorts) > 0:
		return errorAt(t, "cannot use multiple ORDER BY clauses with WITHIN GROUP")
	case f.node.Distinct:
		return errorAt(t, "cannot use DISTINCT with WITHIN GROUP")
	case f.node.Variadic:
		return errorAt(t, "cannot use VARIADIC with WITHIN GROUP")
	}
	f.node.WithinGroup = true
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if err := p.expectWords("order", "by"); err != nil {
		return err
	}
	if err := p.sortArguments(&f.sorts); err != nil {
		return err
	}
	return p.expectPunct(")")
}
