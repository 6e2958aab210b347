package exec

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Source yields batches of rows.
type Source interface {
	// Next returns the next batch, or nil at the end. Batches are never empty.
	Next(ctx context.Context) (*types.Batch, error)
	// Close releases what the source holds. It may be called at any time, once.
	Close() error
}

// Leaves opens the scans whose rows come from partitions. Sources yield the
// columns that the scan asks for, and only rows that its filter admits; ec holds
// the parameters that filters and partition values read.
type Leaves interface {
	// OpenFold reads a continuous view.
	OpenFold(ctx context.Context, scan *plan.FoldScan, ec *expr.Context) (Source, error)
	OpenStream(ctx context.Context, scan *plan.StreamScan, ec *expr.Context) (Stream, error)
	OpenSide(ctx context.Context, scan *plan.SideScan, ec *expr.Context) (Source, error)
}

// Stream yields the events of a stream.
type Stream interface {
	Source
	// Envelope returns envelope columns, by number, of groups of all its events.
	Envelope(of *Groups, columns []int) []*types.Vector
}

// Groups are what the envelope of an ad-hoc fold's groups depends on.
type Groups struct {
	Fold   *plan.Fold
	Needed []bool // which of its aggregates are read
	Rows   int
	Starts *types.Vector   // of the windows of the groups; nil without windows
	Errors []*types.Vector // declared errors of the needed approximate aggregates
}

// Tables reads and writes reference tables.
type Tables interface {
	// Scan yields these columns of all rows; plan.RowID asks for the identity.
	Scan(ctx context.Context, table *catalog.Relation, columns []int) (Source, error)
	// Seek is a scan of the rows that have the keys of these in a unique index that is not
	// computed, each once. The columns of the keys are not NULL.
	Seek(ctx context.Context, table *catalog.Relation, x *catalog.Index, keys *types.Batch, columns []int) (Source, error)
	// Insert, Update and Delete apply all rows or none. Insert numbers them from first
	// on. Update replaces the row of each identity by the row of the same number.
	Insert(ctx context.Context, table *catalog.Relation, rows *types.Batch) (first int64, err error)
	Update(ctx context.Context, table *catalog.Relation, ids *types.Vector, rows *types.Batch) error
	Delete(ctx context.Context, table *catalog.Relation, ids *types.Vector) error
	// Find looks up the rows that have the primary keys of these rows, and locks the
	// table for the writes that follow. ids has the identity of each, NULL for none;
	// found its columns, NULLs for none.
	Find(ctx context.Context, table *catalog.Relation, arbiters []catalog.Index, rows *types.Batch) (ids *types.Vector, found *types.Batch, err error)
	// IndexKeys returns the keys that a unique index has of rows; nil where it has none.
	IndexKeys(table *catalog.Relation, x *catalog.Index, rows *types.Batch) ([][]byte, error)
	References
}

// References is what Tables do for foreign keys. All of it sees the transaction's writes.
type References interface {
	// Fetch returns those of the rows with these identities that are there.
	Fetch(ctx context.Context, table *catalog.Relation, ids *types.Vector) (there *types.Vector, rows *types.Batch, err error)
	// Present reports whether there is the row that row i of the referencing table
	// references. The columns of its key are not NULL.
	Present(ctx context.Context, r *catalog.Reference, rows *types.Batch, i int) (bool, error)
	// Referencing returns the rows that reference row i of the referenced table, which
	// need not be there any more: at most limit, unless that is 0.
	Referencing(ctx context.Context, r *catalog.Reference, rows *types.Batch, i, limit int) (ids *types.Vector, found *types.Batch, err error)
	// Deferred reports whether a foreign key is checked at the end of the transaction.
	Deferred(key *catalog.ForeignKey) bool
	// Postpone keeps a check for then.
	Postpone(p Postponed) error
}

// Streams appends events.
type Streams interface {
	// Append hands over the rows of one statement: every column of the stream, in
	// order. It returns how many rows were accepted.
	Append(ctx context.Context, stream *catalog.Relation, rows *types.Batch) (int64, error)
}

