package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/ingest"
)

// maxBlockBytes bounds the stream rows that a transaction block holds.
const maxBlockBytes = 64 << 20

// How long an acknowledged statement waits at most to learn what the partitions made
// of its rows, for its NOTICE. A long one waits in proportion to its rows: it took
// longer anyway, and they are applied while it sends.
const (
	applyWait       = 4 * time.Millisecond
	applyWaitRows   = 10_000 // up to so many rows no longer than that
	applyWaitPerRow = 10 * time.Microsecond
	applyWaitMost   = 5 * time.Second
)

// outcomeWait is how long a statement of this many rows waits.
func outcomeWait(rows int64) time.Duration {
	return min(applyWait+time.Duration(max(rows-applyWaitRows, 0))*applyWaitPerRow, applyWaitMost)
}

// transaction is a session's transaction: a block between BEGIN and COMMIT, the
// statements of one query message or up to a Sync, or one statement.
type transaction struct {
	status    byte // 0 outside of a block, 'T' inside, 'E' failed
	began     time.Time
	implicit  bool // outside of a block, and more statements may belong to it
	tables    *tablestore.Tx
	catalog   *store.Tx
	effects   []func(context.Context) error // after its commit
	appenders map[id.Relation]*ingest.Appender
	order     []*ingest.Appender
	ddl       []string // took effect at once inside the block, and is not undone by ROLLBACK

	savepoints []savepoint
	messages   messages
	advisory   []hold // until the end of the transaction
}

func (t *transaction) open() bool   { return t.status != 0 }
func (t *transaction) failed() bool { return t.status == 'E' }

// fail marks a block as failed. One without savepoints has nothing to go back to, so it
// gives up what it wrote and its locks at once: its client may be long in saying ROLLBACK.
func (s *Session) fail() {
	t := &s.txn
	if t.status != 'T' {
		return
	}
	t.status = 'E'
	if len(t.savepoints) > 0 {
		return
	}
	left := transaction{status: 'E', began: t.began, ddl: t.ddl}
	s.rollback()
	s.txn = left
}

// empty reports whether the transaction did nothing that COMMIT has to do.
func (t *transaction) empty() bool {
	return len(t.order) == 0 && (t.tables == nil || !t.tables.Writing()) && len(t.messages.listens) == 0 && len(t.messages.sent) == 0
}

// rollback drops what is not durable.
func (t *transaction) rollback() {
	if t.catalog != nil {
		t.catalog.Rollback()
	}
	if t.tables != nil {
		t.tables.Rollback()
	}
	for _, a := range t.order {
		a.Rollback()
	}
	*t = transaction{}
}

// rollback ends the transaction and drops what is not durable.
func (s *Session) rollback() {
	s.freeAll(s.txn.advisory)
	s.txn.rollback()
}

// TransactionStatus implements pgwire.Session.
func (s *Session) TransactionStatus() byte {
	if s.txn.status == 0 {
		return 'I'
	}
	return s.txn.status
}

// Sync implements pgwire.Session.
func (s *Session) Sync(ctx context.Context, failed bool, w *pgwire.Writer) error {
	w.Silent = s.silent
	if failed { // also by a message that the session was not shown
		s.fail()
	}
	err := s.endSequence(ctx, failed, &sink{writer: w, extended: true})
	if !s.txn.open() {
		s.closePortals()
	}
	s.idle()
	return err
}

// beginSequence makes the next statement one of several that are durable together.
func (s *Session) beginSequence() {
	if !s.txn.open() && !s.txn.implicit {
		s.txn.implicit, s.txn.began = true, s.now()
	}
}

// endSequence ends what beginSequence began, unless the statements opened a block.
func (s *Session) endSequence(ctx context.Context, failed bool, out *sink) error {
	if s.txn.open() || !s.txn.implicit {
		return nil
	}
	if failed {
		s.rollback()
		return nil
	}
	return clientError(ctx, s.commit(ctx, out))
}

// tx returns the transaction on the reference tables.
func (s *Session) tx() *tablestore.Tx {
	if s.txn.tables == nil {
		s.txn.tables = s.tenant.Tables.Begin()
		s.txn.tables.Compute = s.compute
	}
	return s.txn.tables
}

// beginReading begins a statement that reads these storages: at a moment of its own, or at the
// transaction's.
func (s *Session) beginReading(storages []id.Relation) (*tablestore.Statement, error) {
	tx, level := s.tx(), s.settings.values["transaction_isolation"]
	tx.Repeatable = s.txn.open() && (level == "repeatable read" || level == "serializable")
	return tx.Statement(storages...)
}

