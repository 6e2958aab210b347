package sqllogictest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Opener makes the server, or the database, of one script.
type Opener func(ctx context.Context) (Target, func() error, error)

// Comparison runs the suites of other products on an oracle and on a target. A
// record counts as expected where the oracle gives the answer that the suite
// expects, for suites contain dialects of their own; of these it counts those
// to which the target gives the oracle's answer.
type Comparison struct {
	Engine   string        // for skipif and onlyif
	Timeout  time.Duration // of one statement
	Oracle   Opener
	Target   Opener
	Failures io.Writer // every record that the target answers otherwise; may be nil
	Progress io.Writer // what runs now; may be nil
}

// SuiteCount is what a comparison counts of one suite.
type SuiteCount struct {
	Name     string
	Files    int
	Unparsed int // files that could not be read
	Broken   int // files after which the target did not end well
	Records  int // statements and queries that ran on the oracle, each turn of a loop for itself
	Skipped  int // records for other engines, and those that are not SQL
	Expected int // those that the oracle answers as the suite expects
	Same     int // those of them that the target answers as the oracle does
	TimedOut int // those of them that took the target too long
	Classes  map[string]*FailureClass
}

// FailureClass is a kind of failure: those with the same SQLSTATE and message
// but for names and numbers.
type FailureClass struct {
	Name    string
	Records int
	Example Failure
}

// Worst returns the classes, those with the most records first.
func (s *SuiteCount) Worst() []*FailureClass {
	return slices.SortedFunc(maps.Values(s.Classes), func(a, b *FailureClass) int {
		if a.Records != b.Records {
			return b.Records - a.Records
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// foreignScripts reads the scripts under a path in order: *.slt, *.test, and
// those *.slt.part that no other includes. It counts those that cannot be read.
func foreignScripts(path string) (scripts []*Script, unparsed int, err error) {
	isPart := map[string]bool{}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || file != path && !foreignName.MatchString(file) {
			return err
		}
		s, err := ReadForeign(file)
		if err != nil {
			unparsed++
			return nil //nolint:nilerr // one file that is not understood is counted, the others run
		}
		for _, part := range s.parts {
			isPart[part] = true
		}
		scripts = append(scripts, s)
		return nil
	})
	scripts = slices.DeleteFunc(scripts, func(s *Script) bool { return isPart[s.Path] })
	return scripts, unparsed, err
}

var foreignName = regexp.MustCompile(`\.(slt|test|slt\.part)$`)

// Run compares the scripts under a path.
func (c *Comparison) Run(ctx context.Context, path string) (*SuiteCount, error) {
	scripts, unparsed, err := foreignScripts(path)
	if err != nil {
		return nil, err
	}
	count := &SuiteCount{Name: path, Files: len(scripts) + unparsed, Unparsed: unparsed, Classes: map[string]*FailureClass{}}
	for i, script := range scripts {
		if c.Progress != nil {
			fmt.Fprintf(c.Progress, "%d of %d: %s (%d of %d the same)\n", i+1, len(scripts), script.Path, count.Same, count.Expected)
		}
		count.Skipped += script.Skipped
		if err := c.script(ctx, script, count); err != nil {
			return count, fmt.Errorf("%s: %w", script.Path, err)
		}
	}
	return count, nil
}

// script runs one script on both servers.
func (c *Comparison) script(ctx context.Context, s *Script, count *SuiteCount) (err error) {
	p := &pair{comparison: c, count: count, current: "default", variables: map[string]string{}}
	var closeOracle, closeTarget func() error
	if p.oracle, closeOracle, err = c.open(ctx, c.Oracle); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOracle()) }()
	if p.target, closeTarget, err = c.open(ctx, c.Target); err != nil {
		return err
	}
	defer func() {
		if err := closeTarget(); err != nil {
			count.Broken++
			p.fail(Failure{File: s.Path, Text: err.Error()}, "the server does not end well: "+classText(err))
		}
	}()
	if err := p.records(ctx, s.Records); err != nil && !errors.Is(err, errHalt) {
		return err
	}
	return nil
}

// open makes a server for a script; what it returns also ends the connections.
func (c *Comparison) open(ctx context.Context, open Opener) (*connections, func() error, error) {
	target, closeTarget, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	conns := &connections{
		target: target, byName: map[string]*connection{},
		parameters: map[string]string{"statement_timeout": strconv.FormatInt(c.Timeout.Milliseconds(), 10)},
	}
	return conns, func() error {
		conns.disconnect(context.WithoutCancel(ctx))
		return closeTarget()
	}, nil
}

// pair is a script that runs on both servers.
type pair struct {
	comparison     *Comparison
	count          *SuiteCount
	oracle, target *connections
	current        string
	variables      map[string]string
}

// answer is what a server says to a statement.
type answer struct {
	rows  *result // nil: it failed
	types []uint32
	err   error
}

func (p *pair) records(ctx context.Context, records []*Record) error {
	for _, rec := range records {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !rec.applies(p.comparison.Engine):
			p.count.Skipped++
		case rec.Kind == Control && rec.Verb == "connection":
			p.current = rec.Args[0]
		case rec.Kind == Control && rec.Verb == "halt":
			return errHalt
		case rec.Kind == Control:
		case rec.Kind == Loop:
			for _, v := range loopValues(rec) {
				p.variables[rec.Variable] = v
				if err := p.records(ctx, rec.Body); err != nil {
					return err
				}
			}
			delete(p.variables, rec.Variable)
		default:
			p.step(ctx, rec)
		}
	}
	return nil
}

