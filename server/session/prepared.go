package session

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Limits of what a session keeps.
const (
	maxPrepared = 10_000
	maxPortals  = 1_000
)

// prepared is a prepared statement.
type prepared struct {
	stmt     ast.Statement // nil for an empty query
	source   string
	sent     []uint32 // parameter types that the client said
	created  time.Time
	fromSQL  bool         // by PREPARE
	unnamed  bool         // of a simple query, remembered by its text: nobody knows its columns
	declared []types.Type // by the client; zero where it said nothing
	params   []types.Type
	query    *plan.Query // of statements with a plan
	version  uint64      // of the catalog that query was bound against
	means    *meaning    // the settings that it was bound under
	hidden   bool
	// role and roles are who it was bound for, which decides what names mean.
	role  string
	roles *access.Roles
}

// portal is a statement with its parameters, and its rows once it runs.
type portal struct {
	prepared *prepared
	params   []types.Datum
	formats  []pgwire.Format
	running  *running
	finished bool
	cursor   *cursor // of a portal that DECLARE made, or that FETCH named
	created  time.Time
}

// Parse implements pgwire.Session.
func (s *Session) Parse(_ context.Context, name, sql string, paramTypes []uint32) error {
	if name != "" && s.prepared[name] != nil {
		return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", name)
	}
	if len(s.prepared) >= maxPrepared {
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "more than %d prepared statements in a session", maxPrepared).WithHint("Close statements that are no longer used.")
	}
	if name == "" {
		if p := s.recent.find(sql, paramTypes); p != nil && (!s.txn.failed() || endsTransaction(p.stmt)) {
			if s.holds(p) {
				s.prepared[name] = p
				return nil
			}
			s.recent.forget(p) // it is another statement now, with columns of its own
		}
	}
	statements, err := parse.Parse(sql)
	if err != nil {
		return err
	}
	if len(statements) > 1 {
		return sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	p := &prepared{source: sql, sent: paramTypes, created: s.now()}
	for _, t := range paramTypes {
		p.declared = append(p.declared, types.Of(types.OID(t)))
	}
	if len(statements) == 1 {
		p.stmt = statements[0].Statement
		for len(p.declared) < statements[0].Params {
			p.declared = append(p.declared, types.Type{})
		}
		if s.txn.failed() && !endsTransaction(p.stmt) {
			return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
		}
		if err := s.plan(p); err != nil {
			return err
		}
	}
	s.prepared[name] = p
	if name == "" {
		s.recent.add(p)
	}
	return nil
}

// plan binds a prepared statement, again if the catalog changed since.
func (s *Session) plan(p *prepared) error {
	if s.holds(p) {
		return nil
	}
	version, hidden := s.snapshot().Version, !s.settings.on("envelope")
	target := p.stmt
	switch x := target.(type) {
	case *ast.Explain:
		target = x.Stmt
	case *ast.DeclareCursor:
		target = x.Query
	}
	params := slices.Clone(p.declared)
	switch target.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		q, err := bind.Bind(s.bindEnv(s.exprContext()), target, p.declared)
		if err != nil {
			return err
		}
		if p.query != nil && !p.unnamed && !sameResult(p.query.Output, q.Output) { // clients know the columns, and prepare it again
			return sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
		}
		params = q.Params
		if target == p.stmt {
			p.query, p.version, p.hidden, p.means = q, version, hidden, s.settings.meaning()
			p.role, p.roles = s.identity().role, s.identity().roles
		}
	}
	p.params = params
	for i, t := range p.params {
		if t.OID == 0 || t.OID == types.Unknown {
			p.params[i] = types.Of(types.Text)
		}
	}
	return nil
}

// holds reports whether a statement has a plan that is still right.
func (s *Session) holds(p *prepared) bool {
	return p.query != nil && p.version == s.snapshot().Version && p.hidden == !s.settings.on("envelope") && s.sameNames(p) && s.sameRole(p)
}