// appender returns where rows for a stream are collected.
func (s *Session) appender(rel *catalog.Relation) (*ingest.Appender, error) {
	if a := s.txn.appenders[rel.ID]; a != nil {
		return a, nil
	}
	in, err := s.tenant.Streams.Ingest(rel.ID)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "stream %q does not exist any more", rel.Name)
	}
	a := in.NewAppender()
	if s.txn.open() {
		a.HoldUntilCommit(maxBlockBytes)
	}
	if s.txn.appenders == nil {
		s.txn.appenders = map[id.Relation]*ingest.Appender{}
	}
	s.txn.appenders[rel.ID] = a
	s.txn.order = append(s.txn.order, a)
	return a, nil
}

// streams implements exec.Streams for the session.
type streams struct{ s *Session }

// Append implements exec.Streams.
func (x streams) Append(ctx context.Context, rel *catalog.Relation, rows *types.Batch) (int64, error) {
	if err := x.s.writable("INSERT"); err != nil {
		return 0, err
	}
	a, err := x.s.appender(rel)
	if err != nil {
		return 0, err
	}
	accepted, err := a.Add(ctx, rows)
	return int64(accepted), err
}

// writable refuses writes in a read-only transaction.
func (s *Session) writable(command string) error {
	if s.settings.on("transaction_read_only") {
		return sqlerr.New(sqlerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", command)
	}
	return nil
}

// endStatement makes a statement that is its own transaction durable.
func (s *Session) endStatement(ctx context.Context, out *sink) error {
	if s.txn.open() || s.txn.implicit {
		return nil
	}
	return s.commit(ctx, out)
}

// abandonStatement drops what a failed statement left, outside of a block, and what
// those before it left that were to be durable with it.
func (s *Session) abandonStatement() {
	if !s.txn.open() {
		s.rollback()
	}
}

// commit makes the transaction durable: the rows of all streams together, then the
// tables'.
func (s *Session) commit(ctx context.Context, out *sink) error {
	if err := s.beforeCommit(ctx, out); err != nil {
		s.rollback()
		return err
	}
	t := s.txn
	s.txn = transaction{}
	defer s.freeAll(t.advisory)
	if t.empty() {
		if t.tables != nil {
			t.tables.Rollback()
		}
		return nil
	}
	ended := false
	defer func() {
		if !ended { // also by a panic: others must not wait for its locks
			t.rollback()
		}
	}()
	if err := s.tenant.channels.room(t.messages.sent); err != nil {
		return err
	}
	rows := int64(0)
	for _, a := range t.order {
		rows += a.Rows()
	}
	wait := make(chan struct{})
	stop := time.AfterFunc(outcomeWait(rows), func() { close(wait) })
	defer stop.Stop()
	results, err := ingest.Commit(ctx, t.order, wait)
	if err == nil {
		err = t.commitTables()
	}
	if err != nil {
		t.order = nil // they are done
		return err
	}
	ended = true
	s.deliver(t.messages)
	for _, effect := range t.effects {
		if err := effect(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	for i, a := range t.order {
		if err := noticeOutcome(out, a.Stream(), results[i]); err != nil {
			return err
		}
	}
	return nil
}

// noticeOutcome tells the client what became of its rows, where it is not simply
// that all were counted.
func noticeOutcome(out *sink, stream *catalog.Relation, r ingest.Result) error {
	text := outcomeText(stream.Name, r)
	if text == "" {
		return nil
	}
	return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "%s", text))
}

// outcomeText says what became of the rows of a statement: those that the stream took,
// which its tag counts, and those set aside add up to the rows that were sent; of
// those it took, what the partitions refused, as far as is known. It is empty if all
// rows were counted.
func outcomeText(stream string, r ingest.Result) string {
	var parts []string
	add := func(n int64, one, more string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, more))
		}
	}
	o := r.Outcome
	refused := fmt.Sprintf("rejected (see %s__rejected)", stream)
	late := fmt.Sprintf("late for a view (see %s__late)", stream)
	add(int64(o.Rejected), refused, refused)
	add(int64(o.Duplicates), "duplicate not counted again", "duplicates not counted again")
	add(int64(o.Late), late, late)
	add(int64(o.Errors), "failed in a view (see its __errors)", "failed in a view (see its __errors)")
	if unknown := r.Durable - int64(o.Admitted+o.Duplicates+o.Rejected); !r.Applied && r.Durable > applyWaitRows && unknown > 0 {
		add(unknown, "not applied yet", "not applied yet")
	}
	taken := strings.Join(parts, ", ")
	sent := fmt.Sprintf("%d rows", r.Durable+r.Rejected)
	if r.Durable+r.Rejected == 1 {
		sent = "1 row"
	}
	switch {
	case r.Rejected == 0 && taken == "":
		return ""
	case r.Rejected == 0:
		return fmt.Sprintf("%s: of %s, %s", stream, sent, taken)
	case taken == "":
		return fmt.Sprintf("%s: of %s, %d taken, %d %s", stream, sent, r.Durable, r.Rejected, refused)
	default:
		return fmt.Sprintf("%s: of %s, %d taken, %d %s; of those taken, %s", stream, sent, r.Durable, r.Rejected, refused, taken)
	}
}

