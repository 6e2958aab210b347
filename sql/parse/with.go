package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// cteHead is what TiDB's text does not say about a CTE.
type cteHead = ast.CTE

// withClause rewrites WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ....
func (p *parser) withClause() error {
	p.emit("WITH", p.next().char)
	if p.isWord("recursive") {
		p.emit("RECURSIVE", p.next().char)
	}
	for first := true; first || p.acceptPunct(","); first = false {
		if !first {
			p.emit(",", p.cur().char)
		}
		if err := p.commonTable(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) commonTable() error {
	id, err := p.columnID()
	if err != nil {
		return err
	}
	cte := &cteHead{Pos: id.Pos, Name: id.Name}
	if p.isPunct("(") {
		if cte.Columns, err = p.columnNames(); err != nil {
			return err
		}
	}
	if err := p.expectWord("as"); err != nil {
		return err
	}
	switch {
	case p.acceptWords("not", "materialized"):
		cte.Materialized = ast.NotMaterialized
	case p.acceptWord("materialized"):
		cte.Materialized = ast.Materialized
	}
	p.emit("`"+p.keep(cte)+"` AS (", int32(id.Pos))
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if p.modifies() {
		stmt, err := p.statement()
		if err != nil {
			return err
		}
		cte.Modify = stmt
		p.emit("SELECT 1", int32(id.Pos)) // in the place of a query: nobody reads it
	} else if err := p.query(); err != nil {
		return err
	}
	p.emit(")", p.cur().char)
	if err := p.expectPunct(")"); err != nil {
		return err
	}
	if p.isWord("search", "cycle") {
		return unsupported(p.cur(), "SEARCH and CYCLE in WITH")
	}
	return nil
}