// sameResult reports whether rows of two results look the same to a client.
func sameResult(a, b []types.Column) bool {
	return slices.EqualFunc(a, b, func(x, y types.Column) bool { return x.Name == y.Name && x.Type == y.Type })
}

// sameNames reports whether the names and literals of a statement mean what they
// meant when it was bound.
func (s *Session) sameNames(p *prepared) bool {
	now := s.settings.meaning()
	return now == p.means || now.location == p.means.location && slices.Equal(now.searchPath, p.means.searchPath)
}

// sameRole reports whether a statement runs as it was bound for.
func (s *Session) sameRole(p *prepared) bool {
	now := s.identity()
	return now.role == p.role && now.roles == p.roles
}

func (s *Session) lookupPrepared(name string) (*prepared, error) {
	p := s.prepared[name]
	if p == nil {
		if name == "" {
			return nil, sqlerr.New(sqlerr.InvalidSQLStatementName, "unnamed prepared statement does not exist")
		}
		return nil, sqlerr.New(sqlerr.InvalidSQLStatementName, "prepared statement %q does not exist", name)
	}
	return p, nil
}

// DescribeStatement implements pgwire.Session.
func (s *Session) DescribeStatement(_ context.Context, name string) ([]types.OID, []pgwire.Column, error) {
	p, err := s.lookupPrepared(name)
	if err != nil {
		return nil, nil, err
	}
	oids := make([]types.OID, len(p.params))
	for i, t := range p.params {
		oids[i] = t.OID
	}
	cols, err := s.resultColumns(p)
	return oids, describe(cols, origins(p.query), nil), err
}

func describe(cols []types.Column, from []plan.Origin, formats []pgwire.Format) []pgwire.Column {
	if cols == nil {
		return nil
	}
	return wireColumns(cols, from, formats)
}

// origins are where the columns of a statement's result come from, as far as that
// is known.
func origins(q *plan.Query) []plan.Origin {
	if q == nil {
		return nil
	}
	return q.Origins
}

// resultColumns returns the columns of a statement's result, nil if it has none.
func (s *Session) resultColumns(p *prepared) ([]types.Column, error) {
	switch x := p.stmt.(type) {
	case nil:
		return nil, nil
	case *ast.Explain:
		t := types.Of(types.Text)
		if x.Format == "json" {
			t = types.Of(types.JSON)
		}
		return []types.Column{{Name: "QUERY PLAN", Type: t}}, nil
	case *ast.Show:
		return s.showColumns(x)
	case *ast.Fetch:
		if x.Move {
			return nil, nil
		}
		c, err := s.cursor(x.Cursor)
		if err != nil {
			return nil, err
		}
		return c.prepared.query.Output, nil
	case *ast.Execute:
		inner, err := s.lookupPrepared(x.Name)
		if err != nil {
			return nil, err
		}
		return s.resultColumns(inner)
	}
	if p.query == nil {
		return nil, nil
	}
	if _, modifies := commandOf(p.stmt); modifies && len(p.query.Output) == 0 {
		return nil, nil
	}
	if p.query.Output == nil {
		return []types.Column{}, nil
	}
	return p.query.Output, nil
}

func (s *Session) showColumns(x *ast.Show) ([]types.Column, error) {
	switch x.Kind {
	case ast.ShowSetting:
		return textColumns([]string{shownName(x.Setting)}), nil
	case ast.ShowAll:
		return textColumns([]string{"name", "setting", "description"}), nil
	}
	sql, err := s.showQuery(x)
	if err != nil {
		return nil, err
	}
	sel, err := parseSelect(sql)
	if err != nil {
		return nil, err
	}
	q, err := bind.Bind(s.bindEnv(s.exprContext()), sel, nil)
	if err != nil {
		return nil, err
	}
	return q.Output, nil
}

