package fragment

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/state"
)

// RecountRequest asks what groups of a view are by the exact twins of some of its
// aggregates, from the rows in the retained log that the view folded. The target's cut
// is what the view had applied when the groups were read.
type RecountRequest struct {
	View id.Relation
	Aggs []int // numbers of aggregates that have an exact twin
	// Groups are encoded keys by the start of the window.
	Groups map[eventtime.Time]map[string]bool
	// Memory is what all parts of the recount may take together.
	Memory *Memory
}

// ErrRecountMemory says that a recount takes more memory than it may.
var ErrRecountMemory = errors.New("a recount takes more memory than the statement may")

// Memory is a budget of a recount. It is safe for concurrent use.
type Memory struct{ left atomic.Int64 }

// NewMemory returns a budget of this many bytes.
func NewMemory(bytes int64) *Memory {
	m := &Memory{}
	m.left.Store(bytes)
	return m
}

// take takes bytes of the budget; what is beyond it stays taken, so that the other
// parts give up too.
func (m *Memory) take(bytes int64) error {
	if m.left.Add(-bytes) < 0 {
		return ErrRecountMemory
	}
	return nil
}

// Recount is a partition's part of a recount.
type Recount struct {
	Reach
	Identity string // of the view's fold
	// Missed bounds the windows that may lack events, which were trimmed: those that
	// start before it. It is eventtime.Min where the log is whole.
	Missed eventtime.Time
	Groups *state.Groups // with a state for each of the aggregates
}

// Recount computes groups of a view from the retained log.
func (e *Executor) Recount(ctx context.Context, t Target, req RecountRequest) (*Recount, error) {
	w, err := e.streams.Worker(t.Stream.ID, t.Partition)
	if err != nil {
		return nil, err
	}
	h, err := w.History(ctx, req.View, t.Cut, t.Stop)
	if err != nil {
		return nil, err
	}
	out := &Recount{
		Identity: fold.Identity(h.Fold), Missed: eventtime.Min,
		Reach: reach(t, max(h.Base, h.Birth), t.Cut, eventtime.Watermark(eventtime.Min)),
	}
	if h.Base > h.Birth {
		out.Missed = eventtime.Max
		if until := e.streams.MissedUntil(t.Stream); until != nil {
			out.Missed = *until
		}
	}
	shadows := h.Fold.Shadows(req.Aggs)
	program := fold.New(fold.Config{Fold: shadows, Context: h.Context, Groups: req.Groups})
	sink := &arenas{program: program, byStart: map[eventtime.Time]*state.Arena{}}
	err = h.Scan(ctx, t.Cut, func(in fold.Input) error {
		if err := program.Run(in, sink); err != nil {
			return err
		}
		if sink.failure != nil {
			return sink.failure
		}
		return sink.charge(req.Memory)
	})
	if err != nil {
		return nil, err
	}
	out.Groups = program.NewGroups(nil)
	for _, a := range sink.byStart {
		if err := out.Groups.AddArena(a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// arenas is the sink of a recount: windows in memory. No row of the log is late, as
// those that were are not among them, and the first row that fails ends the statement.
type arenas struct {
	program *fold.Program
	byStart map[eventtime.Time]*state.Arena
	failure error
	charged int64
}

// charge takes what the windows have grown by. They are there twice when they become an
// answer, and when the root merges that.
func (s *arenas) charge(m *Memory) error {
	total := int64(0)
	for _, a := range s.byStart {
		total += 2 * a.MemoryBytes()
	}
	grown := total - s.charged
	s.charged = total
	return m.take(grown)
}

// Arena implements fold.Sink.
func (s *arenas) Arena(w eventtime.Window) (*state.Arena, error) {
	a := s.byStart[w.Start]
	if a == nil {
		a = s.program.NewArena(w)
		s.byStart[w.Start] = a
	}
	return a, nil
}

// Late implements fold.Sink.
func (s *arenas) Late(int, eventtime.Window, eventtime.Watermark) {}

// Failed implements fold.Sink.
func (s *arenas) Failed(_ int, _ eventtime.Window, err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// Groups implements fold.Sink; a recount has no more than the view.
func (s *arenas) Groups() int64 { return 0 }
