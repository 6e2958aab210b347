package fragment

import (
	"context"

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
		return sink.failure
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
