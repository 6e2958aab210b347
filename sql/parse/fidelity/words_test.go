package fidelity

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
)

// maxDisagreements are the known ones: words such as IN that PostgreSQL takes as a label
// without AS at the very end of a list, and XML functions.
const maxDisagreements = 16

// TestWords uses every word of PostgreSQL's grammar as a column, a label, a table, a
// function, a type, ... and demands that both parsers agree on where it may stand.
func TestWords(t *testing.T) {
	source, err := os.ReadFile("../keywords.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"emit": true, "stream": true, "watermark": true, "select": true, "mod": true, "div": true, "rlike": true, "straight_join": true}
	for _, list := range regexp.MustCompile("(?s)`[^`]*`").FindAllString(string(source), -1) {
		for _, w := range strings.Fields(strings.Trim(list, "`")) {
			seen[w] = true
		}
	}
	forms := []string{
		"SELECT %s FROM t", "SELECT 1 AS %s", "SELECT 1 %s", "SELECT * FROM %s", "SELECT * FROM a %s", "SELECT * FROM a AS %s",
		"SELECT %s(x, y)", "SELECT t.%s", "SELECT %s.a FROM t", "SELECT a::%s", "SELECT %s 'x'", "SELECT a.%s(x)", "SELECT * FROM %s(1)",
		"INSERT INTO t (%s) VALUES (1)", "UPDATE t SET %s = 1", "WITH %s AS (SELECT 1) SELECT 1", "SELECT a ORDER BY %s",
		"SELECT f(%s => 1)", "SELECT x COLLATE %s", "SELECT 1 FROM t WINDOW %s AS ()", "SELECT * FROM a JOIN b USING (%s)", "DELETE FROM t %s",
	}
	var wrong, checks int
	for _, form := range forms {
		for w := range seen {
			checks++
			sql := fmt.Sprintf(form, w)
			want, wantErr := tree(sql)
			list, gotErr := parse.Parse(sql)
			if (wantErr == nil) != (gotErr == nil) {
				wrong++
				t.Logf("%s: PostgreSQL %v, TallyDB %v", sql, wantErr, gotErr)
				continue
			}
			if wantErr != nil {
				continue
			}
			text := ast.String(list[0].Statement)
			got, err := tree(text)
			if err != nil || !cmp.Equal(want, got) {
				t.Errorf("%s became %s: %v", sql, text, err)
			}
		}
	}
	if wrong > maxDisagreements {
		t.Errorf("%d disagreements about words, %d are known", wrong, maxDisagreements)
	}
	t.Logf("%d uses of %d words, %d disagreements", checks, len(seen), wrong)
}
