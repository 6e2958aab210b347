package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// isTest rewrites IS [NOT] NULL|TRUE|FALSE|UNKNOWN|DISTINCT FROM, ISNULL and NOTNULL.
func (p *parser) isTest(mark int) error {
	t := p.next()
	test := &ast.IsTest{Pos: ast.Pos(t.char), Test: ast.IsNull, Not: t.text == "notnull"}
	if t.text == "is" {
		test.Not = p.acceptWord("not")
		switch what := p.next(); {
		case what.isWord("null"):
		case what.isWord("true"):
			test.Test = ast.IsTrue
		case what.isWord("false"):
			test.Test = ast.IsFalse
		case what.isWord("unknown"):
			test.Test = ast.IsUnknown
		case what.isWord("distinct"):
			return p.isDistinct(mark, t, test.Not)
		case what.isWord("json", "document", "normalized", "nfc", "nfd", "nfkc", "nfkd"):
			return unsupported(what, "this IS test")
		default:
			return syntaxError(p.src, what)
		}
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		test.Arg = args[0]
		return test
	}))
	p.closeForm()
	return nil
}

func (p *parser) isDistinct(mark int, t *token, not bool) error {
	if err := p.expectWord("from"); err != nil {
		return err
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.IsDistinct{Pos: ast.Pos(t.char), Left: args[0], Right: args[1], Not: not}
	}))
	p.emit(",", t.char)
	if _, err := p.expr(levelIs + 1); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// predicate rewrites [NOT] IN, BETWEEN, LIKE, ILIKE and SIMILAR TO.
func (p *parser) predicate(mark, left int) (int, error) {
	t := p.cur() // errors point at NOT, as PostgreSQL's do
	not := p.acceptWord("not")
	switch word := p.next(); word.text {
	case "in":
		return levelPredicate, p.in(mark, left, t, not)
	case "between":
		return levelPrimary, p.between(mark, t, not)
	case "like":
		return levelPrimary, p.patternMatch(mark, t, ast.Like, not)
	case "ilike":
		return levelPrimary, p.patternMatch(mark, t, ast.ILike, not)
	default:
		if err := p.expectWord("to"); err != nil {
			return 0, err
		}
		return levelPrimary, p.patternMatch(mark, t, ast.SimilarTo, not)
	}
}

// in rewrites IN, which TiDB has as well.
func (p *parser) in(mark, left int, t *token, not bool) error {
	p.parens(mark, left)
	keyword := "IN"
	if not {
		keyword = "NOT IN"
	}
	if p.isPunct("(") && p.startsQuery(1) {
		p.emit(keyword, t.char)
		p.emit("(", p.next().char)
		if err := p.query(); err != nil {
			return err
		}
		p.emit(")", p.cur().char)
		return p.expectPunct(")")
	}
	p.emit(keyword+" (", t.char)
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if err := p.exprList(); err != nil {
		return err
	}
	p.emit(")", p.cur().char)
	return p.expectPunct(")")
}

// between rewrites BETWEEN [SYMMETRIC] low AND high.
func (p *parser) between(mark int, t *token, not bool) error {
	symmetric := p.acceptWord("symmetric")
	if !symmetric {
		p.acceptWord("asymmetric")
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		return &ast.Between{Pos: ast.Pos(t.char), Arg: args[0], Low: args[1], High: args[2], Not: not, Symmetric: symmetric}
	}))
	p.emit(",", t.char)
	if _, err := p.expr(levelPredicate + 1); err != nil {
		return err
	}
	p.emit(",", p.cur().char)
	if err := p.expectWord("and"); err != nil {
		return err
	}
	if _, err := p.expr(levelPredicate + 1); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// likeOperators are the operators behind LIKE and ILIKE, as LIKE ANY names them.
var likeOperators = map[ast.LikeKind]string{ast.Like: "~~", ast.ILike: "~~*"}

// patternMatch rewrites LIKE pattern [ESCAPE escape] and its relatives.
func (p *parser) patternMatch(mark int, t *token, kind ast.LikeKind, not bool) error {
	if p.startsQuantifier() {
		op, ok := likeOperators[kind]
		if !ok {
			return unsupported(t, "SIMILAR TO ANY")
		}
		if not {
			op = "!" + op
		}
		return p.quantified(mark, ast.Operator{Name: op}, t)
	}
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		m := &ast.PatternMatch{Pos: ast.Pos(t.char), Kind: kind, Arg: args[0], Pattern: args[1], Not: not}
		if len(args) > 2 {
			m.Escape = args[2]
		}
		return m
	}))
	p.emit(",", t.char)
	if _, err := p.expr(levelPredicate + 1); err != nil {
		return err
	}
	if p.isWord("escape") {
		p.emit(",", p.next().char)
		if _, err := p.expr(levelPredicate + 1); err != nil {
			return err
		}
	}
	p.closeForm()
	return nil
}

// startsQuantifier tells whether ANY, SOME or ALL comes next.
func (p *parser) startsQuantifier() bool {
	return p.isWord("any", "some", "all") && p.peek(1).isPunct("(")
}

// quantified rewrites left op ANY|ALL (array) or (query).
func (p *parser) quantified(mark int, op ast.Operator, t *token) error {
	all := p.next().text == "all"
	isQuery := p.startsQuery(1)
	p.wrapForm(mark, formFunc(func(args []ast.Expr) ast.Expr {
		q := &ast.Quantified{Pos: ast.Pos(t.char), Op: op, All: all, Left: args[0]}
		if sub, ok := args[1].(*ast.Subquery); ok && isQuery {
			q.Query = sub.Query
		} else {
			q.Array = args[1]
		}
		return q
	}))
	p.emit(",", t.char)
	if err := p.parenthesised(isQuery); err != nil {
		return err
	}
	p.closeForm()
	return nil
}

// parenthesised rewrites (query) or (expression).
func (p *parser) parenthesised(isQuery bool) error {
	p.emit("(", p.cur().char)
	if err := p.expectPunct("("); err != nil {
		return err
	}
	var err error
	if isQuery {
		err = p.query()
	} else {
		_, err = p.expr(0)
	}
	if err != nil {
		return err
	}
	p.emit(")", p.cur().char)
	return p.expectPunct(")")
}
