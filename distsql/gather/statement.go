package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/distsql/exchange"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/partition"
)

// Counters count what the gate refused, over all statements of a node.
type Counters struct {
	Refused  atomic.Int64 // partials of another identity, unexpected or counted twice
	Missing  atomic.Int64 // expected partials that did not come
	Partials atomic.Int64 // partials merged
}

// Statement is the distributed part of one statement.
type Statement struct {
	transport exchange.Transport
	settings  envelope.Settings
	now       func() time.Time
	counters  *Counters
	result    *envelope.Result
	views     func(id.Relation) []*catalog.Relation
	memory    int64 // that counting values again may take
	flights   *Flights
	together  map[id.Relation][]*plan.FoldScan // not answered yet
	answers   map[*plan.FoldScan]*folded       // those that are

	stop   chan struct{} // closed when fragments should no longer wait for the cut
	timer  *time.Timer
	mu     sync.Mutex
	cuts   map[id.Relation]map[id.Partition]id.Offset
	pinned time.Time
}

// Config of a statement.
type Config struct {
	Transport exchange.Transport
	Settings  envelope.Settings
	Now       func() time.Time
	Counters  *Counters
	// Flights, if set, shares the answer of the statement's only scan with others
	// that ask the same.
	Flights *Flights
	// Memory is the budget for counting values of views again.
	Memory int64
	// Views returns the continuous views of a stream.
	Views func(stream id.Relation) []*catalog.Relation
	// Together are scans of views that are to be answered of one moment, by stream.
	Together map[id.Relation][]*plan.FoldScan
}

// Begin starts a statement that reads these streams, whose heads become its cut.
// Close it.
func Begin(ctx context.Context, cfg Config, streams []*catalog.Relation) (*Statement, error) {
	s := &Statement{
		transport: cfg.Transport, settings: cfg.Settings, now: cfg.Now, counters: cfg.Counters,
		result: &envelope.Result{}, memory: cfg.Memory, views: cfg.Views, flights: cfg.Flights, together: cfg.Together, pinned: cfg.Now(),
	}
	if len(streams) == 0 { // then nothing is waited for
		return s, nil
	}
	s.stop = make(chan struct{})
	s.cuts, s.answers = map[id.Relation]map[id.Partition]id.Offset{}, map[*plan.FoldScan]*folded{}
	for _, rel := range streams {
		if err := s.pin(ctx, rel); err != nil {
			return nil, err
		}
	}
	s.timer = time.AfterFunc(cfg.Settings.ReadWait, func() { close(s.stop) })
	return s, nil
}

// Close ends the statement.
func (s *Statement) Close() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// Result returns the coverage noted so far.
func (s *Statement) Result() *envelope.Result { return s.result }

func (s *Statement) pin(ctx context.Context, rel *catalog.Relation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cuts[rel.ID] != nil {
		return nil
	}
	cut := map[id.Partition]id.Offset{}
	for _, p := range rel.Stream.Partitions() {
		head, err := s.transport.Head(ctx, rel, p)
		if err != nil {
			return fmt.Errorf("pin the cut of %s: %w", rel.Name, err)
		}
		cut[p] = head
	}
	s.cuts[rel.ID] = cut
	return nil
}

// repin makes the heads as they are now the cut. Only a statement with a single
// scan may: all that it reads still has one cut.
func (s *Statement) repin(ctx context.Context, rel *catalog.Relation) error {
	s.mu.Lock()
	delete(s.cuts, rel.ID)
	s.mu.Unlock()
	return s.pin(ctx, rel)
}

// reached makes what a view had applied when it was read the cut of its partition:
// its rows are of that moment, and what is read after it has to be.
func (s *Statement) reached(rel *catalog.Relation, p id.Partition, applied id.Offset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts[rel.ID][p] = max(s.cuts[rel.ID][p], applied)
}

// target returns what a fragment on a partition has to reach.
func (s *Statement) target(rel *catalog.Relation, p id.Partition) fragment.Target {
	return fragment.Target{Stream: rel, Partition: p, Cut: s.cuts[rel.ID][p], Stop: s.stop}
}

// reply is what became of one expected partition.
type reply[T any] struct {
	partition id.Partition
	answer    T
	err       error // why it is missing
}

// askAtATime bounds the partitions that one scan asks at a time. Most of the time
// they are waited for: until they reach the cut.
const askAtATime = 64

