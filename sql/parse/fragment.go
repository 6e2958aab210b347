package parse

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// fragment runs rewrite with an output of its own and returns that output.
func (p *parser) fragment(rewrite func() error) (output, error) {
	saved := p.out
	p.out = output{}
	err := rewrite()
	out := p.out
	p.out = saved
	return out, err
}

// parseExpr parses an expression whose operators bind at least as tight as min.
func (p *parser) parseExpr(min int) (ast.Expr, error) {
	first := p.cur()
	out, err := p.fragment(func() error {
		_, err := p.expr(min)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.decodeExpr(&out, first)
}

// decodeExpr hands an expression to TiDB's grammar, unless it is a lone leaf.
func (p *parser) decodeExpr(out *output, first *token) (ast.Expr, error) {
	if len(out.pieces) == 1 && out.pieces[0].prefix == 0 {
		if i, err := strconv.Atoi(out.pieces[0].text); err == nil {
			if e, ok := p.side[i].(ast.Expr); ok {
				return e, nil
			}
		}
	}
	head := output{pieces: append([]piece{{text: "SELECT", char: first.char}}, out.pieces...), prefixes: out.prefixes}
	r, err := p.render(&head)
	if err != nil {
		return nil, err
	}
	var e ast.Expr
	err = p.grammar(r, func(d *decoder, stmt grammarNode) { e = d.soleField(stmt) })
	return e, err
}

// parseQuery parses a SELECT, VALUES, TABLE or WITH query, up to where it ends.
func (p *parser) parseQuery() (*ast.Select, error) {
	out, err := p.fragment(p.query)
	if err != nil {
		return nil, err
	}
	r, err := p.render(&out)
	if err != nil {
		return nil, err
	}
	var q *ast.Select
	err = p.grammar(r, func(d *decoder, stmt grammarNode) { q = d.query(stmt) })
	return q, err
}

// parseQuerySource is parseQuery that also returns the query's text.
func (p *parser) parseQuerySource() (*ast.Select, string, error) {
	start := p.cur().start
	q, err := p.parseQuery()
	if err != nil {
		return nil, "", err
	}
	return q, p.src[start:p.tokens[p.at-1].end], nil
}

// render finishes a text, within the bound on its size.
func (p *parser) render(out *output) (*rendered, error) {
	if len(out.pieces) > maxTokens {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "statement too complex").
			WithDetail("An expression list has more than %d elements.", maxTokens).
			WithHint("Send the rows with COPY.")
	}
	if out.height() > maxHeight {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "statement too complex").
			WithDetail("Expressions nest deeper than %d levels.", maxHeight)
	}
	return out.render(), nil
}

// parseFrom parses what follows FROM or USING: a list of tables and joins.
func (p *parser) parseFrom() ([]ast.FromItem, error) { return p.parseItems(p.fromList) }

// parseItems parses what rewrite reads of a FROM.
func (p *parser) parseItems(rewrite func() error) ([]ast.FromItem, error) {
	first := p.cur()
	out, err := p.fragment(func() error {
		p.emit("SELECT 0 FROM", first.char)
		return rewrite()
	})
	if err != nil {
		return nil, err
	}
	r, err := p.render(&out)
	if err != nil {
		return nil, err
	}
	var items []ast.FromItem
	err = p.grammar(r, func(d *decoder, stmt grammarNode) { items = d.soleFrom(stmt) })
	return items, err
}

// parseTargets parses a RETURNING list.
func (p *parser) parseTargets() ([]ast.Target, error) {
	first := p.cur()
	out, err := p.fragment(func() error {
		p.emit("SELECT", first.char)
		return p.targetList()
	})
	if err != nil {
		return nil, err
	}
	r, err := p.render(&out)
	if err != nil {
		return nil, err
	}
	var targets []ast.Target
	err = p.grammar(r, func(d *decoder, stmt grammarNode) { targets = d.soleTargets(stmt) })
	return targets, err
}

// exprList parses expressions separated by commas, each by itself.
func (p *parser) parseExprList() ([]ast.Expr, error) {
	var list []ast.Expr
	err := p.commaList(func() error {
		e, err := p.parseExpr(0)
		list = append(list, e)
		return err
	})
	return list, err
}
