package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// showLists are the SHOW statements of our own that list objects.
var showLists = map[string]ast.ShowKind{
	"streams": ast.ShowStreams, "views": ast.ShowViews, "tables": ast.ShowTables, "sinks": ast.ShowSinks,
}

// show parses SHOW.
func (p *parser) show(t *token) (ast.Statement, error) {
	s := &ast.Show{Pos: ast.Pos(t.char)}
	kind, isList := showLists[p.cur().text]
	switch {
	case isList && p.cur().kind == tokWord && !p.peek(1).isPunct("."):
		p.at++
		s.Kind = kind
		return s, nil
	case p.isWords("continuous", "views"):
		p.at += 2
		s.Kind = ast.ShowViews
		return s, nil
	case p.isWords("guarantees", "for"), p.isWords("partitions", "for"):
		s.Kind = ast.ShowGuarantees
		if p.isWord("partitions") {
			s.Kind = ast.ShowPartitions
		}
		p.at += 2
		name, err := p.objectName()
		s.For = &name
		return s, err
	}
	name, err := p.settingName()
	s.Kind, s.Setting = ast.ShowSetting, name
	if name == "all" {
		s.Kind, s.Setting = ast.ShowAll, ""
	}
	return s, err
}
