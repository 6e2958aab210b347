package pgcatalog

import (
	_ "embed" // PostgreSQL's words are data
	"strings"
)

// The file has a keyword a line: the word, its category, and whether it may be a
// column's label without AS.
//
//go:embed schema/keywords.txt
var keywordsText string

func fillKeywords(w *writer) {
	w.columns("word catcode catdesc barelabel baredesc")
	categories := map[string]string{
		"U": "unreserved", "C": "unreserved (cannot be function or type name)",
		"T": "reserved (can be function or type name)", "R": "reserved",
	}
	for line := range strings.Lines(keywordsText) {
		f := strings.Fields(line)
		bare, about := f[2] == "t", "requires AS"
		if bare {
			about = "can be bare label"
		}
		w.add(f[0], f[1], categories[f[1]], bare, about)
	}
}
