package fragment

import (
	"context"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/partition"
	"github.com/tallydb/tallydb/stream/state"
)

// Target is the partition that a fragment runs on and the cut it has to reach.
type Target struct {
	Stream    *catalog.Relation
	Partition id.Partition
	Cut       id.Offset
	Stop      <-chan struct{} // ends the wait for the cut
}

// Reach is what a fragment's answer covers.
type Reach struct {
	Partition id.Partition
	Covered   coverage.Set
	Applied   id.Offset
	Watermark eventtime.Watermark
}

// Partial is a partition's part of a fold.
type Partial struct {
	Reach
	Identity string
	Degraded map[eventtime.Time]int64 // rows that failed, by window start
	Groups   *state.Groups
	Finished *state.Finished // instead of Groups, if it was asked to finish
}

// FoldRequest asks for the groups of a view.
type FoldRequest struct {
	Fold                 *plan.Fold
	View                 id.Relation
	Context              *expr.Context
	WindowFrom, WindowTo eventtime.Time // bounds of window starts, inclusive
	KeyFilter            expr.Expr      // over the columns of Fold.Layout(); nil admits all
	NeededStates         []bool
	Finish               *partition.Finish // asks for values instead of states
}

// Executor runs fragments on the partitions of this node.
type Executor struct {
	streams *stream.Manager
}

// NewExecutor returns the executor of a node's streams.
func NewExecutor(streams *stream.Manager) *Executor { return &Executor{streams} }

// Head returns the durable head of a partition's log.
func (e *Executor) Head(_ context.Context, rel *catalog.Relation, p id.Partition) (id.Offset, error) {
	return e.log().Head(e.partition(rel, p)), nil
}

// StalenessMicros returns how long the oldest record at or above an offset has
// waited, given the wall time in microseconds since 1970; 0 if there is none.
func (e *Executor) StalenessMicros(rel *catalog.Relation, p id.Partition, applied id.Offset, now int64) int64 {
	at := e.log().AppendedAt(e.partition(rel, p), applied)
	if at == 0 {
		return 0
	}
	return max(now-at, 0)
}

func (e *Executor) log() ingestlog.Log { return e.streams.Log() }

func (e *Executor) partition(rel *catalog.Relation, p id.Partition) id.StreamPartition {
	return id.StreamPartition{Tenant: e.streams.Tenant(), Stream: rel.ID, Partition: p}
}

// openEpoch is the epoch that new records belong to.
func openEpoch(rel *catalog.Relation) id.Epoch {
	return rel.Stream.Epochs[len(rel.Stream.Epochs)-1].Epoch
}

func reach(t Target, from, applied id.Offset, w eventtime.Watermark) Reach {
	return Reach{
		Partition: t.Partition, Applied: applied, Watermark: w,
		Covered: coverage.Of(coverage.Range{Epoch: openEpoch(t.Stream), Partition: t.Partition, From: from, To: min(applied, max(t.Cut, from))}),
	}
}

// Fold returns the groups of views, all of one moment that is not before the cut, if
// it was reached.
func (e *Executor) Fold(ctx context.Context, t Target, reqs ...FoldRequest) ([]*Partial, error) {
	w, err := e.streams.Worker(t.Stream.ID, t.Partition)
	if err != nil {
		return nil, err
	}
	views := make([]partition.FoldRequest, len(reqs))
	for i, req := range reqs {
		views[i] = partition.FoldRequest{
			View: req.View, WindowFrom: req.WindowFrom, WindowTo: req.WindowTo,
			Choice: choiceOf(req), Needed: req.NeededStates, Finish: req.Finish,
		}
	}
	answers, err := w.Fold(ctx, t.Cut, t.Stop, views...)
	if err != nil {
		return nil, err
	}
	out := make([]*Partial, len(answers))
	for i, a := range answers {
		at := t
		at.Cut = max(t.Cut, a.Applied) // what came in meanwhile is in the groups
		out[i] = &Partial{
			Reach: reach(at, a.Birth, a.Applied, a.Watermark), Identity: a.Identity,
			Degraded: a.Degraded, Groups: a.Groups, Finished: a.Finished,
		}
	}
	return out, nil
}

// choiceOf turns a key filter into a choice of windows and groups.
func choiceOf(req FoldRequest) partition.Choice {
	windows, groups := req.Fold.SplitKeyFilter(req.KeyFilter)
	by := func(filter expr.Expr) func(*types.Batch) ([]int32, error) {
		if filter == nil {
			return nil
		}
		return func(b *types.Batch) ([]int32, error) { return expr.FilterSel(req.Context, filter, b, nil) }
	}
	return partition.Choice{Windows: by(windows), Groups: by(groups)}
}

// Await waits until a partition has admitted its log up to the target's cut.
func (e *Executor) Await(ctx context.Context, t Target) (Reach, error) {
	w, err := e.streams.Worker(t.Stream.ID, t.Partition)
	if err != nil {
		return Reach{}, err
	}
	a, err := w.Await(ctx, t.Cut, t.Stop)
	if err != nil {
		return Reach{}, err
	}
	return reach(t, a.Base, a.Applied, a.Watermark), nil
}

// Side calls fn with batches of rows that were set aside in a partition, oldest
// first; fn may keep them. view is 0 for rows of the stream itself.
func (e *Executor) Side(ctx context.Context, t Target, kind plan.SideKind, view id.Relation, fn func(*types.Batch) error) error {
	w, err := e.streams.Worker(t.Stream.ID, t.Partition)
	if err != nil {
		return err
	}
	kinds := map[plan.SideKind]state.SideKind{
		plan.SideRejected: state.SideRejected, plan.SideLate: state.SideLate, plan.SideErrors: state.SideErrors,
	}
	req := partition.SideRequest{Kind: kinds[kind], View: view, Cut: t.Cut, Stop: t.Stop}
	return w.Side(ctx, req, plan.SideSchema(kind, t.Stream), fn)
}
