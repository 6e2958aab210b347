package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// keywordFunctions look like calls but are part of the grammar.
var keywordFunctions = map[string]bool{
	"coalesce": true, "nullif": true, "greatest": true, "least": true, "grouping": true,
}

// precisionWords are the sqlValueWords that may have a precision.
var precisionWords = map[string]bool{
	"current_time": true, "current_timestamp": true, "localtime": true, "localtimestamp": true,
}

// sqlValueWords are functions without parentheses.
var sqlValueWords = map[string]bool{
	"current_date": true, "current_time": true, "current_timestamp": true, "localtime": true,
	"localtimestamp": true, "current_role": true, "current_user": true, "session_user": true,
	"user": true, "current_catalog": true, "current_schema": true,
}

// keywordExpr rewrites an expression that starts with a keyword; false if none does.
func (p *parser) keywordExpr(t *token) (bool, error) {
	paren := p.peek(1).isPunct("(")
	switch t.text {
	case "null":
		p.at++
		p.leaf(&ast.Literal{Pos: ast.Pos(t.char), Kind: ast.NullLiteral})
	case "true", "false":
		p.at++
		p.leaf(&ast.Literal{Pos: ast.Pos(t.char), Kind: ast.BoolLiteral, Text: t.text})
	case "default":
		p.at++
		p.leaf(&ast.Default{Pos: ast.Pos(t.char)})
	case "case":
		return true, p.caseExpr()
	case "array":
		return true, p.arrayExpr()
	case "exists", "cast", "row", "extract", "position", "substring", "overlay", "trim":
		if !paren {
			return false, nil
		}
		return true, p.specialCall(t)
	case "xmlelement", "xmlforest", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmlconcat", "xmlexists", "normalize", "treat":
		if paren {
			return true, unsupported(t, t.text+"()")
		}
		return false, nil
	default:
		if !sqlValueWords[t.text] || t.class() == typeFuncName && paren {
			return false, nil
		}
		return true, p.sqlValue(t)
	}
	return true, nil
}

// sqlValue rewrites current_timestamp(3) and its relatives.
func (p *parser) sqlValue(t *token) error {
	p.at++
	call := syntaxCall(t, t.text)
	if precisionWords[t.text] && p.isPunct("(") && p.peek(1).kind == tokInteger {
		p.at++
		call.Args = []ast.Expr{p.literal()}
		if err := p.expectPunct(")"); err != nil {
			return err
		}
	}
	p.leaf(call)
	return nil
}

// caseExpr rewrites CASE, which TiDB has as well.
func (p *parser) caseExpr() error {
	p.emit("CASE", p.next().char)
	if !p.isWord("when") {
		if err := p.operand(0); err != nil {
			return err
		}
	}
	if !p.isWord("when") {
		return p.errorHere()
	}
	for p.isWord("when") {
		p.emit("WHEN", p.next().char)
		if err := p.operand(0); err != nil {
			return err
		}
		p.emit("THEN", p.cur().char)
		if err := p.expectWord("then"); err != nil {
			return err
		}
		if err := p.operand(0); err != nil {
			return err
		}
	}
	if p.isWord("else") {
		p.emit("ELSE", p.next().char)
		if err := p.operand(0); err != nil {
			return err
		}
	}
	p.emit("END", p.cur().char)
	return p.expectWord("end")
}

// arrayExpr rewrites ARRAY[...] and ARRAY(query).
func (p *parser) arrayExpr() error {
	t := p.next()
	if !p.isPunct("(") {
		return p.arrayElements(t)
	}
	if !p.startsQuery(1) {
		p.at++
		return p.errorHere()
	}
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		sub := args[0].(*ast.Subquery)
		return &ast.Subquery{Pos: ast.Pos(t.char), Kind: ast.ArraySubquery, Query: sub.Query}
	}), t.char)
	p.emit(",", t.char)
	if err := p.parenthesised(true); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// arrayElements rewrites [a, b] and [[a], [b]].
func (p *parser) arrayElements(t *token) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Array{Pos: ast.Pos(t.char), Elems: args}
	}), t.char)
	if err := p.expectPunct("["); err != nil {
		return err
	}
	if !p.isPunct("]") {
		err := p.commaList(func() error {
			if p.isPunct("[") {
				p.emit(",", p.cur().char)
				return p.arrayElements(p.cur())
			}
			return p.argument()
		})
		if err != nil {
			return err
		}
	}
	p.closeForm()
	return p.expectPunct("]")
}

