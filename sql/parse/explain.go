package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// explain parses EXPLAIN [ANALYZE] [VERBOSE] statement and EXPLAIN (options) statement.
func (p *parser) explain(t *token) (ast.Statement, error) {
	s := &ast.Explain{Pos: ast.Pos(t.char)}
	if p.isPunct("(") && !p.startsQuery(0) {
		options, err := p.optionList()
		if err != nil {
			return nil, err
		}
		for _, o := range options {
			explainOption(s, o)
		}
	} else {
		s.Analyze = p.acceptWord("analyze", "analyse")
		s.Verbose = p.acceptWord("verbose")
	}
	if !p.isPunct("(") && !p.isWord("select", "with", "values", "table", "insert", "update", "delete",
		"create", "declare", "execute", "subscribe") {
		return nil, p.errorHere()
	}
	var err error
	s.Stmt, err = p.statement()
	return s, err
}

// explainOption sorts an option into the node. A value that is no truth value stays an
// option, for the binder to refuse by name.
func explainOption(s *ast.Explain, o ast.Option) {
	on, isBool := optionBool(o.Value)
	switch {
	case o.Name == "analyze" && isBool:
		s.Analyze = on
	case o.Name == "verbose" && isBool:
		s.Verbose = on
	case o.Name == "format" && o.Value != nil:
		s.Format = literalText(o.Value)
	default:
		s.Options = append(s.Options, o)
	}
}

// optionBool reads a truth value; no value means true.
func optionBool(e ast.Expr) (on, ok bool) {
	if e == nil {
		return true, true
	}
	switch literalText(e) {
	case "true", "on", "1", "yes":
		return true, true
	case "false", "off", "0", "no":
		return false, true
	}
	return false, false
}
