package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/distsql/gather"
	"github.com/tallydb/tallydb/distsql/physical"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
)

// running is a query that runs: its rows, and the coverage they have.
type running struct {
	query     *plan.Query
	rows      *exec.Rows
	statement *gather.Statement
	tables    *tablestore.Statement
	settings  envelope.Settings
	batch     *types.Batch // rows from next on are still to be sent
	next      int
	kept      bool // in a materialized view, whose readers need not look at labels
	said      envelope.Said
	warned    map[string]bool // warnings that the client got
	done      bool
}

// maxReplans is how often a statement is planned again whose tables others alter.
const maxReplans = 10

// replanned calls start, which plans and starts a statement, again where what it was
// planned for was altered before it began (40001): it has read and written nothing.
func replanned(start func() (*running, error)) (*running, error) {
	for n := 0; ; n++ {
		r, err := start()
		if err == nil || n == maxReplans || sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
			return r, err
		}
	}
}

// start plans and starts a statement that yields or writes rows.
func (s *Session) start(ctx context.Context, stmt ast.Statement, params []types.Datum) (*running, error) {
	return replanned(func() (*running, error) { return s.startOnce(ctx, stmt, params) })
}

func (s *Session) startOnce(ctx context.Context, stmt ast.Statement, params []types.Datum) (*running, error) {
	if p := s.recent.of(stmt); p != nil && len(params) == 0 {
		if err := s.plan(p); err != nil {
			return nil, err
		}
		return s.startQuery(ctx, p.query, nil, false)
	}
	ec := s.exprContext()
	ec.Params = params
	declared := make([]types.Type, len(params))
	for i, p := range params {
		declared[i] = p.Type
	}
	q, err := bind.Bind(s.bindEnv(ec), stmt, declared)
	if err != nil {
		return nil, err
	}
	return s.startQuery(ctx, q, params, false)
}

// startQuery starts a bound statement.
func (s *Session) startQuery(ctx context.Context, q *plan.Query, params []types.Datum, measured bool) (*running, error) {
	if err := s.permitted(q.Access); err != nil {
		return nil, err
	}
	if err := s.populated(q); err != nil {
		return nil, err
	}
	ec := s.exprContext()
	ec.Params = params
	access := s.accessedBy(q)
	leaves := access.leaves
	settings := s.settings.meaning().envelope
	cfg := gather.Config{
		Transport: s.tenant.Transport, Settings: settings, Now: s.engine.Now, Counters: s.engine.Gather, Views: s.snapshot().ViewsOf,
		Together: leaves.Together, Memory: cmp.Or(s.engine.StatementMemory, exec.DefaultMemoryLimit),
	}
	if leaves.Count == 1 {
		cfg.Flights = s.engine.Flights
	}
	st, err := gather.Begin(ctx, cfg, leaves.Streams)
	if err != nil {
		return nil, err
	}
	env := &exec.Env{
		Expr: ec, Leaves: st, Streams: streams{s}, Seed: s.tenant.Database.SketchSeed(),
		Confidence: settings.Confidence, MemoryLimit: s.engine.StatementMemory, Inaccurate: st.Result().Combined,
	}
	if s.engine.Temporary != nil {
		env.Spill = s.engine.Temporary.NewSet(&s.temporary, s.settings.meaning().tempFileLimit)
	}
	if leaves.Count > 0 {
		// What is written from a partial result would lose its label, whatever the
		// session's consumer accepts.
		strict := settings
		strict.PartialResults = envelope.PartialError
		env.BeforeWrite = func(context.Context) error {
			if _, failure := st.Result().Verdict(strict, envelope.Said{Shown: true}); failure != nil {
				return failure
			}
			return nil
		}
	}
	if access.writes {
		if err := s.lockTables(ctx, q.Root); err != nil {
			st.Close()
			return nil, err
		}
	}
	if measured {
		env.Clock = s.engine.Now
	}
	tables, err := s.beginReading(access.storages)
	if err != nil {
		st.Close()
		return nil, err
	}
	env.Tables = tables
	rows, err := exec.Run(ctx, q, env)
	if err == nil {
		if err = s.unaltered(q); err != nil {
			err = errors.Join(err, rows.Close())
		}
	}
	if err != nil {
		st.Close()
		tables.Close()
		return nil, err
	}
	return &running{
		query: q, rows: rows, statement: st, tables: tables, settings: settings,
		said: envelope.Said{Shown: q.StatusShown},
	}, nil
}

