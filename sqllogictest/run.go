package sqllogictest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Target is a server with a database of its own for one script.
type Target interface {
	// URL is the connection string of the database. It may change after Restart.
	URL() string
	// Restart ends the server as an operator would and starts it again.
	Restart(ctx context.Context) error
}

// Options of a run.
type Options struct {
	Engine       string            // for skipif and onlyif
	Variables    map[string]string // $name in SQL, such as "partitions"
	RestartOften bool              // restart between statements that are not in a transaction
	Rewrite      bool              // replace what the script expects with what comes
	Timeout      time.Duration     // of one statement; default 60 s
}

// Failure is a record that did not do what it should.
type Failure struct {
	File string
	Line int
	SQL  string
	Text string
}

func (f Failure) String() string {
	return fmt.Sprintf("%s:%d: %s\n    %s", f.File, f.Line, strings.ReplaceAll(f.SQL, "\n", "\n    "), strings.ReplaceAll(f.Text, "\n", "\n    "))
}

// Outcome counts a script's records.
type Outcome struct {
	Passed, Failed, Skipped int
	Failures                []Failure
}

// Run runs a script on a target. The error is of the run itself: the server
// cannot be reached, or does not restart.
func Run(ctx context.Context, s *Script, t Target, opts Options) (Outcome, error) {
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute
	}
	r := &runner{
		opts: opts, conns: &connections{target: t, byName: map[string]*connection{}}, current: "default",
		variables: map[string]string{}, labels: map[string]string{}, threshold: 100, often: opts.RestartOften,
	}
	for k, v := range opts.Variables {
		r.variables[k] = v
	}
	defer r.conns.disconnect(context.WithoutCancel(ctx))
	err := r.records(ctx, s.Records)
	if errors.Is(err, errHalt) {
		err = nil
	}
	if err == nil && opts.Rewrite {
		err = rewrite(s, r.rewrites)
	}
	return r.outcome, err
}

var errHalt = errors.New("halt")

type connection struct {
	pg      *pgconn.PgConn
	notices []*pgconn.Notice
	session []string // statements that set the session up, for after a restart
}

// run runs SQL by the simple protocol, which gives text. The columns of a result
// without rows are kept; pgconn's ReadAll drops them.
func (c *connection) run(ctx context.Context, sql string) ([]*pgconn.Result, error) {
	var out []*pgconn.Result
	all := c.pg.Exec(ctx, sql)
	for all.NextResult() {
		reader := all.ResultReader()
		fields := slices.Clone(reader.FieldDescriptions())
		res := reader.Read()
		res.FieldDescriptions = fields
		if res.Err == nil {
			out = append(out, res)
		}
	}
	return out, all.Close()
}

// connections are those of a script to one target, by name.
type connections struct {
	target     Target
	parameters map[string]string // settings of every connection
	byName     map[string]*connection
}

type runner struct {
	opts      Options
	conns     *connections
	current   string
	variables map[string]string
	labels    map[string]string
	threshold int
	often     bool
	dirty     bool // something else than a query ran since the last restart
	outcome   Outcome
	rewrites  []rewriting
}

func (cs *connections) disconnect(ctx context.Context) {
	for _, c := range cs.byName {
		if c.pg != nil {
			_ = c.pg.Close(ctx) // the server may be gone
			c.pg = nil
		}
	}
}

// get returns a connection, connected.
func (cs *connections) get(ctx context.Context, name string) (*connection, error) {
	c := cs.byName[name]
	if c == nil {
		c = &connection{}
		cs.byName[name] = c
	}
	if c.pg != nil && !c.pg.IsClosed() {
		return c, nil
	}
	cfg, err := pgconn.ParseConfig(cs.target.URL())
	if err != nil {
		return nil, err
	}
	for k, v := range cs.parameters {
		cfg.RuntimeParams[k] = v
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.notices = append(c.notices, n) }
	if c.pg, err = pgconn.ConnectConfig(ctx, cfg); err != nil {
		return nil, err
	}
	for _, sql := range c.session {
		if _, err := c.pg.Exec(ctx, sql).ReadAll(); err != nil {
			return nil, fmt.Errorf("set the session up again: %s: %w", sql, err)
		}
	}
	return c, nil
}