// Bind implements pgwire.Session.
func (s *Session) Bind(_ context.Context, b pgwire.Bind) error {
	p, err := s.lookupPrepared(b.Statement)
	if err != nil {
		return err
	}
	if s.txn.failed() && (p.stmt == nil || !endsTransaction(p.stmt)) {
		return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	if b.Portal != "" && s.portals[b.Portal] != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor %q already exists", b.Portal)
	}
	if p.stmt != nil {
		if err := s.plan(p); err != nil {
			return err
		}
	}
	if len(b.Params) != len(p.params) {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d", len(b.Params), b.Statement, len(p.params))
	}
	if err := checkFormats(b.ParamFormats, len(b.Params), "parameter"); err != nil {
		return err
	}
	cols, err := s.resultColumns(p)
	if err != nil {
		return err
	}
	if err := checkFormats(b.ResultFormats, len(cols), "result"); err != nil {
		return err
	}
	params, err := s.readParams(b, p.params)
	if err != nil {
		return err
	}
	return s.addPortal(b.Portal, &portal{prepared: p, params: params, formats: b.ResultFormats, created: s.now()})
}

func (s *Session) addPortal(name string, p *portal) error {
	s.dropPortal(name)
	if len(s.portals) >= maxPortals {
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "more than %d open portals in a session", maxPortals).WithHint("Close portals that are no longer used.")
	}
	s.portals[name] = p
	return nil
}

// readParams decodes parameter values.
func (s *Session) readParams(b pgwire.Bind, want []types.Type) ([]types.Datum, error) {
	if len(want) == 0 {
		return nil, nil
	}
	out := make([]types.Datum, len(want))
	text := s.textOptions()
	for i, raw := range b.Params {
		var err error
		switch {
		case raw == nil:
			out[i] = types.NullOf(want[i])
		case formatOf(b.ParamFormats, i) == pgwire.BinaryFormat:
			out[i], err = types.ParseBinary(want[i], raw)
		case !utf8.Valid(raw):
			err = types.CheckUTF8(raw)
		default:
			out[i], err = types.Parse(want[i], raw, text)
		}
		if err != nil {
			return nil, sqlerr.From(err).InContext("parameter $%d", i+1)
		}
	}
	return out, nil
}

// DescribePortal implements pgwire.Session.
func (s *Session) DescribePortal(_ context.Context, name string) ([]pgwire.Column, error) {
	p := s.portals[name]
	if p == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal %q does not exist", name)
	}
	cols, err := s.resultColumns(p.prepared)
	return describe(cols, origins(p.prepared.query), p.formats), err
}

// Execute implements pgwire.Session.
func (s *Session) Execute(ctx context.Context, name string, maxRows int, w *pgwire.Writer) error {
	p := s.portals[name]
	if p == nil {
		return sqlerr.New(sqlerr.InvalidCursorName, "portal %q does not exist", name)
	}
	s.busy(p.prepared.source)
	w.Silent = s.silent
	out := &sink{writer: w, text: s.textOptions(), extended: true, formats: p.formats}
	if p.prepared.stmt == nil {
		return w.Empty()
	}
	s.beginSequence()
	if _, ok := p.prepared.stmt.(*ast.Select); !ok {
		if p.finished {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "portal %q cannot be run", name)
		}
		p.finished = true
		return s.run(ctx, p.prepared.stmt, p.params, out)
	}
	return s.executeRows(ctx, p, maxRows, out)
}