// DefaultMemoryLimit is the budget of a statement that sets none.
const DefaultMemoryLimit = 256 << 20

// DefaultConfidence is the confidence of bounds unless a session sets another.
const DefaultConfidence = 0.95

// Env is what a statement runs with.
type Env struct {
	Expr        *expr.Context // Params are those of plan.Query.Params
	Leaves      Leaves
	Tables      Tables
	Streams     Streams
	Seed        keyhash.Seed // of the tenant, for aggregates that hash
	Confidence  float64      // 0 is DefaultConfidence
	MemoryLimit int64        // 0 is DefaultMemoryLimit
	// Spill takes rows that do not fit into memory. The statement closes it. nil
	// refuses such statements.
	Spill *spill.Set
	// BeforeWrite is called when a statement has read all it will read and is about
	// to write: the place to refuse rows of a partial result. nil refuses nothing.
	BeforeWrite func(ctx context.Context) error
	// Inaccurate is told of rows that combine made of a view's states and whose error is
	// larger than the view's contract allows; nil tells nobody.
	Inaccurate func(view string, rows int64)
	// Clock measures operators for EXPLAIN ANALYZE; nil measures nothing.
	Clock func() time.Time
}

// Rows is a running statement.
type Rows struct {
	run  *run
	root Source
}

// Run starts a statement. The rows are those of q.Root; the client sees their
// first len(q.Output) columns.
func Run(ctx context.Context, q *plan.Query, env *Env) (*Rows, error) {
	r := newRun(q, env)
	r.state.ctx = ctx
	root, err := r.open(ctx, q.Root)
	if err != nil {
		return nil, errors.Join(err, r.state.close())
	}
	return &Rows{run: r, root: root}, nil
}

// Next returns the next batch, or nil at the end.
func (r *Rows) Next(ctx context.Context) (*types.Batch, error) {
	r.run.state.ctx = ctx
	b, err := r.root.Next(ctx)
	return b.Flat(), err
}

// Close ends the statement.
func (r *Rows) Close() error { return errors.Join(r.root.Close(), r.run.state.close()) }

// Affected returns how many rows were written so far.
func (r *Rows) Affected() int64 { return r.run.state.affected }

// Stats returns what EXPLAIN ANALYZE shows of a node, or nil. It is for
// plan.Explain, with an Env that has a Clock.
func (r *Rows) Stats(n plan.Node) *plan.NodeStats {
	if s := r.run.state.stats[n]; s != nil {
		return s
	}
	if r.run.env.Clock == nil {
		return nil
	}
	return &plan.NodeStats{}
}

// run is one execution of a plan. Subplans run with other parameters and the
// same state.
type run struct {
	env   *Env
	ec    *expr.Context
	state *state
}

// state is what all parts of a statement share.
type state struct {
	memory   budget
	spill    *spill.Set // nil: nothing spills
	seeds    []maphash.Seed
	every    []int32 // 0, 1, 2, ...
	shared   map[int]*materialised
	work     map[int]*rowSet // of recursive queries: the rows found last
	stats    map[plan.Node]*plan.NodeStats
	affected int64
	writes   []change        // whose references are to be looked after
	parts    *parts          // while a statement whose WITH writes still reads
	ctx      context.Context //nolint:containedctx // of the call of Rows that runs: expressions that wait end with it
}

// everyRow returns the numbers of n rows, which are only read.
func (s *state) everyRow(n int) []int32 {
	for len(s.every) < n {
		s.every = append(s.every, int32(len(s.every)))
	}
	return s.every[:n]
}

// close ends the plans that are read in several places, and removes the statement's
// temporary files.
func (s *state) close() error {
	var err error
	for _, m := range s.shared {
		err = errors.Join(err, m.Close())
	}
	if s.spill != nil {
		err = errors.Join(err, s.spill.Close())
	}
	return err
}

