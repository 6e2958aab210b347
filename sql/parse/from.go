package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// fromList rewrites FROM a, b, ....
func (p *parser) fromList() error { return p.emitList(p.joinedTable) }

// joinedTable rewrites a table and the joins that follow it.
func (p *parser) joinedTable() error {
	mark := p.mark()
	if err := p.tableRef(); err != nil {
		return err
	}
	return p.joins(mark)
}

// joinForm is what TiDB's text does not say about a join. For TiDB every join is
// (left JOIN right ON f(n, condition)).
type joinForm = ast.Join

// joinHead reads NATURAL, the kind of join and JOIN; nil where no join follows.
func (p *parser) joinHead() (*joinForm, error) {
	t := p.cur()
	j := &joinForm{Pos: ast.Pos(t.char), Kind: ast.InnerJoin}
	j.Natural = p.acceptWord("natural")
	switch {
	case !j.Natural && p.acceptWord("cross"):
		j.Kind = ast.CrossJoin
	case p.acceptWord("inner"):
	case p.isWord("left", "right", "full"):
		j.Kind = map[string]ast.JoinKind{"left": ast.LeftJoin, "right": ast.RightJoin, "full": ast.FullJoin}[p.next().text]
		p.acceptWord("outer")
	case p.isWord("join"):
	case j.Natural:
		return nil, p.errorHere()
	default:
		return nil, nil
	}
	return j, p.expectWord("join")
}

// joins rewrites the joins whose left side was emitted at mark.
func (p *parser) joins(mark int) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for chain := 0; ; chain++ {
		j, err := p.joinHead()
		if j == nil || err != nil {
			return err
		}
		if chain > maxDepth {
			return tooComplex(p.cur(), "too many joins")
		}
		p.wrap(mark, "(")
		p.emit("JOIN", int32(j.Pos))
		right := p.mark()
		if err := p.tableRef(); err != nil {
			return err
		}
		qualified := j.Kind != ast.CrossJoin && !j.Natural
		if qualified && !p.isWord("on", "using") {
			// a JOIN b JOIN c ON ... ON ...: the inner join comes first
			if err := p.joins(right); err != nil {
				return err
			}
		}
		p.emit("ON `f`("+p.keep(j), int32(j.Pos))
		if qualified {
			if err := p.joinQualifier(j); err != nil {
				return err
			}
		}
		p.emit("))", p.cur().char)
	}
}

func (p *parser) joinQualifier(j *joinForm) error {
	switch {
	case p.isWord("on"):
		p.emit(",", p.next().char)
		_, err := p.expr(0)
		return err
	case p.acceptWord("using"):
		var err error
		if j.Using, err = p.columnNames(); err == nil && p.isWord("as") {
			return unsupported(p.cur(), "an alias of JOIN USING")
		}
		return err
	}
	return p.errorHere()
}

// derivedForm is a FROM item that TiDB sees as a subquery: exactly one of its nodes
// is set, with everything but what the subquery holds.
type derivedForm struct {
	subquery *ast.SubqueryRef
	function *ast.FuncRef
	join     *ast.Alias // of a parenthesised join
}

// tableRef rewrites one table, subquery, function or parenthesised join.
func (p *parser) tableRef() error {
	t := p.cur()
	lateral := p.acceptWord("lateral")
	switch {
	case p.isPunct("(") && p.startsQuery(1):
		return p.fromSubquery(t, lateral)
	case p.isPunct("(") && !lateral:
		return p.parenJoin()
	case p.isWords("rows", "from") && p.peek(2).isPunct("("):
		return unsupported(p.cur(), "ROWS FROM")
	case p.startsFromFunction():
		return p.fromFunction(t, lateral)
	case lateral:
		p.at += p.dottedLength() // PostgreSQL expected the parenthesis of a call
		return p.errorHere()
	}
	return p.fromTable()
}