// ask runs fn for every partition and returns the replies in partition order.
// The error is the statement's own: a cancelled context or an error of the query.
func ask[T any](ctx context.Context, s *Statement, rel *catalog.Relation, partitions []id.Partition, fn func(context.Context, fragment.Target) (T, error)) ([]reply[T], error) {
	if err := s.pin(ctx, rel); err != nil {
		return nil, err
	}
	replies := make([]reply[T], len(partitions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askAtATime)
	for i, p := range partitions {
		group.Go(func() error {
			answer, err := fn(ctx, s.target(rel, p))
			replies[i] = reply[T]{p, answer, err}
			return statementError(ctx, err)
		})
	}
	err := group.Wait()
	return replies, err
}

// statementError returns err if it ends the statement, nil if it only makes a
// partition's part missing.
func statementError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var own *sqlerr.Error
	var row *expr.RowError
	if errors.As(err, &own) || errors.As(err, &row) {
		return err
	}
	return nil
}

// missingReason says in a user's words why a partition is missing.
func missingReason(err error) string {
	switch {
	case errors.Is(err, partition.ErrOffline):
		return "offline"
	case errors.Is(err, partition.ErrStopped):
		return "stopped"
	case errors.Is(err, partition.ErrUnknownView):
		return "does not hold the view yet"
	default:
		return err.Error()
	}
}

// gate is the coverage gate of one relation in one statement.
type gate struct {
	s         *Statement
	rel       *catalog.Relation // the stream
	coverage  *envelope.Relation
	watermark eventtime.Watermark // the lowest of the partitions that answered
	reaches   []fragment.Reach    // of the partitions let through
	shorter   bool                // a partition did not reach the cut
}

// newGate expects these partitions, from the first record that counts to the cut.
func (s *Statement) newGate(rel *catalog.Relation, name string, partitions []id.Partition, births map[id.Partition]id.Offset) *gate {
	epoch := rel.Stream.Epochs[len(rel.Stream.Epochs)-1].Epoch
	var expected []coverage.Range
	for _, p := range partitions {
		expected = append(expected, coverage.Range{Epoch: epoch, Partition: p, From: births[p], To: s.cuts[rel.ID][p]})
	}
	return &gate{
		s: s, rel: rel, watermark: eventtime.Watermark(eventtime.Max),
		coverage: &envelope.Relation{Name: name, Expected: coverage.Of(expected...), PartsExpected: len(partitions)},
	}
}

// admit lets a partition's part through, or refuses it: then it is missing.
func (g *gate) admit(r fragment.Reach, identity, want string) bool {
	refuse := func(reason string) bool {
		g.s.counters.Refused.Add(1)
		g.miss(r.Partition, reason)
		return false
	}
	if identity != want {
		return refuse("holds states of another identity")
	}
	if extra := r.Covered.Without(g.coverage.Expected); len(extra) > 0 {
		return refuse(fmt.Sprintf("covers %s, which is not expected", extra))
	}
	merged, err := coverage.Merge(g.coverage.Covered, r.Covered)
	if err != nil {
		return refuse(err.Error())
	}
	g.s.counters.Partials.Add(1)
	g.coverage.Covered = merged
	g.coverage.PartsDone++
	g.watermark = min(g.watermark, r.Watermark)
	g.reaches = append(g.reaches, r)
	if r.Applied < g.s.cuts[g.rel.ID][r.Partition] {
		g.shorter = true
	}
	now := g.s.now().UnixMicro()
	g.coverage.StalenessMillis = max(g.coverage.StalenessMillis, g.s.transport.StalenessMicros(g.rel, r.Partition, r.Applied, now)/1000)
	return true
}

// miss notes that a partition's part is missing.
func (g *gate) miss(p id.Partition, reason string) {
	g.s.counters.Missing.Add(1)
	g.coverage.Missing = append(g.coverage.Missing, envelope.Missing{Partition: p, Reason: reason})
	g.watermark = eventtime.Watermark(eventtime.Min) // it may hold anything
	now := g.s.now().UnixMicro()
	// What it has applied is unknown; the oldest record of the statement's range tells the worst.
	for _, r := range g.coverage.Expected {
		if r.Partition == p {
			g.coverage.StalenessMillis = max(g.coverage.StalenessMillis, g.s.transport.StalenessMicros(g.rel, p, r.From, now)/1000)
		}
	}
}

// sort orders what was noted.
func (g *gate) sort() {
	slices.SortFunc(g.coverage.Missing, func(a, b envelope.Missing) int { return int(a.Partition) - int(b.Partition) })
}

// close adds what was noted to the statement's result.
func (g *gate) close() {
	g.sort()
	g.s.result.Add(g.coverage)
}