func loopValues(rec *Record) []string {
	var out []string
	for _, v := range rec.Values {
		if list, ok := foreignLists[v]; ok {
			out = append(out, list...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// step runs a statement on the oracle, and then on the target unless the oracle
// failed where the suite expects success: so both keep the same contents.
func (p *pair) step(ctx context.Context, rec *Record) {
	name := p.current
	if rec.Connection != "" {
		name = rec.Connection
	}
	sql := substitute(rec.SQL, p.variables)
	want := p.ask(ctx, p.oracle, name, sql)
	p.count.Records++
	if want.err != nil && !rec.WantError && !rec.Maybe {
		p.failTransaction(ctx, name)
		return
	}
	got := p.ask(ctx, p.target, name, sql)
	expected := rec.Expected
	if len(p.variables) > 0 {
		expected = slices.Clone(expected)
		for i, line := range expected {
			expected[i] = substitute(line, p.variables)
		}
	}
	switch {
	case rec.Maybe, rec.WantError != (want.err != nil):
		return
	case rec.Kind == Query && !rec.WantError && !meets(rec, want.rows, expected):
		return
	}
	p.count.Expected++
	class := differs(rec, sql, want, got)
	if class == "" {
		p.count.Same++
		return
	}
	var pg *pgconn.PgError
	if errors.Is(got.err, context.DeadlineExceeded) || errors.As(got.err, &pg) && pg.Code == "57014" {
		p.count.TimedOut++
	}
	p.fail(Failure{File: rec.File, Line: rec.Line, SQL: sql, Text: class + "\n" + shownAnswer("oracle", want) + shownAnswer("target", got)}, class)
}

// failTransaction brings the target's open transaction into the failed state that
// the oracle's is in.
func (p *pair) failTransaction(ctx context.Context, name string) {
	oracle, target := p.oracle.byName[name], p.target.byName[name]
	if oracle == nil || target == nil || oracle.pg == nil || target.pg == nil || oracle.pg.TxStatus() != 'E' || target.pg.TxStatus() != 'T' {
		return
	}
	p.ask(ctx, p.target, name, "SELECT 1/0")
}

func (p *pair) fail(f Failure, name string) {
	class := p.count.Classes[name]
	if class == nil {
		class = &FailureClass{Name: name, Example: f}
		p.count.Classes[name] = class
	}
	class.Records++
	if p.comparison.Failures != nil {
		fmt.Fprintf(p.comparison.Failures, "%s\n\n", f)
	}
}

// ask runs SQL on one of the servers. Where a server does not keep to its own
// statement_timeout, the connection ends.
func (p *pair) ask(ctx context.Context, conns *connections, name, sql string) answer {
	ctx, cancel := context.WithTimeout(ctx, 2*p.comparison.Timeout)
	defer cancel()
	conn, err := conns.get(ctx, name)
	if err != nil {
		return answer{err: err}
	}
	results, err := conn.run(ctx, sql)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return answer{err: err}
	}
	a := answer{rows: &result{}}
	if len(results) > 0 {
		last := results[len(results)-1]
		a.rows = resultOf(last)
		for _, f := range last.FieldDescriptions {
			a.types = append(a.types, f.DataTypeOID)
		}
	}
	return a
}

func shownAnswer(who string, a answer) string {
	const longest = 1000
	text := ""
	if a.err != nil {
		text = errorText(a.err)
	} else {
		text = strings.Join(a.rows.lines(""), "\n")
	}
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return who + ":\n" + text + "\n"
}

// names are the parts of a message that are one user's and not the message's.
var names = regexp.MustCompile(`"[^"]*"|'[^']*'|[0-9]+`)

// differs returns the class of the difference between two answers, or "".
func differs(rec *Record, sql string, want, got answer) string {
	switch {
	case want.err != nil && got.err != nil:
		if a, b := stateOf(want.err), stateOf(got.err); a != b {
			return fmt.Sprintf("SQLSTATE %s instead of %s: %s", b, a, classText(got.err))
		}
		return ""
	case want.err != nil:
		return "succeeds instead of " + stateOf(want.err) + " " + classText(want.err)
	case got.err != nil:
		return classText(got.err)
	case rec.Kind != Query:
		return ""
	case !slices.Equal(want.types, got.types):
		return fmt.Sprintf("types of columns %v instead of %v", got.types, want.types)
	}
	a, b := want.rows.rows, got.rows.rows
	if sameRows(a, b, want.types) {
		return ""
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, slices.Compare)
	slices.SortFunc(b, slices.Compare)
	switch {
	case !sameRows(a, b, want.types):
		return "other rows"
	case rec.Sort != "rowsort" && rec.Sort != "valuesort" && strings.Contains(strings.ToLower(sql), "order by"):
		return "rows in another order"
	}
	return ""
}

func sameRows(a, b [][]string, types []uint32) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool {
		for i := range x {
			isFloat := types[i] == 700 || types[i] == 701
			if x[i] != y[i] && !(isFloat && close15(x[i], y[i])) {
				return false
			}
		}
		return true
	})
}

func stateOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return "(none)"
}

// classText is an error without the names and numbers of its statement.
func classText(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return names.ReplaceAllString(err.Error(), "…")
	}
	return pg.Code + " " + names.ReplaceAllString(pg.Message, "…")
}
