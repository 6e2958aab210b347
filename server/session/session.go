package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/partition"
)

// Session is one client's state.
type Session struct {
	engine   *Engine
	tenant   *Tenant
	startup  pgwire.Startup
	login    login
	who      *identity
	became   map[string]uint32 // numbers of the roles that SET ROLE and SET SESSION AUTHORIZATION took, by name
	settings *settings
	prepared map[string]*prepared
	portals  map[string]*portal
	kept     int64 // bytes of rows that cursors keep
	recent   recent
	accessed accessed      // by the query that ran last
	context  *expr.Context // see currentContext; nil before the first statement
	txn      transaction
	indexed  indexedTable

	listening map[string]bool // channels
	advisory  []hold          // until they are given back
	taken     taken           // numbers of sequences
	statement context.Context // of the statement that runs
	mailbox   *mailbox
	activity  activity
	temporary spill.Quota // of the files of its statements
	objects   temporaryObjects
}

var _ pgwire.Session = (*Session)(nil)

func newSession(e *Engine, t *Tenant, s pgwire.Startup, as login) *Session {
	now := e.Now()
	session := &Session{
		engine: e, tenant: t, startup: s, login: as, settings: newSettings(s.User),
		prepared: map[string]*prepared{}, portals: map[string]*portal{}, mailbox: &mailbox{client: s.Client},
		activity: activity{a: Activity{
			Database: t.Database.Name, User: s.User, RemoteAddr: s.RemoteAddr, Encryption: s.Encryption, ProcessID: s.ProcessID, State: "idle", BackendStart: now, StateChange: now,
		}},
	}
	session.activity.a.Role = as.role()
	session.settings.become, session.settings.superuser = session.become, session.superuser
	session.settings.showSuperuser()
	return session
}

// Setting returns the value of a run-time setting.
func (s *Session) Setting(name string) (string, bool) { return s.settings.get(name) }

// SettingInfo is a row of pg_settings.
type SettingInfo struct {
	Name, Value, Initial, Reset, About string
	Unit                               string // of Value, a number; empty for most
	ReadOnly                           bool
}

// Settings returns all settings by name.
func (s *Session) Settings() []SettingInfo {
	var out []SettingInfo
	for _, n := range s.settings.names() {
		d := known[n]
		info := SettingInfo{Name: shownName(n), Value: s.settings.values[n], Initial: d.initial, Reset: d.initial, About: d.about, Unit: d.unit, ReadOnly: d.readOnly}
		if value, ok := s.settings.base[n]; ok {
			info.Reset = value
		}
		if d.unit == "ms" {
			info.Value = strconv.FormatInt(s.settings.duration(n).Milliseconds(), 10)
		}
		if d.unit == "kB" {
			info.Value = strconv.FormatInt(max(-1, s.settings.meaning().tempFileLimit>>10), 10)
		}
		out = append(out, info)
	}
	return out
}

// ProcessID returns the session's number, which clients cancel it by.
func (s *Session) ProcessID() int64 { return int64(s.startup.ProcessID) }

// Parameters implements pgwire.Session.
func (s *Session) Parameters() [][2]string {
	s.settings.changed = nil
	s.showApplication()
	var out [][2]string
	for _, n := range s.settings.names() {
		if known[n].report {
			out = append(out, [2]string{shownName(n), s.settings.values[n]})
		}
	}
	return out
}

// reportChanges tells the client of settings that changed.
func (s *Session) reportChanges(w *pgwire.Writer) {
	for _, n := range s.settings.changed {
		if n == "application_name" {
			s.showApplication()
		}
		w.Parameter(shownName(n), s.settings.values[n])
	}
	s.settings.changed = nil
}

// silent reports whether the client does not want messages of a severity.
func (s *Session) silent(severity string) bool {
	return severity != "INFO" && slices.Index(messageLevels, strings.ToLower(severity)) < s.settings.meaning().minMessages
}

// Close implements pgwire.Session.
func (s *Session) Close() {
	s.closeAll()
	s.rollback()
	s.endTemporary()
	s.unlistenAll()
	s.AdvisoryUnlockAll()
	s.engine.directory.remove(s)
}

// Snapshot returns the database's relations as the session's transaction sees them now.
func (s *Session) Snapshot() *catalog.Snapshot { return s.snapshot() }

func (s *Session) snapshot() *catalog.Snapshot {
	if s.txn.catalog != nil {
		return s.objects.view(s.txn.catalog.Snapshot())
	}
	return s.objects.view(s.engine.Catalog.Snapshot(s.tenant.Database.Tenant))
}

// bindEnv is what a statement is bound against.
func (s *Session) bindEnv(ec *expr.Context) *bind.Env {
	return &bind.Env{
		Snapshot: s.snapshot(), Registry: s.engine.Registry, Virtual: s.engine.Virtual(s.tenant, s), Parse: parseSelect,
		SearchPath: ec.SearchPath, Usable: s.usable, HideEnvelope: !s.settings.on("envelope"), Expr: ec,
	}
}

// parseSelect parses the body of a view.
func parseSelect(sql string) (*ast.Select, error) {
	p, err := parse.ParseOne(sql)
	if err != nil {
		return nil, err
	}
	sel, ok := p.Statement.(*ast.Select)
	if !ok {
		return nil, sqlerr.New(sqlerr.SyntaxError, "a query is expected")
	}
	return sel, nil
}

