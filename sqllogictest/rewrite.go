package sqllogictest

import (
	"errors"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// rewriting replaces the lines [from, to) of a file.
type rewriting struct {
	file     string
	from, to int
	lines    []string
}

// rewriteOf returns the record as it should stand in the file, given what came.
func (r *runner) rewriteOf(rec *Record, results []*pgconn.Result, err error) rewriting {
	w := rewriting{file: rec.File, from: rec.from, to: rec.to}
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		head := "statement error " + pg.Code
		if rec.WantText != nil && rec.WantText.MatchString(errorText(err)) {
			head += " " + rec.WantText.String()
		}
		w.lines = []string{head, rec.SQL}
	case rec.Kind == Query && len(results) > 0 && len(results[len(results)-1].FieldDescriptions) > 0:
		got := resultOf(results[len(results)-1])
		sort := rec.Sort
		if sort == "" && len(got.rows) > 1 && !strings.Contains(strings.ToLower(rec.SQL), "order by") && startsWith(rec.SQL, []string{"select", "values", "with", "table"}) {
			sort = "rowsort"
		}
		head := strings.Join(strings.Fields(strings.Join([]string{"query", got.types, sort, rec.Label}, " ")), " ")
		w.lines = append([]string{head, rec.SQL, "----"}, r.expectedLines(got, sort)...)
	case rec.WantNotice:
		head := "statement notice " + rec.WantState
		if rec.WantText != nil {
			head += " " + rec.WantText.String()
		}
		w.lines = []string{head, rec.SQL}
	default:
		head := "statement ok"
		if len(results) > 0 {
			tag := results[len(results)-1].CommandTag
			if tag.Insert() || tag.Update() || tag.Delete() {
				head = "statement count " + tag.String()[strings.LastIndexByte(tag.String(), ' ')+1:]
			}
		}
		w.lines = []string{head, rec.SQL}
	}
	return w
}

func (r *runner) expectedLines(got *result, sort string) []string {
	if r.threshold > 0 && got.values() > r.threshold {
		return []string{got.hash(sort)}
	}
	return got.lines(sort)
}

// rewrite writes the file with its records replaced. Records of included files
// stay as they are.
func rewrite(s *Script, changes []rewriting) error {
	var out []string
	at := 0
	for _, c := range changes {
		if c.file != s.Path || c.from < at {
			continue
		}
		out = append(out, s.lines[at:c.from]...)
		out = append(out, c.lines...)
		at = c.to
	}
	out = append(out, s.lines[at:]...)
	return os.WriteFile(s.Path, []byte(strings.Join(out, "\n")+"\n"), 0o644)
}
