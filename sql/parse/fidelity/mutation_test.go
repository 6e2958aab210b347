package fidelity

import (
	"errors"
	"math/rand"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	pgparser "github.com/wasilibs/go-pgquery/parser"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// pieces cuts a statement roughly into tokens; the cuts need not be exact.
var pieces = regexp.MustCompile(`'[^']*'|"[^"]*"|\$?\w+|::|[^\s\w]|\s+`)

// mutate deletes, doubles or replaces one piece.
func mutate(random *rand.Rand, sql string) string {
	cut := pieces.FindAllStringIndex(sql, -1)
	a, b := cut[random.Intn(len(cut))], cut[random.Intn(len(cut))]
	switch random.Intn(3) {
	case 0:
		return sql[:a[0]] + sql[a[1]:]
	case 1:
		return sql[:a[1]] + " " + sql[a[0]:]
	}
	return sql[:a[0]] + " " + sql[b[0]:b[1]] + " " + sql[a[1]:]
}

// comparable tells the statements whose tree must be PostgreSQL's in every detail. The
// others drop what has no meaning, such as NULL behind a column's type.
func comparable(s ast.Statement) bool {
	switch s.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete:
		return true
	}
	return false
}

// TestMutations changes statements at random. Where both parsers accept the result the
// trees must be equal; how often they agree to reject is reported, and bounded.
func TestMutations(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var both, neither, samePosition, onlyPostgres, onlyTally, differ int
	list := append(load(t, "../testdata/statements.sql"), load(t, "testdata/clauses.sql")...)
	for _, s := range list {
		if len(s.sql) > 1500 {
			continue
		}
		for range 8 {
			sql := mutate(random, s.sql)
			want, wantErr := tree(sql)
			parsed, gotErr := parse.Parse(sql)
			switch {
			case wantErr == nil && gotErr == nil:
				both++
				if len(parsed) != 1 || !comparable(parsed[0].Statement) {
					continue
				}
				text := ast.String(parsed[0].Statement)
				got, err := tree(text)
				if err != nil || !cmp.Equal(want, got) {
					differ++
					t.Logf("DIFFER %s\n    %s\n    %v", sql, text, err)
				}
			case wantErr != nil && gotErr != nil:
				neither++
				var pg *pgparser.Error
				if errors.As(wantErr, &pg) && pg.Cursorpos == sqlerr.From(gotErr).Position {
					samePosition++
				}
			case wantErr == nil:
				if sqlerr.CodeOf(gotErr) != sqlerr.FeatureNotSupported {
					onlyPostgres++
					t.Logf("ONLY POSTGRESQL %s\n    %v", sql, gotErr)
				}
			default:
				onlyTally++
				t.Logf("ONLY TALLYDB %s\n    %v", sql, wantErr)
			}
		}
	}
	t.Logf("both accept %d (trees differ %d), both reject %d (same position %d), only PostgreSQL %d, only TallyDB %d",
		both, differ, neither, samePosition, onlyPostgres, onlyTally)
	if differ > 0 {
		t.Errorf("%d trees differ", differ)
	}
}
