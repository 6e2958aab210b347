package parse_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// FuzzParse demands that no text makes the parser panic or fail inside, that an error
// points into the text, and that what is accepted survives a round trip.
func FuzzParse(f *testing.F) {
	for _, file := range corpora {
		for _, sql := range corpus(f, file) {
			if len(sql) < 500 {
				f.Add(sql)
			}
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		list, err := parse.Parse(sql)
		if err != nil {
			e := sqlerr.From(err)
			if e.Code == sqlerr.InternalError {
				t.Fatalf("%q: %v", sql, err)
			}
			if e.Position > utf8.RuneCountInString(sql)+1 {
				t.Fatalf("%q: position %d", sql, e.Position)
			}
			return
		}
		for _, p := range list {
			text := ast.String(p.Statement)
			again, err := parse.ParseOne(text)
			if err != nil {
				if sqlerr.CodeOf(err) == sqlerr.StatementTooComplex {
					continue
				}
				t.Fatalf("%q\n%q: %v", sql, text, err)
			}
			if diff := cmp.Diff(p.Statement, again.Statement, sameTree); diff != "" {
				t.Fatalf("%q\n%q\n%s", sql, text, diff)
			}
		}
	})
}