func (p *parser) fromSubquery(t *token, lateral bool) error {
	p.at++
	p.emit("(", t.char)
	if err := p.query(); err != nil {
		return err
	}
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	alias, err := p.alias()
	if err != nil {
		return err
	}
	f := &derivedForm{subquery: &ast.SubqueryRef{Pos: ast.Pos(t.char), Lateral: lateral, Alias: alias}}
	p.emit(") AS `"+p.keep(f)+"`", t.char)
	return nil
}

// parenJoin rewrites ( a JOIN b ... ) [alias].
func (p *parser) parenJoin() error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	t := p.next()
	mark := p.mark()
	if err := p.joinedTable(); err != nil {
		return err
	}
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	alias, err := p.alias()
	if err != nil || alias == nil {
		return err
	}
	p.wrap(mark, "(SELECT 0 FROM ")
	p.emit(") AS `"+p.keep(&derivedForm{join: alias})+"`", t.char)
	return nil
}

// startsFromFunction tells a function call from a table.
func (p *parser) startsFromFunction() bool {
	n := p.dottedLength()
	if n == 1 && p.cur().kind == tokWord && sqlValueWords[p.cur().text] {
		return true
	}
	if n > 0 && p.peek(n).isPunct("(") && !p.isWord("grouping") {
		return n > 1 || p.cur().kind == tokQuoted || p.cur().class() != reserved
	}
	return false
}

func (p *parser) fromFunction(t *token, lateral bool) error {
	p.emit("(SELECT", t.char)
	if _, err := p.expr(levelPrimary); err != nil {
		return err
	}
	ref := &ast.FuncRef{Pos: ast.Pos(t.char), Lateral: lateral}
	ref.Ordinality = p.acceptWords("with", "ordinality")
	var err error
	if ref.Alias, err = p.aliasOf(true); err != nil {
		return err
	}
	p.emit(") AS `"+p.keep(&derivedForm{function: ref})+"`", t.char)
	return nil
}

func (p *parser) fromTable() error {
	ref := &ast.TableRef{Pos: p.pos()}
	if err := p.tableName(ref); err != nil {
		return err
	}
	if p.isWord("tablesample") {
		return unsupported(p.cur(), "TABLESAMPLE")
	}
	p.emit("`"+p.keep(ref)+"`", int32(ref.Pos))
	return nil
}

// tableName reads [ONLY] name [*] [alias].
func (p *parser) tableName(ref *ast.TableRef) (err error) {
	ref.Only = p.acceptWord("only")
	parens := ref.Only && p.acceptPunct("(")
	if ref.Name, err = p.objectName(); err != nil {
		return err
	}
	ref.Pos = ref.Name.Pos
	if parens {
		if err := p.expectPunct(")"); err != nil {
			return err
		}
	} else if !ref.Only && p.isOp("*") {
		p.at++
	}
	ref.Alias, err = p.alias()
	return err
}

// alias reads [AS] name [(columns)] or AS (column definitions); nil where none follows.
func (p *parser) alias() (*ast.Alias, error) {
	return p.aliasOf(false)
}

// aliasOf reads an alias. Only a function may have types in its list of columns, and
// then all of them have one.
func (p *parser) aliasOf(function bool) (*ast.Alias, error) {
	a := &ast.Alias{Pos: p.pos()}
	switch t := p.cur(); {
	case t.isWord("as"):
		p.at++
		if !function || !p.isPunct("(") {
			id, err := p.columnID()
			if err != nil {
				return nil, err
			}
			a.Name, a.Pos = id.Name, id.Pos
		}
	case t.isColumnID() && !p.startsEmit():
		p.at++
		a.Name = t.text
	default:
		return nil, nil
	}
	if !p.isPunct("(") {
		return a, nil
	}
	typed := function && a.Name == ""
	return a, p.parenList(func() error {
		id, err := p.columnID()
		if err != nil {
			return err
		}
		if function && a.Columns == nil && !p.isPunct(",") && !p.isPunct(")") {
			typed = true
		}
		column := ast.ColumnAlias{Name: id.Name}
		if typed {
			if column.Type, err = p.typeName(); err != nil {
				return err
			}
		}
		a.Columns = append(a.Columns, column)
		return nil
	})
}
