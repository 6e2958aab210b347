package session

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/stream/ingest"
)

// maxSavepoints bounds the savepoints that a transaction has open at a time.
const maxSavepoints = 10_000

// savepoint is what ROLLBACK TO goes back to: how far everything was that the
// transaction can undo.
type savepoint struct {
	name     string
	tables   tablestore.Mark // of the transaction on the reference tables
	catalog  int             // mark of that on the catalog
	effects  int
	streams  []ingest.Mark
	settings int
	ddl      int
	listens  int
	sent     int
	advisory int
	portals  map[string]*portal
}

// savepointStatement runs SAVEPOINT, RELEASE and ROLLBACK TO.
func (s *Session) savepointStatement(t *ast.Transaction, out *sink) error {
	command := map[ast.TransactionKind]string{ast.SavepointTx: "SAVEPOINT", ast.ReleaseSavepoint: "RELEASE SAVEPOINT", ast.RollbackTo: "ROLLBACK TO SAVEPOINT"}[t.Kind]
	if !s.txn.open() {
		return sqlerr.New(sqlerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", command)
	}
	switch t.Kind {
	case ast.ReleaseSavepoint:
		n, err := s.findSavepoint(t)
		if err != nil {
			return err
		}
		s.txn.savepoints = s.txn.savepoints[:n]
		return out.complete("RELEASE")
	case ast.RollbackTo:
		if err := s.rollbackTo(t, out); err != nil {
			return err
		}
		return out.complete("ROLLBACK")
	default:
		if err := s.setSavepoint(t); err != nil {
			return err
		}
		return out.complete("SAVEPOINT")
	}
}

func (s *Session) setSavepoint(t *ast.Transaction) error {
	if len(s.txn.savepoints) == maxSavepoints {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "more than %d savepoints in a transaction", maxSavepoints).
			WithHint("Release savepoints that are no longer needed.").At(t.Position())
	}
	p := savepoint{name: t.Name, tables: s.tx().Savepoint(), settings: s.settings.mark(), ddl: len(s.txn.ddl)}
	p.advisory, p.catalog, p.effects = len(s.txn.advisory), s.catalog().Savepoint(), len(s.txn.effects)
	p.listens, p.sent = len(s.txn.messages.listens), len(s.txn.messages.sent)
	for _, a := range s.txn.order {
		p.streams = append(p.streams, a.Mark())
	}
	if len(s.portals) > 0 {
		p.portals = map[string]*portal{}
		for name, c := range s.portals {
			p.portals[name] = c
		}
	}
	s.txn.savepoints = append(s.txn.savepoints, p)
	return nil
}

// findSavepoint returns the place of the innermost savepoint with the name.
func (s *Session) findSavepoint(t *ast.Transaction) (int, error) {
	for n, p := range slices.Backward(s.txn.savepoints) {
		if p.name == t.Name {
			return n, nil
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint %q does not exist", t.Name)
}

// rollbackTo undoes what was done since a savepoint, which stays. A failed block
// can be used again.
func (s *Session) rollbackTo(t *ast.Transaction, out *sink) error {
	n, err := s.findSavepoint(t)
	if err != nil {
		return err
	}
	p := s.txn.savepoints[n]
	s.txn.savepoints = s.txn.savepoints[:n+1]
	for name, c := range s.portals {
		if p.portals[name] != c { // opened since
			s.dropPortal(name)
		}
	}
	if err := s.tx().RollbackTo(p.tables); err != nil {
		return err
	}
	s.catalog().RollbackTo(p.catalog)
	s.txn.effects = s.txn.effects[:p.effects]
	for i, a := range s.txn.order {
		if i < len(p.streams) {
			a.RollbackTo(p.streams[i])
		} else {
			a.Rollback()
			delete(s.txn.appenders, a.Stream().ID)
		}
	}
	s.txn.order = s.txn.order[:len(p.streams)]
	s.freeAll(s.txn.advisory[p.advisory:])
	s.txn.advisory = s.txn.advisory[:p.advisory]
	m := &s.txn.messages
	m.listens, m.sent = m.listens[:p.listens], m.sent[:p.sent]
	s.settings.rollbackTo(p.settings)
	s.txn.status = 'T'
	return s.warnAboutDDL(out, s.txn.ddl[p.ddl:])
}
