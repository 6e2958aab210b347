package expr_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// The golden files hold "expression => type | value" or "expression => ERROR
// code" as PostgreSQL 15 answers. To regenerate them after adding expressions
// (a line without an arrow is a new one):
//
//	go test ./sql/expr -run Golden -postgres 'host=/tmp user=postgres'
var postgres = flag.String("postgres", "", "conninfo of a PostgreSQL 15 that answers for the golden files")

var zone, _ = time.LoadLocation("America/New_York")

func evalText(s string, messages bool) string {
	ec := &expr.Context{Location: zone, User: "postgres", Database: "postgres", Now: time.Unix(1700000000, 0)}
	e, err := bindSQL(s)
	if err == nil {
		var d types.Datum
		if d, err = expr.EvalConst(ec, e); err == nil {
			v := "NULL"
			if !d.Null {
				v = types.FormatDatum(d, ec.TextOptions())
			}
			return types.Of(e.Type().OID).String() + " | " + strings.ReplaceAll(v, "\n", `\n`)
		}
	}
	var se *sqlerr.Error
	if !errors.As(err, &se) {
		return "FOREIGN " + err.Error()
	}
	if messages {
		return "ERROR " + string(se.Code) + ": " + se.Message
	}
	return "ERROR " + string(se.Code)
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	cases := 0
	for _, f := range files {
		messages := filepath.Base(f) == "messages.txt" // with the sentence, not only the code
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
		if *postgres != "" {
			lines = askPostgres(t, lines, messages)
			if err := os.WriteFile(f, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range lines {
			if l == "" || l[0] == '#' {
				continue
			}
			s, want, _ := strings.Cut(l, " => ")
			cases++
			if got := evalText(s, messages); got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", filepath.Base(f), s, got, want)
			}
		}
	}
	t.Logf("%d cases", cases)
}

// askPostgres fills in the answers.
func askPostgres(t *testing.T, lines []string, messages bool) []string {
	var in strings.Builder
	in.WriteString("\\pset null NULL\n\\pset format unaligned\n\\pset fieldsep ' | '\n\\t on\n\\set VERBOSITY sqlstate\nset timezone='America/New_York';\n")
	if messages {
		in.WriteString("\\set VERBOSITY verbose\n")
	}
	for i, l := range lines {
		s, _, _ := strings.Cut(l, " => ")
		if s != "" && s[0] != '#' {
			fmt.Fprintf(&in, "\\echo @@%d\nSELECT pg_typeof(e), e FROM (SELECT (%s) AS e) q;\n", i, s)
		}
	}
	cmd := exec.Command("psql", "-X", "-q", *postgres)
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := out.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	fresh := append([]string(nil), lines...)
	for _, part := range strings.Split(all.String(), "@@")[1:] {
		num, answer, _ := strings.Cut(part, "\n")
		var i int
		fmt.Sscan(num, &i)
		if messages {
			answer, _, _ = strings.Cut(answer, "\n")
		}
		answer = strings.ReplaceAll(strings.TrimSuffix(answer, "\n"), "\n", `\n`)
		answer = strings.Replace(answer, "ERROR:  ", "ERROR ", 1)
		s, _, _ := strings.Cut(lines[i], " => ")
		fresh[i] = s + " => " + answer
	}
	return fresh
}
