package server_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/sql/parse"
)

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestDocumentationRuns runs every SQL block of the documentation, one file on
// one server. A statement followed by "-- error: CODE" has to fail with it.
func TestDocumentationRuns(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../README.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := servertest.Start(t, servertest.Options{})
			conn := s.Connect().PgConn()
			ran := 0
			for _, block := range sqlBlock.FindAllStringSubmatch(string(text), -1) {
				ran += runBlock(t, conn, block[1])
			}
			if strings.Contains(string(text), "CREATE STREAM") && ran == 0 {
				t.Error("no statement was run")
			}
		})
	}
}

// runBlock runs the statements of a block and returns how many there were.
func runBlock(t *testing.T, conn *pgconn.PgConn, block string) int {
	t.Helper()
	statements, err := parse.Parse(block)
	if err != nil {
		t.Errorf("%v in\n%s", err, block)
		return 0
	}
	for i, p := range statements {
		end := len(block)
		if i+1 < len(statements) {
			end = statements[i+1].Start
		}
		after := block[min(p.Start+len(p.SQL), end):end]
		want := ""
		if _, code, ok := strings.Cut(after, "-- error: "); ok {
			want, _, _ = strings.Cut(strings.TrimSpace(code), "\n")
		}
		_, err := conn.Exec(context.Background(), p.SQL).ReadAll()
		got := ""
		if e, ok := err.(*pgconn.PgError); ok { //nolint:errorlint // ReadAll returns it as it is
			got = e.Code
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s\nfailed with %q (%v), want %q", p.SQL, got, err, want)
		}
	}
	return len(statements)
}
