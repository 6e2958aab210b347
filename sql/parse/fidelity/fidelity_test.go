package fidelity

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pgquery "github.com/wasilibs/go-pgquery"
	pgparser "github.com/wasilibs/go-pgquery/parser"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

type statement struct{ name, sql string }

// load reads a file of statements, each behind a line "-- @ name".
func load(t *testing.T, path string) []statement {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []statement
	for _, part := range strings.Split("\n"+string(data), "\n-- @ ")[1:] {
		name, sql, _ := strings.Cut(part, "\n")
		list = append(list, statement{name, strings.TrimSpace(sql)})
	}
	return list
}

// tree returns PostgreSQL's parse tree, normalised.
func tree(sql string) (any, error) {
	text, err := pgquery.ParseToJSON(sql)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return normalize(v), nil
}

func TestFidelity(t *testing.T) {
	for _, file := range []string{"../testdata/statements.sql", "testdata/clauses.sql"} {
		same, own, total := 0, 0, 0
		for _, s := range load(t, file) {
			total++
			want, err := tree(s.sql)
			if err != nil {
				own++ // TallyDB's own statement
				if _, err := parse.Parse(s.sql); err != nil {
					t.Errorf("%s: neither PostgreSQL nor TallyDB parses it: %v\n%s", s.name, err, s.sql)
				}
				continue
			}
			list, err := parse.Parse(s.sql)
			if err != nil || len(list) != 1 {
				t.Errorf("%s: %v\n%s", s.name, err, s.sql)
				continue
			}
			text := ast.String(list[0].Statement)
			got, err := tree(text)
			if err != nil {
				t.Errorf("%s: PostgreSQL does not read the text back: %v\n%s", s.name, err, text)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the trees differ\nsource: %s\ntext:   %s\n%s", s.name, s.sql, text, diff)
				continue
			}
			same++
		}
		t.Logf("%s: %d statements, %d with PostgreSQL's tree, %d TallyDB's own", file, total, same, own)
	}
}

// TestErrors demands that both reject, and PostgreSQL's position.
func TestErrors(t *testing.T) {
	list := load(t, "testdata/errors.sql")
	for _, s := range list {
		_, err := pgquery.ParseToJSON(s.sql)
		var want *pgparser.Error
		if !errors.As(err, &want) {
			t.Errorf("%s: PostgreSQL accepts it: %v\n%s", s.name, err, s.sql)
			continue
		}
		_, err = parse.Parse(s.sql)
		var got *sqlerr.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: not rejected\n%s", s.name, s.sql)
			continue
		}
		if got.Position != want.Cursorpos || got.Message != want.Message {
			t.Errorf("%s: position %d %q, PostgreSQL says %d %q\n%s", s.name, got.Position, got.Message, want.Cursorpos, want.Message, s.sql)
		}
	}
	t.Logf("%d errors with PostgreSQL's text and position", len(list))
}