// currentContext is what a statement that begins now fixes for its expressions. It is the
// session's own, so it changes with the next statement.
func (s *Session) currentContext() *expr.Context {
	now := s.engine.Now()
	if !s.txn.began.IsZero() {
		now = s.txn.began
	}
	means := s.settings.meaning()
	if s.context == nil {
		s.context = &expr.Context{
			Database: s.tenant.Database.Name, Setting: s.contextSetting, Set: s.setConfig, Sessions: s, Sequences: numbers{s: s},
			Seed: s.tenant.Database.SketchSeed(),
		}
	}
	c := s.context
	c.Enums = nil
	if s.txn.catalog != nil {
		c.Enums = s.txn.catalog.Types()
	}
	c.Catalog = &systemCatalog{s: s} // of the relations that there are now
	c.Now, c.Location, c.User, c.SessionUser, c.SearchPath = now, means.location, means.user, s.SessionUser(), s.usablePath()
	c.Temporary, c.ListedPath = s.snapshot().Temporary, nil
	if c.Temporary != "" {
		c.ListedPath = s.usableOf(s.listedPath())
	}
	return c
}

// exprContext is what a statement fixes for its expressions.
func (s *Session) exprContext() *expr.Context {
	c := *s.currentContext()
	return &c
}

// contextSetting is current_setting() for scalar functions.
func (s *Session) contextSetting(name string) (string, bool) {
	if name == "pg_backend_pid" {
		return types.FormatDatum(types.IntDatum(types.Int8, int64(s.startup.ProcessID)), &types.TextOptions{}), true
	}
	return s.settings.get(name)
}

// setConfig is set_config() for scalar functions. A local change outside a
// transaction lasts for the statement only, so it is none.
func (s *Session) setConfig(name, value string, local bool) error {
	if !local {
		return s.settings.set(name, value)
	}
	if s.txn.open() {
		return s.settings.setLocal(name, value)
	}
	return nil
}

// textOptions is how values are shown to the client.
func (s *Session) textOptions() *types.TextOptions { return s.currentContext().TextOptions() }

// statementContext bounds a statement's time.
func (s *Session) statementContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if d := s.settings.meaning().statementTimeout; d > 0 {
		return context.WithTimeoutCause(ctx, d, sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout"))
	}
	return ctx, func() {} // pgwire ends it
}

// clientError makes any error of a statement one for the client.
func clientError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e
	}
	if ctx.Err() != nil {
		var cause *sqlerr.Error
		if errors.As(context.Cause(ctx), &cause) {
			return cause
		}
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	}
	return goneError(err)
}

// goneError says in a user's words that what a statement works on went away while it
// ran.
func goneError(err error) error {
	switch {
	case errors.Is(err, stream.ErrUnknownStream):
		return sqlerr.New(sqlerr.UndefinedTable, "the stream was dropped while the statement ran")
	case errors.Is(err, partition.ErrUnknownView):
		return sqlerr.New(sqlerr.UndefinedTable, "the continuous view was dropped while the statement ran")
	case errors.Is(err, partition.ErrStopped), errors.Is(err, storage.ErrClosed):
		return sqlerr.New(sqlerr.AdminShutdown, "a partition of the stream stopped while the statement ran").
			WithHint("The stream was dropped or the server is shutting down; try again.")
	}
	return err
}

// Query implements pgwire.Session.
func (s *Session) Query(ctx context.Context, sql string, w *pgwire.Writer) error {
	s.busy(sql)
	defer s.idle()
	w.Silent = s.silent
	statements, err := s.parse(sql)
	if err != nil {
		s.fail()
		return err
	}
	s.dropPortal("")
	if len(statements) == 0 {
		return w.Empty()
	}
	for i, p := range statements {
		if _, prepares := p.Statement.(*ast.Prepare); p.Params > 0 && !prepares {
			s.abandonStatement()
			s.fail()
			return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
		}
		// The statements of a message are one transaction. The last one ends it, so
		// that its acknowledgement comes after that.
		if last := i == len(statements)-1; !last {
			s.beginSequence()
		} else {
			s.txn.implicit = false
		}
		if err := s.run(ctx, p.Statement, nil, simpleSink(s, w)); err != nil {
			return err
		}
	}
	return nil
}

// run runs one statement and keeps the transaction's state right.
func (s *Session) run(ctx context.Context, stmt ast.Statement, params []types.Datum, out *sink) error {
	if s.txn.failed() && !endsTransaction(stmt) {
		return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	ctx, cancel := s.statementContext(ctx)
	defer cancel()
	s.statement = ctx
	s.engine.Statements.Add(1)
	ended := false
	defer s.orGivenUp(&ended)
	err := s.dispatch(ctx, stmt, params, out)
	if err == nil {
		err = s.endStatement(ctx, out)
	} else {
		s.abandonStatement()
	}
	ended = true
	s.reportChanges(out.writer)
	if err = clientError(ctx, err); err != nil {
		s.engine.Failures.Add(1)
		s.fail()
	}
	return err
}

// orGivenUp is deferred where a statement runs: one that ended by a panic leaves no rows,
// and no lock that others wait for.
func (s *Session) orGivenUp(ended *bool) {
	if !*ended {
		s.abandonStatement()
		s.fail()
	}
}

func endsTransaction(stmt ast.Statement) bool {
	t, ok := stmt.(*ast.Transaction)
	return ok && (t.Kind == ast.Rollback || t.Kind == ast.Commit || t.Kind == ast.RollbackTo)
}

// now is the time as the session's engine sees it.
func (s *Session) now() time.Time { return s.engine.Now() }