// transactionStatement runs BEGIN, COMMIT, ROLLBACK and SAVEPOINT.
func (s *Session) transactionStatement(ctx context.Context, t *ast.Transaction, out *sink) error {
	switch t.Kind {
	case ast.Begin, ast.StartTransaction:
		return s.begin(t, out)
	case ast.Commit:
		return s.endBlock(ctx, t, out, "COMMIT")
	case ast.Rollback:
		return s.endBlock(ctx, t, out, "ROLLBACK")
	default:
		return s.savepointStatement(t, out)
	}
}

func (s *Session) begin(t *ast.Transaction, out *sink) error {
	tag := "BEGIN"
	if t.Kind == ast.StartTransaction {
		tag = "START TRANSACTION"
	}
	if s.txn.open() {
		if err := out.writer.Notice("WARNING", sqlerr.New(sqlerr.ActiveSQLTransaction, "there is already a transaction in progress")); err != nil {
			return err
		}
		return out.complete("%s", tag)
	}
	if !s.txn.began.IsZero() { // the statements before it belong to the block
		s.txn.status, s.txn.implicit = 'T', false
	} else {
		s.txn = transaction{status: 'T', began: s.now()}
	}
	s.settings.beginTransaction()
	if err := s.setModes("transaction", t.Modes); err != nil {
		return err
	}
	return out.complete("%s", tag)
}

// setModes takes the modes of a transaction (prefix "transaction") or of the
// transactions to come ("default_transaction").
func (s *Session) setModes(prefix string, m ast.TransactionModes) error {
	if m.Isolation != "" {
		if err := s.settings.set(prefix+"_isolation", strings.ToLower(string(m.Isolation))); err != nil {
			return err
		}
	}
	for name, choice := range map[string]ast.Choice{"_read_only": m.ReadOnly, "_deferrable": m.Deferrable} {
		if choice == ast.Unset {
			continue
		}
		if err := s.settings.set(prefix+name, map[ast.Choice]string{ast.Yes: "on", ast.No: "off"}[choice]); err != nil {
			return err
		}
	}
	return nil
}

// endBlock runs COMMIT and ROLLBACK. The COMMIT of a failed block rolls back.
func (s *Session) endBlock(ctx context.Context, t *ast.Transaction, out *sink, tag string) error {
	if !s.txn.open() && t.Chain {
		return sqlerr.New(sqlerr.NoActiveSQLTransaction, "%s AND CHAIN can only be used in transaction blocks", tag)
	}
	if !s.txn.open() {
		if err := out.writer.Notice("WARNING", sqlerr.New(sqlerr.NoActiveSQLTransaction, "there is no transaction in progress")); err != nil {
			return err
		}
		if tag == "ROLLBACK" {
			s.rollback()
		} else if err := s.commit(ctx, out); err != nil {
			return err
		}
		return out.complete("%s", tag)
	}
	var err error
	if tag == "COMMIT" && !s.txn.failed() {
		if err = s.holdCursors(ctx, out); err == nil {
			err = s.beforeCommit(ctx, out)
		}
		if err != nil {
			s.abandonBlock()
			return err
		}
		s.closePortals()
		err = s.commit(ctx, out)
	} else {
		s.closePortals()
		tag = "ROLLBACK"
		err = s.warnAboutDDL(out, s.txn.ddl)
		s.rollback()
	}
	s.settings.endTransaction(tag == "ROLLBACK")
	if err != nil {
		return err
	}
	if t.Chain {
		s.txn = transaction{status: 'T', began: s.now()}
		s.settings.beginTransaction()
	}
	return out.complete("%s", tag)
}

// abandonBlock rolls back a block whose COMMIT failed before anything was durable.
func (s *Session) abandonBlock() {
	s.closePortals()
	s.rollback()
	s.settings.endTransaction(true)
}

// warnAboutDDL says what a rollback does not undo.
func (s *Session) warnAboutDDL(out *sink, ddl []string) error {
	if len(ddl) == 0 {
		return nil
	}
	return out.writer.Notice("WARNING", sqlerr.New(sqlerr.Warning, "what takes effect at once is not undone by ROLLBACK").
		WithDetail("Stays in effect: %s.", strings.Join(ddl, ", ")))
}