// specialCall rewrites the calls that have a syntax of their own. The cursor is at
// the name and a parenthesis follows.
func (p *parser) specialCall(t *token) error {
	p.at++
	switch t.text {
	case "exists":
		p.emit("EXISTS", t.char)
		return p.parenthesised(true)
	case "row":
		return p.rowExpr(t)
	}
	p.at++
	var err error
	switch t.text {
	case "cast":
		err = p.castCall(t)
	case "extract":
		err = p.extractCall(t)
	case "position":
		err = p.positionCall(t)
	case "trim":
		err = p.trimCall(t)
	default:
		err = p.substringCall(t)
	}
	if err != nil {
		return err
	}
	p.closeForm()
	return p.expectPunct(")")
}

func (p *parser) rowExpr(t *token) error {
	p.at++
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Row{Pos: ast.Pos(t.char), Elems: args, Explicit: true}
	}), t.char)
	if !p.isPunct(")") {
		if err := p.commaList(p.argument); err != nil {
			return err
		}
	}
	p.closeForm()
	return p.expectPunct(")")
}

func (p *parser) castCall(t *token) error {
	mark := p.mark()
	if _, err := p.expr(0); err != nil {
		return err
	}
	if err := p.expectWord("as"); err != nil {
		return err
	}
	typ, err := p.typeName()
	if err != nil {
		return err
	}
	p.wrapForm(mark, castForm(t, typ))
	return nil
}

// extractCall rewrites EXTRACT(field FROM x).
func (p *parser) extractCall(t *token) error {
	f := p.cur()
	if !f.isName() && f.kind != tokString {
		return p.errorHere()
	}
	p.at++
	field := &ast.Literal{Pos: ast.Pos(f.char), Kind: ast.StringLiteral, Text: f.text}
	if err := p.expectWord("from"); err != nil {
		return err
	}
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		return syntaxCall(t, "extract", field, args[0])
	}), t.char)
	return p.argument()
}

// positionCall rewrites POSITION(substring IN string), which is position(string, substring).
func (p *parser) positionCall(t *token) error {
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		return syntaxCall(t, "position", args[1], args[0])
	}), t.char)
	p.emit(",", t.char)
	if _, err := p.expr(levelPredicate + 1); err != nil {
		return err
	}
	p.emit(",", p.cur().char)
	if err := p.expectWord("in"); err != nil {
		return err
	}
	_, err := p.expr(levelPredicate + 1)
	return err
}

var trimFunctions = map[string]string{"both": "btrim", "leading": "ltrim", "trailing": "rtrim"}

// trimCall rewrites TRIM([side] [chars] [FROM] string), which is btrim(string, chars).
func (p *parser) trimCall(t *token) error {
	side := "both"
	if p.isWord("both", "leading", "trailing") {
		side = p.next().text
	}
	swap := false
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		if swap {
			args = append(args[1:len(args):len(args)], args[0])
		}
		return syntaxCall(t, trimFunctions[side], args...)
	}), t.char)
	if !p.acceptWord("from") {
		if err := p.argument(); err != nil {
			return err
		}
		if p.acceptWord("from") {
			swap = true
		} else if !p.acceptPunct(",") {
			return nil
		}
	}
	return p.commaList(p.argument)
}

// substringCall rewrites SUBSTRING and OVERLAY, with keywords or with commas.
func (p *parser) substringCall(t *token) error {
	call := &ast.FuncCall{Pos: ast.Pos(t.char), Name: ast.ObjectName{Pos: ast.Pos(t.char), Name: t.text}}
	var keywords []string
	p.openForm(formFunc(func(args []ast.Expr) ast.Expr {
		call.Args = substringArgs(t, keywords, args)
		call.SQLSyntax = keywords != nil
		return call
	}), t.char)
	if p.isPunct(")") {
		return nil
	}
	if err := p.argument(); err != nil {
		return err
	}
	for p.isWord("from", "for", "similar", "escape", "placing") {
		if n := len(keywords); n > 0 && keywords[n-1] == "placing" && !p.isWord("from") {
			return p.errorHere()
		}
		keywords = append(keywords, p.next().text)
		if err := p.argument(); err != nil {
			return err
		}
	}
	if n := len(keywords); n > 0 && keywords[n-1] == "placing" {
		return p.errorHere() // FROM is missing
	}
	if keywords == nil && p.acceptPunct(",") {
		return p.commaList(p.argument)
	}
	return nil
}

// substringArgs brings the arguments into the function's order.
func substringArgs(t *token, keywords []string, args []ast.Expr) []ast.Expr {
	if len(keywords) == 0 || keywords[0] != "for" {
		return args
	}
	if len(keywords) > 1 { // FOR n FROM m
		return []ast.Expr{args[0], args[2], args[1]}
	}
	one := &ast.Literal{Pos: ast.Pos(t.char), Kind: ast.IntegerLiteral, Text: "1"}
	int4 := &ast.TypeName{Name: ast.ObjectName{Schema: "pg_catalog", Name: "int4"}}
	return []ast.Expr{args[0], one, &ast.Cast{Pos: ast.Pos(t.char), Arg: args[1], Type: int4}}
}
