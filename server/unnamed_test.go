package server_test

import (
	"fmt"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestUnnamedStatementsAreParsedAnew: a text that is parsed again is another statement, with
// the columns that there are now, however its tables changed since; also in a transaction.
func TestUnnamedStatementsAreParsedAnew(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect().PgConn()
	ask := func(sql, arg string) string {
		t.Helper()
		reader := c.ExecParams(t.Context(), sql, [][]byte{[]byte(arg)}, nil, nil, nil)
		r := reader.Read()
		if r.Err != nil {
			return servertest.Code(r.Err)
		}
		columns := reader.FieldDescriptions()
		return fmt.Sprintf("%d columns, %d rows, %d", len(columns), len(r.Rows), columns[0].DataTypeOID)
	}
	do := func(sql string) {
		t.Helper()
		if r := c.ExecParams(t.Context(), sql, nil, nil, nil, nil).Read(); r.Err != nil {
			t.Fatalf("%s: %v", sql, r.Err)
		}
	}
	const query = "SELECT * FROM u WHERE k IS DISTINCT FROM $1"
	for _, step := range []struct{ change, want string }{
		{"CREATE TABLE u (k int PRIMARY KEY, v int)", "2 columns, 0 rows, 23"},
		{"INSERT INTO u VALUES (2, 3)", "2 columns, 1 rows, 23"},
		{"ALTER TABLE u ADD COLUMN w text", "3 columns, 1 rows, 23"},
		{"ALTER TABLE u ALTER k TYPE bigint", "3 columns, 1 rows, 20"},
		{"CREATE TEMP TABLE u (k int)", "1 columns, 0 rows, 23"},
		{"DROP TABLE u", "3 columns, 1 rows, 20"},
		{"DROP TABLE u", "42P01"},
		{"CREATE TABLE u (k smallint)", "1 columns, 0 rows, 21"},
		{"BEGIN", "1 columns, 0 rows, 21"},
		{"ALTER TABLE u ADD v text", "2 columns, 0 rows, 21"},
		{"ROLLBACK", "1 columns, 0 rows, 21"},
	} {
		do(step.change)
		for range 2 {
			if got := ask(query, "1"); got != step.want {
				t.Errorf("after %s: %s, want %s", step.change, got, step.want)
			}
		}
	}
	for _, column := range []string{"int", "text"} {
		for _, sql := range []string{"BEGIN", "CREATE TEMP TABLE od (a " + column + ") ON COMMIT DROP"} {
			do(sql)
		}
		if got := ask("SELECT * FROM od WHERE a IS DISTINCT FROM $1", "1"); got[:9] != "1 columns" {
			t.Errorf("a table of one transaction, %s: %s", column, got)
		}
		do("COMMIT")
	}
}
