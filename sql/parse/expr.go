package parse

import (
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
)

// How tight PostgreSQL's operators bind, loosest first.
const (
	levelOr = iota + 1
	levelAnd
	levelNot
	levelIs
	levelComparison
	levelPredicate // BETWEEN, IN, LIKE, ILIKE, SIMILAR
	levelOperator  // every operator that has no level of its own
	levelAdd
	levelMultiply
	levelPower
	levelAt
	levelCollate
	levelUnary
	levelCast
	levelPrimary
)

// infix returns the level of the operator at the cursor, 0 where there is none.
func (p *parser) infix() int {
	t := p.cur()
	switch t.kind {
	case tokWord:
		return p.infixWord(t)
	case tokOp:
		return operatorLevel(t.text)
	case tokPunct:
		if t.text == "::" {
			return levelCast
		}
	}
	return 0
}

func (p *parser) infixWord(t *token) int {
	switch t.text {
	case "or":
		return levelOr
	case "and":
		return levelAnd
	case "is", "isnull", "notnull":
		return levelIs
	case "between", "in", "like", "ilike":
		return levelPredicate
	case "similar": // SUBSTRING(a SIMILAR b ESCAPE c) has the word as well
		if p.peek(1).isWord("to") {
			return levelPredicate
		}
	case "not":
		if p.peek(1).isWord("between", "in", "like", "ilike", "similar") {
			return levelPredicate
		}
	case "operator":
		if p.peek(1).isPunct("(") {
			return levelOperator
		}
	case "overlaps":
		return levelOperator
	case "at":
		if p.peek(1).isWord("time") {
			return levelAt
		}
	case "collate":
		return levelCollate
	}
	return 0
}

func operatorLevel(op string) int {
	switch op {
	case "=", "<", ">", "<=", ">=", "<>":
		return levelComparison
	case "+", "-":
		return levelAdd
	case "*", "/", "%":
		return levelMultiply
	case "^":
		return levelPower
	}
	return levelOperator
}

// expr rewrites an expression whose operators bind at least as tight as min. It
// returns the level of what it emitted; levelPrimary needs no parentheses anywhere.
func (p *parser) expr(min int) (int, error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.leave()
	mark := p.mark()
	level, err := p.prefix()
	if err != nil {
		return 0, err
	}
	last := 0
	for chain := 0; ; chain++ {
		op := p.infix()
		if op == 0 || op < min {
			return level, nil
		}
		if op == last && (op == levelComparison || op == levelPredicate) {
			return 0, p.errorHere() // a = b = c does not associate
		}
		if chain > maxChain {
			return 0, tooComplex(p.cur(), "too many operators in a row")
		}
		if level, err = p.operation(mark, level, op); err != nil {
			return 0, err
		}
		last = op
	}
}

// parens puts what was emitted since mark in parentheses, unless it needs none.
func (p *parser) parens(mark, level int) {
	if level < levelPrimary {
		p.wrap(mark, "(")
		p.emit(")", p.cur().char)
	}
}

// operand rewrites an operand and puts it in parentheses where it needs them.
func (p *parser) operand(min int) error {
	mark := p.mark()
	level, err := p.expr(min)
	if err != nil {
		return err
	}
	p.parens(mark, level)
	return nil
}

// operation rewrites one operator after a left side that was emitted at mark.
func (p *parser) operation(mark, left, op int) (int, error) {
	switch op {
	case levelOr, levelAnd:
		if left != op {
			p.parens(mark, left)
		}
		t := p.next()
		p.emit(strings.ToUpper(t.text), t.char)
		return op, p.operand(op + 1)
	case levelIs:
		return levelPrimary, p.isTest(mark)
	case levelPredicate:
		return p.predicate(mark, left)
	case levelComparison, levelAdd, levelMultiply:
		return p.sharedOperator(mark, left, op)
	case levelOperator, levelPower:
		if p.isWord("overlaps") {
			return levelPrimary, p.overlaps(mark)
		}
		return levelPrimary, p.foreignOperator(mark, op)
	case levelAt:
		return levelPrimary, p.atTimeZone(mark)
	case levelCollate:
		return levelPrimary, p.collate(mark)
	default:
		return levelPrimary, p.castSuffix(mark)
	}
}

// sharedOperator rewrites a comparison or arithmetic, which TiDB has as well.
func (p *parser) sharedOperator(mark, left, op int) (int, error) {
	t := p.next()
	if p.startsQuantifier() {
		return levelPrimary, p.quantified(mark, ast.Operator{Name: t.text}, t)
	}
	p.parens(mark, left)
	p.emit(t.text, t.char)
	return op, p.operand(op + 1)
}