// executeRows runs a portal that yields rows, or goes on with it.
func (s *Session) executeRows(ctx context.Context, p *portal, maxRows int, out *sink) error {
	if s.txn.failed() {
		return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	if p.finished {
		return out.complete("SELECT 0")
	}
	runCtx, cancel := s.statementContext(ctx)
	defer cancel()
	s.statement = runCtx
	ended := false
	defer s.orGivenUp(&ended)
	more, err := s.advance(runCtx, p, maxRows, out)
	if err == nil && more {
		ended = true
		return out.writer.Suspended()
	}
	p.finished = true
	err = errors.Join(err, p.stop())
	if err == nil {
		if err = s.endStatement(runCtx, out); err == nil {
			ended = true
			return out.complete("SELECT %d", out.rows)
		}
	}
	ended = true
	s.abandonStatement()
	s.engine.Failures.Add(1)
	s.fail()
	return clientError(runCtx, err)
}

// advance starts a portal if it does not run yet, and sends rows.
func (s *Session) advance(ctx context.Context, p *portal, maxRows int, out *sink) (more bool, err error) {
	if p.running == nil {
		s.engine.Statements.Add(1)
		p.running, err = replanned(func() (*running, error) {
			if err := s.plan(p.prepared); err != nil {
				return nil, err
			}
			if p.prepared.query.Writes && !s.writesTemporary(p.prepared.query.Access) {
				if err := s.writable("SELECT"); err != nil {
					return nil, err
				}
			}
			return s.startQuery(ctx, p.prepared.query, p.params, false)
		})
		if err != nil {
			return false, err
		}
	}
	if err := out.begin(p.running.columns(), origins(p.running.query)); err != nil {
		return false, err
	}
	return p.running.send(ctx, out, maxRows)
}

// stop ends a portal's rows.
func (p *portal) stop() error {
	if p.running == nil {
		return nil
	}
	r := p.running
	p.running = nil
	return r.close()
}

// CloseStatement implements pgwire.Session.
func (s *Session) CloseStatement(name string) { delete(s.prepared, name) }

// ClosePortal implements pgwire.Session.
func (s *Session) ClosePortal(name string) { s.dropPortal(name) }

func (s *Session) dropPortal(name string) {
	if p := s.portals[name]; p != nil {
		_ = p.stop() // what it read is dropped
		if p.cursor != nil {
			s.kept -= p.cursor.bytes
		}
		delete(s.portals, name)
	}
}

// closePortals ends all portals but the cursors that outlive their transaction.
func (s *Session) closePortals() {
	for name, p := range s.portals {
		if p.cursor == nil || !p.cursor.held {
			s.dropPortal(name)
		}
	}
}

// closeAll ends all portals.
func (s *Session) closeAll() {
	for name := range s.portals {
		s.dropPortal(name)
	}
}

// preparedStatement runs PREPARE, EXECUTE and DEALLOCATE.
func (s *Session) preparedStatement(ctx context.Context, stmt ast.Statement, out *sink) error {
	switch x := stmt.(type) {
	case *ast.Prepare:
		if s.prepared[x.Name] != nil {
			return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", x.Name).At(x.Position())
		}
		p := &prepared{stmt: x.Stmt, source: ast.String(x), created: s.now(), fromSQL: true}
		for _, t := range x.Types {
			typ, err := bind.TypeOf(s.bindEnv(s.exprContext()), t)
			if err != nil {
				return err
			}
			p.declared = append(p.declared, typ)
		}
		if err := s.plan(p); err != nil {
			return err
		}
		s.prepared[x.Name] = p
		return out.complete("PREPARE")
	case *ast.Execute:
		p, params, err := s.executed(x)
		if err != nil {
			return err
		}
		return s.dispatch(ctx, p.stmt, params, out)
	case *ast.Deallocate:
		if x.Name == "" {
			s.prepared = map[string]*prepared{}
			return out.complete("DEALLOCATE ALL")
		}
		if _, err := s.lookupPrepared(x.Name); err != nil {
			return err
		}
		delete(s.prepared, x.Name)
		return out.complete("DEALLOCATE")
	}
	return nil
}

// executed returns what an EXECUTE runs, and its parameters.
func (s *Session) executed(x *ast.Execute) (*prepared, []types.Datum, error) {
	p, err := s.lookupPrepared(x.Name)
	if err != nil {
		return nil, nil, err
	}
	planned := s.plan(p)
	if planned != nil && len(x.Args) == len(p.params) { // else the number is what is wrong
		return nil, nil, planned
	}
	if len(x.Args) != len(p.params) {
		return nil, nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement %q", x.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(x.Args))
	}
	params, err := s.constants(x.Args, p.params)
	return p, params, err
}
