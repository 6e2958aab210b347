package session

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxActivityQuery is how much of a statement's text pg_stat_activity shows.
const maxActivityQuery = 1024

// Activity is what other sessions see of a session in pg_stat_activity.
type Activity struct {
	Database, User, Application, RemoteAddr string
	Role                                    string // that User stands for
	ProcessID                               uint32
	Encryption                              *pgwire.Encryption
	State                                   string // as PostgreSQL names it
	Query                                   string // the one that runs, or the last one
	// Zero where there is none.
	BackendStart, TransactionStart, QueryStart, StateChange time.Time
}

// activity is a session's own, which other sessions read.
type activity struct {
	mu sync.Mutex
	a  Activity
}

// Activity returns what the session does.
func (s *Session) Activity() Activity {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	return s.activity.a
}

// role returns the role of who the session is of.
func (a *activity) role() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.a.Role
}

// busy notes that a statement runs.
func (s *Session) busy(sql string) {
	if len(sql) > maxActivityQuery {
		end := maxActivityQuery
		for !utf8.RuneStart(sql[end]) {
			end--
		}
		sql = string([]byte(sql[:end])) // the rest of a long text is not kept alive
	}
	now := s.now()
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	a := &s.activity.a
	a.State, a.Query, a.QueryStart, a.StateChange = "active", sql, now, now
	if s.txn.open() {
		a.TransactionStart = s.txn.began
	} else {
		a.TransactionStart = now
	}
}

// idle notes that the session waits for its client.
func (s *Session) idle() {
	now := s.now()
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	a := &s.activity.a
	a.StateChange = now
	switch {
	case s.txn.failed():
		a.State = "idle in transaction (aborted)"
	case s.txn.open():
		a.State, a.TransactionStart = "idle in transaction", s.txn.began
	default:
		a.State, a.TransactionStart = "idle", time.Time{}
	}
}

var (
	errIdleInTransaction = sqlerr.New(sqlerr.IdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
	errIdleSession       = sqlerr.New(sqlerr.IdleSessionTimeout, "terminating connection due to idle-session timeout")
)

// IdleLimit implements pgwire.Session.
func (s *Session) IdleLimit() (time.Duration, *sqlerr.Error) {
	if s.txn.open() {
		return s.settings.meaning().idleInTransaction, errIdleInTransaction
	}
	return s.settings.meaning().idleSession, errIdleSession
}

// showApplication notes a new application_name.
func (s *Session) showApplication() {
	name := s.settings.values["application_name"]
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	s.activity.a.Application = name
}

// directory is the sessions of a server by their numbers.
type directory struct {
	mu       sync.Mutex
	sessions map[uint32]*Session
	left     chan struct{} // closed when a session leaves; nil where nobody waits
}

// add adds a session, unless its database takes none any more.
func (d *directory) add(s *Session) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.tenant.shut {
		return noDatabase(s.tenant)
	}
	if d.sessions == nil {
		d.sessions = map[uint32]*Session{}
	}
	d.sessions[s.startup.ProcessID] = s
	return nil
}

func noDatabase(t *Tenant) error {
	return sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", t.Database.Name)
}

func (d *directory) remove(s *Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[s.startup.ProcessID] != s {
		return
	}
	delete(d.sessions, s.startup.ProcessID)
	if d.left != nil {
		close(d.left)
		d.left = nil
	}
}

// shut makes a database take no sessions any more, if it has none. Otherwise it returns
// those that it has, and what is closed when one of them or of another database leaves.
// It fails where the database was shut before.
func (d *directory) shut(t *Tenant) ([]*Session, <-chan struct{}, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.shut {
		return nil, nil, noDatabase(t)
	}
	var out []*Session
	for _, s := range d.sessions {
		if s.tenant == t {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.shut = true
		return nil, nil, nil
	}
	if d.left == nil {
		d.left = make(chan struct{})
	}
	return out, d.left, nil
}

// reopen undoes shut.
func (d *directory) reopen(t *Tenant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.shut = false
}

func (d *directory) get(pid uint32) *Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sessions[pid]
}

// Sessions returns what all sessions of the server do, by their numbers.
func (e *Engine) Sessions() []Activity {
	e.directory.mu.Lock()
	list := make([]*Session, 0, len(e.directory.sessions))
	for _, s := range e.directory.sessions {
		list = append(list, s)
	}
	e.directory.mu.Unlock()
	out := make([]Activity, len(list))
	for i, s := range list {
		out[i] = s.Activity()
	}
	slices.SortFunc(out, func(a, b Activity) int { return cmp.Compare(a.ProcessID, b.ProcessID) })
	return out
}

// Cancel implements expr.Sessions: pg_cancel_backend().
func (s *Session) Cancel(pid int64) (bool, error) {
	return s.signal(pid, "cancel", "query is being canceled", func(c pgwire.Client) {
		c.Cancel(sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request"))
	})
}

// Terminate implements expr.Sessions: pg_terminate_backend().
func (s *Session) Terminate(pid int64) (bool, error) {
	return s.signal(pid, "terminate", "process is being terminated", pgwire.Client.Terminate)
}

func (s *Session) signal(pid int64, verb, what string, send func(pgwire.Client)) (bool, error) {
	other := s.engine.directory.get(uint32(pid))
	if other == nil || int64(uint32(pid)) != pid || other.startup.Client == nil {
		return false, nil
	}
	who, role := s.identity(), other.activity.role()
	switch {
	case who.superuser:
	case who.roles.Superuser(role):
		object := map[string]string{"cancel": "query", "terminate": "process"}[verb]
		return false, sqlerr.New(sqlerr.InsufficientPrivilege, "must be a superuser to %s superuser %s", verb, object)
	case !who.roles.HasRightsOf(who.role, role):
		return false, sqlerr.New(sqlerr.InsufficientPrivilege, "must be a member of the role whose %s or member of pg_signal_backend", what)
	}
	send(other.startup.Client)
	return true, nil
}

// Started implements expr.Sessions: pg_postmaster_start_time().
func (s *Session) Started() time.Time { return s.engine.Started }

// CursorInfo is a row of pg_cursors.
type CursorInfo struct {
	Name, Statement         string
	Hold, Binary, Scrolling bool
	Created                 time.Time
}

// Cursors returns the session's cursors and named portals, by name.
func (s *Session) Cursors() []CursorInfo {
	var out []CursorInfo
	for _, name := range slices.Sorted(maps.Keys(s.portals)) {
		p := s.portals[name]
		switch {
		case p.cursor != nil && p.cursor.declared != nil:
			x := p.cursor.declared
			out = append(out, CursorInfo{
				Name: name, Statement: ast.String(x), Hold: x.Hold, Binary: x.Binary, Scrolling: x.Scroll == ast.Yes, Created: p.cursor.created,
			})
		case name != "":
			out = append(out, CursorInfo{Name: name, Statement: p.prepared.source, Created: p.created})
		}
	}
	return out
}

// PreparedInfo is a row of pg_prepared_statements.
type PreparedInfo struct {
	Name, Statement string
	Created         time.Time
	Types           []types.OID
	FromSQL         bool
}

// PreparedStatements returns the session's named prepared statements, by name.
func (s *Session) PreparedStatements() []PreparedInfo {
	var out []PreparedInfo
	for _, name := range slices.Sorted(maps.Keys(s.prepared)) {
		if name == "" {
			continue
		}
		p := s.prepared[name]
		info := PreparedInfo{Name: name, Statement: p.source, Created: p.created, FromSQL: p.fromSQL}
		for _, t := range p.params {
			info.Types = append(info.Types, t.OID)
		}
		out = append(out, info)
	}
	return out
}