// foreignOperator rewrites an operator that TiDB does not have, or means otherwise.
func (p *parser) foreignOperator(mark, level int) error {
	t := p.cur()
	op, err := p.operatorName()
	if err != nil {
		return err
	}
	if p.startsQuantifier() {
		return p.quantified(mark, op, t)
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Binary{Pos: ast.Pos(t.char), Op: op, Left: args[0], Right: args[1]}
	}))
	p.emit(",", t.char)
	if _, err := p.expr(level + 1); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// operatorName reads an operator or OPERATOR(schema.op).
func (p *parser) operatorName() (ast.Operator, error) {
	t := p.next()
	if t.kind == tokOp {
		return ast.Operator{Name: t.text}, nil
	}
	var op ast.Operator
	if err := p.expectPunct("("); err != nil {
		return op, err
	}
	if p.cur().isColumnID() {
		op.Schema = p.next().text
		if err := p.expectPunct("."); err != nil {
			return op, err
		}
	}
	if p.cur().kind != tokOp {
		return op, p.errorHere()
	}
	op.Name = p.next().text
	return op, p.expectPunct(")")
}

// prefix rewrites prefix operators and what they apply to.
func (p *parser) prefix() (int, error) {
	t := p.cur()
	switch {
	case t.isWord("not"):
		p.at++
		p.emit("NOT", t.char)
		return levelNot, p.operand(levelNot)
	case t.isOp("-"), t.isOp("+"):
		p.at++
		p.emit(t.text, t.char)
		return levelUnary, p.operand(levelUnary)
	case t.kind == tokOp && operatorLevel(t.text) == levelOperator, t.isWord("operator") && p.peek(1).isPunct("("):
		mark := p.mark()
		op, err := p.operatorName()
		if err != nil {
			return 0, err
		}
		if _, err := p.expr(levelAdd); err != nil {
			return 0, err
		}
		p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
			return &ast.Unary{Pos: ast.Pos(t.char), Op: op, Arg: args[0]}
		}))
		p.closeForm()
		return levelPrimary, nil
	}
	return levelPrimary, p.primary()
}

// castSuffix rewrites ::type.
func (p *parser) castSuffix(mark int) error {
	t := p.next()
	typ, err := p.typeName()
	if err != nil {
		return err
	}
	p.wrapForm(mark, castForm(t, typ))
	p.closeForm()
	return nil
}

func castForm(t *token, typ *ast.TypeName) form {
	return formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Cast{Pos: ast.Pos(t.char), Arg: args[0], Type: typ}
	})
}

// atTimeZone rewrites AT TIME ZONE zone.
func (p *parser) atTimeZone(mark int) error {
	t := p.next()
	if err := p.expectWords("time", "zone"); err != nil {
		return err
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return syntaxCall(t, "timezone", args[1], args[0])
	}))
	p.emit(",", t.char)
	if _, err := p.expr(levelAt + 1); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// collate rewrites COLLATE name.
func (p *parser) collate(mark int) error {
	t := p.next()
	name, err := p.objectName()
	if err != nil {
		return err
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Collate{Pos: ast.Pos(t.char), Arg: args[0], Collation: name}
	}))
	p.closeForm()
	return nil
}

// overlaps rewrites (a, b) OVERLAPS (c, d).
func (p *parser) overlaps(mark int) error {
	t := p.next()
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		left, okLeft := args[0].(*ast.Row)
		right, okRight := args[1].(*ast.Row)
		if !okLeft || len(left.Elems) != 2 {
			panic(decodeFailure{errorAt(t, "wrong number of parameters on left side of OVERLAPS expression")})
		}
		if !okRight || len(right.Elems) != 2 {
			panic(decodeFailure{errorAt(t, "wrong number of parameters on right side of OVERLAPS expression")})
		}
		return syntaxCall(t, "overlaps", left.Elems[0], left.Elems[1], right.Elems[0], right.Elems[1])
	}))
	p.emit(",", t.char)
	if _, err := p.expr(levelOperator + 1); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// syntaxCall is the function call that a special syntax stands for.
func syntaxCall(t *token, name string, args ...ast.Expr) *ast.FuncCall {
	return &ast.FuncCall{
		Pos: ast.Pos(t.char), Name: ast.ObjectName{Pos: ast.Pos(t.char), Name: name},
		Args: args, SQLSyntax: true,
	}
}