// lockTables keeps other writers of tables away before a statement reads what it
// computes its writes from.
func (s *Session) lockTables(ctx context.Context, n plan.Node) error {
	if rules := writtenBy(n); rules != nil {
		tx := s.tx()
		tx.LockTimeout = s.settings.meaning().lockTimeout
		if err := tx.Lock(ctx); err != nil {
			return err
		}
		if !currentRules(s.snapshot(), rules, map[id.Relation]bool{}) {
			return errChanged(rules.Table.Name) // altered while this waited
		}
	}
	for _, c := range n.Children() {
		if err := s.lockTables(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// accessed is what a query reads and whether it writes.
type accessed struct {
	query    *plan.Query
	leaves   physical.Leaves
	storages []id.Relation // of tables
	writes   bool          // rows, of tables or streams
}

// accessedBy returns what a query reads. It is kept for the next execution of one that reads no
// stream, which is the one that it would be noticed of.
func (s *Session) accessedBy(q *plan.Query) accessed {
	if s.accessed.query == q {
		return s.accessed
	}
	r := accessed{query: q, leaves: physical.LeavesOf(q.Root)}
	r.add(q.Root)
	if r.leaves.Count == 0 {
		s.accessed = r
	}
	return r
}

func (r *accessed) add(n plan.Node) {
	switch x := n.(type) {
	case *plan.TableScan:
		r.storages = append(r.storages, x.Table.StorageID())
	case *plan.Modify, *plan.Merge:
		r.writes = true
	}
	for _, c := range n.Children() {
		r.add(c)
	}
}

// writtenBy returns the rules of the table that a node writes, nil where it writes none.
func writtenBy(n plan.Node) *plan.Rules {
	var rules *plan.Rules
	switch x := n.(type) {
	case *plan.Modify:
		rules = x.Rules
	case *plan.Merge:
		rules = x.Rules
	}
	if rules == nil || rules.Table.Table == nil {
		return nil
	}
	return rules
}

// unaltered fails where a table that a statement has begun to read was altered since it
// was bound: its rows may have other columns.
func (s *Session) unaltered(q *plan.Query) error {
	snapshot := s.snapshot()
	for _, r := range q.Relations {
		if now := snapshot.ByID(r.ID); now != nil && now.Table != nil && now.Version != r.Version {
			return errChanged(now.Name)
		}
	}
	return nil
}

// populated fails where a statement reads a materialized view that has no rows yet.
func (s *Session) populated(q *plan.Query) error {
	snapshot := s.snapshot()
	for _, r := range q.Relations {
		if now := snapshot.ByID(r.ID); now != nil && now.Materialized != nil && !now.Materialized.Populated {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "materialized view %q has not been populated", now.Name).
				WithHint("Use the REFRESH MATERIALIZED VIEW command.")
		}
	}
	return nil
}

// close ends the query.
func (r *running) close() error {
	r.statement.Close()
	defer r.tables.Close()
	return r.rows.Close()
}

// columns are those that the client sees.
func (r *running) columns() []types.Column { return r.query.Output }

// send sends at most limit rows (0: all) and reports whether there are more.
func (r *running) send(ctx context.Context, out *sink, limit int) (more bool, err error) {
	sent := 0
	for {
		ok, err := r.fill(ctx, out)
		if !ok || err != nil {
			return false, err
		}
		n := r.batch.Rows - r.next
		if limit > 0 {
			n = min(n, limit-sent)
		}
		if err := out.send(r.batch, r.next, r.next+n); err != nil {
			return false, err
		}
		r.next, sent = r.next+n, sent+n
		if limit > 0 && sent == limit {
			return true, nil
		}
	}
}

// fill makes sure that there are rows to send; false at the end.
func (r *running) fill(ctx context.Context, out *sink) (ok bool, err error) {
	for r.batch == nil || r.next == r.batch.Rows {
		r.next = 0
		if r.batch, err = r.read(ctx, out); err != nil {
			return false, err
		}
		if r.batch == nil {
			r.done = true
			return false, nil
		}
	}
	return true, nil
}

// read returns the next rows, nil at the end. The coverage is judged before the
// rows and at the end, so that nothing partial leaves unlabelled (L-7).
func (r *running) read(ctx context.Context, out *sink) (*types.Batch, error) {
	b, err := r.rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil {
		r.said.Ended = true
	} else {
		b = r.label(b)
	}
	return b, r.judge(out)
}

// statusOf is the status of rows of a quality, where that is not to be told from
// the events behind them.
var statusOf = map[envelope.Quality]string{
	envelope.Partial: plan.StatusPartial, envelope.Degraded: plan.StatusDegraded, envelope.Stale: plan.StatusStale,
}

// qualityOf is the quality that a status tells of.
func qualityOf(status []byte) envelope.Quality {
	switch string(status) {
	case plan.StatusPartial:
		return envelope.Partial
	case plan.StatusDegraded:
		return envelope.Degraded
	case plan.StatusStale:
		return envelope.Stale
	}
	return envelope.Good
}

// label makes rows that no event stands behind, such as those an outer join
// extended, as bad as the relation whose rows are missing from them, and notes what
// the rows say in output columns that are the unmodified _status. A NULL status of
// a result with which nothing is wrong stays.
func (r *running) label(b *types.Batch) *types.Batch {
	status, bad := statusOf[r.statement.Result().Quality()]
	for _, c := range r.query.StatusColumns {
		if bad && b.Cols[c].Nulls.Any() {
			b = withColumn(b, c, whereNull(b.Cols[c], b.Rows, status))
		}
		for i := range b.Rows {
			if !r.kept && !b.Cols[c].IsNull(i) {
				r.said.Worst = max(r.said.Worst, qualityOf(b.Cols[c].Bytes(i)))
			}
		}
	}
	return b
}

func withColumn(b *types.Batch, column int, v *types.Vector) *types.Batch {
	out := &types.Batch{Rows: b.Rows, Cols: slices.Clone(b.Cols)}
	out.Cols[column] = v
	return out
}

func whereNull(v *types.Vector, rows int, value string) *types.Vector {
	out := types.NewVector(v.Type, rows)
	for i := range rows {
		if v.IsNull(i) {
			out.AppendString(value)
		} else {
			out.AppendFrom(v, i)
		}
	}
	return out
}

// judge applies the fail-closed rules to the coverage known so far.
func (r *running) judge(out *sink) error {
	warnings, failure := r.statement.Result().Verdict(r.settings, r.said)
	if failure != nil {
		return failure
	}
	for _, w := range warnings {
		if r.warned[w.Message] {
			continue
		}
		if r.warned == nil {
			r.warned = map[string]bool{}
		}
		r.warned[w.Message] = true
		if err := out.writer.Notice("WARNING", w); err != nil {
			return err
		}
	}
	return nil
}

// runQuery runs a SELECT, VALUES, INSERT, UPDATE or DELETE to its end.
func (s *Session) runQuery(ctx context.Context, stmt ast.Statement, params []types.Datum, out *sink) (err error) {
	r, err := s.start(ctx, stmt, params)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }() // also of one that panics
	return s.finishQuery(ctx, r, stmt, out)
}

func (s *Session) finishQuery(ctx context.Context, r *running, stmt ast.Statement, out *sink) error {
	command, modifies := commandOf(stmt)
	if (modifies || r.query.Writes) && !s.writesTemporary(r.query.Access) {
		if err := s.writable(command); err != nil {
			return err
		}
	}
	if len(r.columns()) > 0 || !modifies {
		if err := out.begin(r.columns(), origins(r.query)); err != nil {
			return err
		}
	}
	if _, err := r.send(ctx, out, 0); err != nil {
		return err
	}
	if modifies || r.query.Writes {
		// The acknowledgement of a write outside of a block comes after it is durable.
		if err := s.endStatement(ctx, out); err != nil {
			return err
		}
	}
	if !modifies {
		return out.complete("SELECT %d", out.rows)
	}
	if command == "INSERT" {
		return out.complete("INSERT 0 %d", r.rows.Affected())
	}
	return out.complete("%s %d", command, r.rows.Affected())
}

// commandOf returns a statement's command tag and whether it writes.
func commandOf(stmt ast.Statement) (string, bool) {
	switch stmt.(type) {
	case *ast.Insert:
		return "INSERT", true
	case *ast.Update:
		return "UPDATE", true
	case *ast.Delete:
		return "DELETE", true
	case *ast.Merge:
		return "MERGE", true
	default:
		return "SELECT", false
	}
}

// explain runs EXPLAIN.
func (s *Session) explain(ctx context.Context, e *ast.Explain, params []types.Datum, out *sink) error {
	target := e.Stmt
	if x, ok := target.(*ast.Execute); ok {
		p, values, err := s.executed(x)
		if err != nil {
			return err
		}
		target, params = p.stmt, values
	}
	if x, ok := target.(*ast.CreateTable); ok {
		if e.Analyze {
			return sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN ANALYZE of CREATE TABLE AS is not supported").WithHint("EXPLAIN ANALYZE its query.")
		}
		if target = x.As; x.Execute != nil {
			p, values, err := s.executed(x.Execute)
			if err != nil {
				return err
			}
			target, params = p.stmt, values
		}
	}
	ec := s.exprContext()
	ec.Params = params
	declared := make([]types.Type, len(params))
	for i, p := range params {
		declared[i] = p.Type
	}
	q, err := bind.Bind(s.bindEnv(ec), target, declared)
	if err == nil {
		err = s.permitted(q.Access)
	}
	if err != nil {
		return err
	}
	var stats func(plan.Node) *plan.NodeStats
	var tail []string
	if e.Analyze {
		began := s.now()
		r, err := s.startQuery(ctx, q, params, true)
		if err != nil {
			return err
		}
		for {
			b, err := r.rows.Next(ctx)
			if err != nil {
				return errors.Join(err, r.close())
			}
			if b == nil {
				break
			}
		}
		stats = r.rows.Stats
		tail = coverageLines(r.statement.Result())
		tail = append(tail, executionTime(s.now().Sub(began)))
		defer func() { _ = r.close() }() // its rows were all read
	}
	var text string
	switch e.Format {
	case "json":
		text = plan.ExplainJSON(q.Root, stats)
		cols := []types.Column{{Name: "QUERY PLAN", Type: types.Of(types.JSON)}}
		b := types.NewBatch(&types.Schema{Columns: cols}, 1)
		b.Cols[0].AppendString(text)
		b.Rows = 1
		return out.table(cols, b, "EXPLAIN")
	case "", "text":
		text = plan.Explain(q.Root, stats)
	default:
		return sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN format %q is not supported", e.Format).WithHint("Use FORMAT TEXT or JSON.")
	}
	return out.texts("EXPLAIN", []string{"QUERY PLAN"}, lines(text, tail))
}