// wait is expr.Context.Wait.
func (s *state) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return cancelled(s.ctx)
	}
}

func newRun(q *plan.Query, env *Env) *run {
	ec := new(expr.Context)
	if env.Expr != nil {
		*ec = *env.Expr
	}
	if q.Slots > 0 {
		params := make([]types.Datum, len(q.Params)+q.Slots)
		copy(params, ec.Params)
		for i := len(q.Params); i < len(params); i++ {
			params[i] = types.NullOf(types.Of(types.Unknown))
		}
		ec.Params = params
	}
	limit := env.MemoryLimit
	if limit == 0 {
		limit = DefaultMemoryLimit
	}
	st := &state{
		memory: budget{limit: limit}, spill: env.Spill,
	}
	ec.Wait = st.wait
	return &run{env: env, ec: ec, state: st}
}

// with returns a run whose parameters have other values at the slots.
func (r *run) with(slots []int, values []types.Datum) *run {
	if len(slots) == 0 {
		return r
	}
	ec := *r.ec
	ec.Params = append([]types.Datum(nil), r.ec.Params...)
	for i, s := range slots {
		ec.Params[s-1] = values[i]
	}
	return &run{env: r.env, ec: &ec, state: r.state}
}

func (r *run) confidence() float64 {
	if r.env.Confidence == 0 {
		return DefaultConfidence
	}
	return r.env.Confidence
}

// budget is the memory that a statement may keep.
type budget struct{ limit, used int64 }

func (b *budget) grow(n int64) error {
	if n > 0 && b.used+n > b.limit {
		return sqlerr.New(sqlerr.OutOfMemory, "the statement needs more than its memory budget of %d MiB", b.limit>>20).
			WithHint("Use LIMIT, filter earlier or group by fewer values, or start the server with a larger --statement-memory.")
	}
	b.used += n
	return nil
}

func (b *budget) shrink(n int64) { b.used -= n }

// fits reports whether so much could be kept.
func (b *budget) fits(n int64) bool { return b.used+n <= b.limit }

// force counts what is kept already, of who is about to keep no more.
func (b *budget) force(n int64) { b.used += n }

// measured wraps every operator: it looks at the context and counts.
type measured struct {
	Source
	clock func() time.Time
	stats *plan.NodeStats
}

// Next implements Source.
func (m *measured) Next(ctx context.Context) (*types.Batch, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	if m.stats == nil {
		return m.Source.Next(ctx)
	}
	start := m.clock()
	b, err := m.Source.Next(ctx)
	m.stats.Elapsed += m.clock().Sub(start)
	if b != nil {
		m.stats.Rows += int64(b.Rows)
	}
	return b, err
}

func cancelled(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
	default:
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	}
}

// open starts the operator of a node.
func (r *run) open(ctx context.Context, n plan.Node) (Source, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	s, err := r.openNode(ctx, n)
	if err != nil {
		return nil, err
	}
	return r.measure(n, s), nil
}

func (r *run) measure(n plan.Node, s Source) Source {
	m := &measured{Source: s, clock: r.env.Clock}
	if r.env.Clock != nil {
		m.stats = r.stats(n)
		m.stats.Loops++
	}
	return m
}

