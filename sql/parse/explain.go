package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
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
			if err := p.explainOption(s, o); err != nil {
				return nil, err
			}
		}
	} else {
		s.Analyze = p.acceptWord("analyze", "analyse")
		s.Verbose = p.acceptWord("verbose")
	}
	if !p.isPunct("(") && !p.isWord("select", "with", "values", "table", "insert", "update", "delete", "merge",
		"create", "declare", "execute", "subscribe") {
		return nil, p.errorHere()
	}
	if p.isWord("create") {
		if !p.peek(1).isWord("table", "temporary", "temp", "local", "global", "unlogged", "materialized", "continuous") {
			p.at++ // CREATE of what has no query has no plan
			return nil, p.errorHere()
		}
	}
	var err error
	s.Stmt, err = p.statement()
	return s, err
}

// explainDetails are the options of EXPLAIN that change nothing: what they show or hide
// there is not, or it is shown always.
var explainDetails = map[string]bool{
	"costs": true, "settings": true, "buffers": true, "wal": true, "timing": true, "summary": true, "generic_plan": true,
}

// explainOption sorts an option into the node.
func (p *parser) explainOption(s *ast.Explain, o ast.Option) error {
	if o.Name == "format" && o.Value != nil {
		s.Format = literalText(o.Value)
		return nil
	}
	on, isBool := optionBool(o.Value)
	switch {
	case o.Name != "analyze" && o.Name != "verbose" && !explainDetails[o.Name]:
		return sqlerr.New(sqlerr.SyntaxError, "unrecognized EXPLAIN option %q", o.Name).At(o.Position())
	case !isBool:
		return sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", o.Name)
	case o.Name == "analyze":
		s.Analyze = on
	case o.Name == "verbose":
		s.Verbose = on
	default:
		s.Options = append(s.Options, o)
	}
	return nil
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