func (r *runner) records(ctx context.Context, records []*Record) error {
	for _, rec := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !rec.applies(r.opts.Engine) {
			r.outcome.Skipped++
			continue
		}
		var err error
		switch rec.Kind {
		case Control:
			err = r.control(ctx, rec)
		case Loop:
			err = r.loop(ctx, rec)
		default:
			err = r.step(ctx, rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) loop(ctx context.Context, rec *Record) error {
	for _, v := range rec.Values {
		r.variables[rec.Variable] = v
		if err := r.records(ctx, rec.Body); err != nil {
			return err
		}
	}
	delete(r.variables, rec.Variable)
	return nil
}

func (r *runner) control(ctx context.Context, rec *Record) error {
	switch rec.Verb {
	case "connection":
		r.current = rec.Args[0]
	case "restart":
		return r.restart(ctx)
	case "halt":
		return errHalt
	case "hash-threshold":
		n, err := strconv.Atoi(rec.Args[0])
		if err != nil {
			return fmt.Errorf("%s:%d: hash-threshold needs a number", rec.File, rec.Line)
		}
		r.threshold = n
	case "control":
		if rec.Args[0] != "restart" {
			return fmt.Errorf("%s:%d: control restart on or off", rec.File, rec.Line)
		}
		r.often = r.opts.RestartOften && rec.Args[1] == "on"
	}
	return nil
}

func (r *runner) restart(ctx context.Context) error {
	r.conns.disconnect(ctx)
	if err := r.conns.target.Restart(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	r.dirty = false
	return nil
}

// inTransaction reports whether a connection has a transaction open.
func (r *runner) inTransaction() bool {
	for _, c := range r.conns.byName {
		if c.pg != nil && c.pg.TxStatus() != 'I' {
			return true
		}
	}
	return false
}

// step runs a statement or a query.
func (r *runner) step(ctx context.Context, rec *Record) error {
	if r.often && r.dirty && !r.inTransaction() {
		if err := r.restart(ctx); err != nil {
			return err
		}
	}
	c, err := r.conns.get(ctx, r.current)
	if err != nil {
		return err
	}
	sql := r.substitute(rec.SQL)
	c.notices = nil
	limited, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	results, err := c.run(limited, sql)
	cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && isSession(sql) && c.pg.TxStatus() == 'I' { // in a transaction it may be rolled back
		c.session = append(c.session, sql)
	}
	r.dirty = r.dirty || !isQuery(sql)
	complaint := r.judge(rec, c, results, err)
	if complaint == "" {
		r.outcome.Passed++
		return nil
	}
	r.outcome.Failed++
	r.outcome.Failures = append(r.outcome.Failures, Failure{File: rec.File, Line: rec.Line, SQL: sql, Text: complaint})
	return nil
}

var (
	variable     = regexp.MustCompile(`\$\{?([a-zA-Z_][a-zA-Z_0-9]*)\}?`)
	sessionForms = []string{"set ", "reset ", "prepare ", "deallocate "}
	queryForms   = []string{"select", "values", "with", "show", "explain", "table"}
)

func (r *runner) substitute(sql string) string { return substitute(sql, r.variables) }

// substitute puts the values of variables in the place of $name and ${name}.
func substitute(sql string, variables map[string]string) string {
	if len(variables) == 0 {
		return sql
	}
	return variable.ReplaceAllStringFunc(sql, func(ref string) string {
		if v, ok := variables[strings.Trim(ref, "${}")]; ok {
			return v
		}
		return ref
	})
}

func isSession(sql string) bool {
	return startsWith(sql, sessionForms) && !startsWith(sql, []string{"set local", "set transaction"})
}

func isQuery(sql string) bool { return startsWith(sql, queryForms) }

func startsWith(sql string, forms []string) bool {
	sql = strings.ToLower(strings.TrimSpace(sql))
	return slices.ContainsFunc(forms, func(f string) bool { return strings.HasPrefix(sql, f) })
}

// judge compares what came with what should; it returns the complaint, or "".
func (r *runner) judge(rec *Record, c *connection, results []*pgconn.Result, err error) string {
	if r.opts.Rewrite && rec.from >= 0 && !rec.inLoop {
		r.rewrites = append(r.rewrites, r.rewriteOf(rec, results, err))
		return ""
	}
	if rec.WantError {
		return wrongError(rec, err)
	}
	if err != nil {
		return "error: " + errorText(err)
	}
	switch {
	case rec.WantNotice:
		return wrongNotice(rec, c.notices)
	case rec.Kind == Query:
		return r.wrongRows(rec, results)
	case rec.WantCount >= 0:
		if len(results) == 0 {
			return "no command was run"
		}
		if got := results[len(results)-1].CommandTag.RowsAffected(); got != rec.WantCount {
			return fmt.Sprintf("%d rows, expected %d", got, rec.WantCount)
		}
	}
	return ""
}

// errorText shows an error with all that helps.
func errorText(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err.Error()
	}
	text := pg.Code + " " + pg.Message
	for _, part := range [][2]string{{"DETAIL", pg.Detail}, {"HINT", pg.Hint}, {"CONTEXT", pg.Where}} {
		if part[1] != "" {
			text += "\n" + part[0] + ": " + part[1]
		}
	}
	return text
}

func wrongError(rec *Record, err error) string {
	if err == nil {
		return "succeeded, expected an error"
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return "not an error of the server: " + err.Error()
	}
	if rec.WantState != "" && pg.Code != rec.WantState {
		return fmt.Sprintf("expected SQLSTATE %s, got %s", rec.WantState, errorText(err))
	}
	if rec.WantText != nil && !rec.WantText.MatchString(errorText(err)) {
		return fmt.Sprintf("expected %s, got %s", rec.WantText, errorText(err))
	}
	return ""
}

func wrongNotice(rec *Record, notices []*pgconn.Notice) string {
	var all []string
	for _, n := range notices {
		text := n.Severity + " " + errorText((*pgconn.PgError)(n))
		if (rec.WantState == "" || rec.WantState == n.Code) && (rec.WantText == nil || rec.WantText.MatchString(text)) {
			return ""
		}
		all = append(all, text)
	}
	return fmt.Sprintf("no such notice; notices: %q", all)
}

func (r *runner) wrongRows(rec *Record, results []*pgconn.Result) string {
	if len(results) == 0 {
		return "returned no result"
	}
	got := resultOf(results[len(results)-1])
	if rec.Types != "" && !sameTypes(rec.Types, got.types) {
		return fmt.Sprintf("column types %s, expected %s", got.types, rec.Types)
	}
	lines, hash := got.lines(rec.Sort), got.hash(rec.Sort)
	if rec.Label != "" {
		if other, ok := r.labels[rec.Label]; ok && other != hash {
			return fmt.Sprintf("differs from an earlier query with label %s", rec.Label)
		}
		r.labels[rec.Label] = hash
	}
	if isHash(rec.Expected) {
		if rec.Expected[0] != hash {
			return fmt.Sprintf("got %s, expected %s\n%s", hash, rec.Expected[0], strings.Join(lines, "\n"))
		}
		return ""
	}
	if !slices.Equal(lines, rec.Expected) {
		return fmt.Sprintf("got\n%s\nexpected\n%s", strings.Join(lines, "\n"), strings.Join(rec.Expected, "\n"))
	}
	return ""
}