func (r *run) openNode(ctx context.Context, n plan.Node) (Source, error) {
	switch x := n.(type) {
	case *plan.FoldScan, *plan.StreamScan, *plan.SideScan:
		return r.openLeaf(ctx, n)
	case *plan.TableScan:
		return r.openTable(ctx, x)
	case *plan.VirtualScan:
		batches, err := x.Table.Rows(ctx, r.ec)
		return &batchList{batches: batches}, err
	case *plan.Values:
		return r.openValues(x)
	case *plan.FunctionScan:
		return r.openFunction(ctx, x)
	case *plan.Shared:
		return r.openShared(ctx, x)
	case *plan.RecursiveUnion:
		return &recursiveOp{run: r, node: x, seen: newKeyTable()}, nil
	case *plan.WorkTable:
		return &cursorSource{cursor{rows: &r.state.work[x.ID].Batch, all: true}}, nil
	case *plan.With:
		return &withOp{run: r, node: x}, nil
	case *plan.Append:
		return &appendOp{run: r, inputs: x.Inputs}, nil
	}
	if len(n.Children()) == 1 {
		return r.openUnary(ctx, n)
	}
	switch x := n.(type) {
	case *plan.Join:
		return r.openJoin(ctx, x)
	case *plan.Apply:
		return r.openApply(ctx, x)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the plan node %T cannot be run", n)
}

// never reports whether no row can meet a condition, whatever the rows: then its input
// need not run, unless it has an envelope to tell.
func (r *run) never(f *plan.Filter) bool {
	if plan.EnvelopeAt(f.Child.Schema()) >= 0 {
		return false
	}
	return slices.ContainsFunc(expr.Conjuncts(f.Cond), func(e expr.Expr) bool {
		k, ok := expr.FoldStable(e, r.ec).(*expr.Const)
		return ok && (k.Datum.Null || k.Datum.Int == 0)
	})
}

func (r *run) openUnary(ctx context.Context, n plan.Node) (Source, error) {
	if s, err := r.openTop(ctx, n); s != nil || err != nil {
		return s, err
	}
	if f, ok := n.(*plan.Filter); ok && r.never(f) {
		return &batchList{}, nil
	}
	child, err := r.open(ctx, n.Children()[0])
	if err != nil {
		return nil, err
	}
	switch x := n.(type) {
	case *plan.Filter:
		return &filterOp{run: r, Source: child, cond: expr.NewFilter(x.Cond)}, nil
	case *plan.Project:
		return &projectOp{run: r, Source: child, values: x.Values}, nil
	case *plan.Limit:
		return r.newLimit(x, child)
	case *plan.Sort:
		return r.newSort(x, child, -1), nil
	case *plan.DistinctOn:
		return r.newDistinctOn(x, child), nil
	case *plan.Repeat:
		return &repeatOp{run: r, Source: child, times: x.Times}, nil
	case *plan.Aggregate:
		return newAggregate(r, x, child), nil
	case *plan.Window:
		return &windowOp{run: r, Source: child, node: x}, nil
	case *plan.KeyLookup:
		return &keyLookupOp{run: r, Source: child, node: x}, nil
	case *plan.Modify:
		return &modifyOp{run: r, Source: child, node: x}, nil
	case *plan.Merge:
		return &mergeIntoOp{run: r, Source: child, node: x}, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the plan node %T cannot be run", n)
}

func (r *run) openLeaf(ctx context.Context, n plan.Node) (Source, error) {
	if r.env.Leaves == nil {
		return nil, sqlerr.New(sqlerr.CannotConnectNow, "streams cannot be read here")
	}
	switch x := n.(type) {
	case *plan.FoldScan:
		if x.View == nil {
			return r.openFold(ctx, x)
		}
		return r.env.Leaves.OpenFold(ctx, x, r.ec)
	case *plan.StreamScan:
		return r.env.Leaves.OpenStream(ctx, x, r.ec)
	default:
		return r.env.Leaves.OpenSide(ctx, n.(*plan.SideScan), r.ec)
	}
}

// eval evaluates expressions over a batch.
func (r *run) eval(exprs []expr.Expr, in *types.Batch) ([]*types.Vector, error) {
	out, err := r.evalAll(exprs, in)
	if in.Rows > 1 && expr.TooLarge(err) {
		return r.evalLarge(exprs, in)
	}
	return out, cause(err)
}

// cause takes the row number off an error: a client has no use for it.
func cause(err error) error {
	var row *expr.RowError
	if errors.As(err, &row) {
		return row.Err
	}
	return err
}

// constant evaluates an expression without columns.
func (r *run) constant(e expr.Expr) (types.Datum, error) {
	d, err := expr.EvalConst(r.ec, e)
	return d, cause(err)
}
