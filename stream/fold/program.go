package fold

import (
	"errors"
	"fmt"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/window"
)

// Config of a program.
type Config struct {
	Fold      *plan.Fold
	Lateness  eventtime.Duration
	MaxGroups int64 // over all windows; 0 is unlimited
	// Groups, if set, are the only ones whose rows are folded: encoded keys by the
	// start of the window.
	Groups  map[eventtime.Time]map[string]bool
	Context *expr.Context
}

// Identity names the states that a fold makes: its fingerprint and the seeds of its
// hashes. Only states of equal identity merge (L-5).
func Identity(f *plan.Fold) string {
	s := f.Stream.Stream
	return fmt.Sprintf("%s/%x/%x", f.Fingerprint(), s.Seed.ID(), s.AggregateSeed().ID())
}

// Program is a fold ready to run.
type Program struct {
	cfg       Config
	specs     []agg.StateSpec
	aggConfig agg.Config
	assigner  window.Assigner
	groupSeed keyhash.Seed
	keySchema *types.Schema
	// routed: the group key is the routing key, so its hash serves both.
	routed bool

	values evaluated
	slices window.Slices
	groups []uint32
	rows   []int32
	key    []byte
}

func specs(f *plan.Fold) []agg.StateSpec {
	out := make([]agg.StateSpec, len(f.States))
	for i, s := range f.States {
		out[i] = s.Spec
	}
	return out
}

func aggConfig(f *plan.Fold) agg.Config { return agg.Config{Seed: f.Stream.Stream.AggregateSeed()} }

// NewGroups returns an empty set of groups of a fold with the needed states; nil
// needs all.
func NewGroups(f *plan.Fold, needed []bool) *state.Groups {
	return state.NewGroups(specs(f), needed, aggConfig(f))
}

// New compiles a fold.
func New(cfg Config) *Program {
	stream := cfg.Fold.Stream.Stream
	p := &Program{
		cfg: cfg, assigner: window.New(cfg.Fold.Window), groupSeed: stream.Seed.Derive("group"),
		aggConfig: aggConfig(cfg.Fold), specs: specs(cfg.Fold),
	}
	layout := cfg.Fold.Layout()
	p.keySchema = &types.Schema{Columns: layout.Schema.Columns[:layout.Aggs]}
	if key := stream.Options.PartitionKey; len(key) == 1 && len(cfg.Fold.Keys) == 1 {
		c, ok := cfg.Fold.Keys[0].(*expr.Column)
		p.routed = ok && c.Index == key[0]
	}
	return p
}

// NewArena returns an empty arena for a window of this fold.
func (p *Program) NewArena(w eventtime.Window) *state.Arena {
	return state.NewArena(w, p.specs, p.aggConfig)
}

// NewGroups returns an empty set of groups of this fold with the needed states;
// nil needs all.
func (p *Program) NewGroups(needed []bool) *state.Groups {
	return state.NewGroups(p.specs, needed, p.aggConfig)
}

// KeySchema returns the columns of Fold.Layout() up to the keys: of the window,
// if there is one, and the keys.
func (p *Program) KeySchema() *types.Schema { return p.keySchema }

// Assigner returns the fold's window assigner.
func (p *Program) Assigner() window.Assigner { return p.assigner }

// Input is a batch of admitted rows of one partition.
type Input struct {
	Batch  *types.Batch
	Hashes []uint64 // routing hash of each row
	// Before is the watermark before each row; empty if the stream has none.
	Before []eventtime.Watermark
}

// Sink is where a program finds arenas and leaves what it sets aside.
type Sink interface {
	// Arena returns the arena of a window, making or loading it.
	Arena(w eventtime.Window) (*state.Arena, error)
	// Late takes a row that came after its window closed.
	Late(row int, w eventtime.Window, before eventtime.Watermark)
	// Failed takes a row that an expression or a state refused.
	Failed(row int, w eventtime.Window, err error)
	// Groups returns how many groups there are over all windows.
	Groups() int64
}

// Run folds the rows of a batch. Row numbers given to the sink are those of the
// batch. The error is one of the sink's Arena.
//
// A batch that holds a failing row, or whose values together take too much
// memory, is folded in halves, down to the row that fails alone.
func (p *Program) Run(in Input, sink Sink) error {
	if in.Batch.Rows == 0 {
		return nil
	}
	v, err := p.evaluate(in)
	var failure *expr.RowError
	switch {
	case err != nil && !errors.As(err, &failure):
		return err
	case err != nil && in.Batch.Rows == 1:
		p.fail(in, sink, failure.Err)
		return nil
	case err != nil:
		half := in.Batch.Rows / 2
		if err := p.Run(in.part(0, half), sink); err != nil {
			return err
		}
		return p.Run(in.part(half, in.Batch.Rows), partSink{sink, half})
	case v.rows == 0:
		return nil
	}
	return p.fold(v, sink)
}

// fold folds what was evaluated.
func (p *Program) fold(v *evaluated, sink Sink) error {
	var times []int64
	if p.cfg.Fold.Window.Kind != plan.NoWindow {
		times = v.times.Ints
	}
	var late func(int, eventtime.Window) bool
	if len(v.before) > 0 && times != nil {
		late = func(i int, w eventtime.Window) bool {
			if !p.late(v.before, i, w) {
				return false
			}
			sink.Late(v.original(i), w, v.before[i])
			return true
		}
	}
	p.slices.Assign(p.assigner, times, v.rows, late)
	for k, w := range p.slices.Windows {
		if len(p.slices.Rows[k]) == 0 {
			continue
		}
		if err := p.foldWindow(w, v, p.slices.Rows[k], sink); err != nil {
			return err
		}
	}
	return nil
}

// late reports whether a row came after its window closed.
func (p *Program) late(before []eventtime.Watermark, row int, w eventtime.Window) bool {
	return len(before) > 0 && before[row].Passed(w.Closes(p.cfg.Lateness))
}

// foldWindow folds rows that belong to one window.
func (p *Program) foldWindow(w eventtime.Window, v *evaluated, rows []int32, sink Sink) error {
	chosen := p.cfg.Groups[w.Start]
	if p.cfg.Groups != nil && chosen == nil {
		return nil
	}
	a, err := sink.Arena(w)
	if err != nil {
		return err
	}
	p.groups, p.rows = p.groups[:0], p.rows[:0]
	budget := int64(-1)
	if p.cfg.MaxGroups > 0 {
		budget = p.cfg.MaxGroups - sink.Groups()
	}
	for _, i := range rows {
		var hash uint64
		hash, p.key = p.groupKey(v, int(i), p.key[:0])
		if chosen != nil && !chosen[string(p.key)] {
			continue
		}
		if budget == 0 {
			g, ok := a.Lookup(hash, p.key)
			if !ok {
				sink.Failed(v.original(int(i)), w, groupBudgetError(p.cfg.MaxGroups))
				continue
			}
			p.groups, p.rows = append(p.groups, g), append(p.rows, i)
			continue
		}
		g, added := a.Find(hash, p.key)
		if added {
			budget--
		}
		p.groups, p.rows = append(p.groups, g), append(p.rows, i)
	}
	a.Grow()
	failed := p.updateStates(a, v)
	for n, g := range p.groups {
		a.MarkDirty(g)
		if err := failed[n]; err != nil {
			sink.Failed(v.original(int(p.rows[n])), w, err)
		}
	}
	return nil
}

// groupKey returns the hash and the encoded key of a row's group.
func (p *Program) groupKey(v *evaluated, row int, dst []byte) (uint64, []byte) {
	for _, k := range v.keys {
		dst = types.AppendKey(dst, k, row)
	}
	if p.routed {
		return keyhash.Finalise(v.hashes[row], keyhash.UseGroup), dst
	}
	return keyhash.Sum64(p.groupSeed, dst), dst
}

// updateStates folds p.rows into p.groups of the arena. It returns, by position
// in p.rows, why a state refused the row. States that took the row before another
// refused it keep it: refusals are overflows, and the group is degraded either way.
func (p *Program) updateStates(a *state.Arena, v *evaluated) map[int]error {
	var failed map[int]error
	for s, st := range a.States {
		groups, rows := p.groups, p.rows
		positions := []int(nil)
		if f := v.filters[s]; f != nil {
			groups, rows, positions = admitted(f, p.groups, p.rows)
		}
		refuse := func(at int, err error) {
			if positions != nil {
				at = positions[at]
			}
			if failed == nil {
				failed = map[int]error{}
			}
			failed[at] = err
		}
		for done := 0; done < len(rows); {
			err := update(st, groups[done:], rows[done:], v.inputs[s])
			if err == nil {
				break
			}
			var defect *panicError
			if errors.As(err, &defect) && len(rows)-done > 1 {
				at := p.panics(s, rows[done:], v.inputs[s])
				if at < 0 { // not told from the values: all are suspect
					for i := done; i < len(rows); i++ {
						refuse(i, defect.err)
					}
					break
				}
				err = &agg.UpdateError{Index: at, Err: defect.err}
			}
			var refused *agg.UpdateError
			if !errors.As(err, &refused) {
				refused = &agg.UpdateError{Err: err}
			}
			at := done + refused.Index
			done = at + 1
			refuse(at, refused.Err)
		}
	}
	return failed
}

// panicError is a panic of a state.
type panicError struct{ err error }

// Error implements error.
func (e *panicError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *panicError) Unwrap() error { return e.err }

// update is Update of states, of which a panic is an error.
func update(st agg.States, groups []uint32, rows []int32, inputs []*types.Vector) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{panicked(r)}
		}
	}()
	return st.Update(groups, rows, inputs)
}

// panics returns at which of the rows a state panics, found on a state of its own,
// or -1 if it is not the values alone. The rows before it have been folded.
func (p *Program) panics(state int, rows []int32, inputs []*types.Vector) int {
	scratch := p.specs[state].New(p.aggConfig)
	scratch.Grow(1)
	group := []uint32{0}
	for at := range rows {
		var defect *panicError
		if errors.As(update(scratch, group, rows[at:at+1], inputs), &defect) {
			return at
		}
	}
	return -1
}

// admitted keeps the rows for which a FILTER is true.
func admitted(f *types.Vector, groups []uint32, rows []int32) (g []uint32, r []int32, positions []int) {
	for n, i := range rows {
		if f.Ints[i] != 0 && !f.IsNull(int(i)) {
			g, r, positions = append(g, groups[n]), append(r, i), append(positions, n)
		}
	}
	return g, r, positions
}

func groupBudgetError(limit int64) error {
	return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "the view has reached its budget of %d groups in this partition", limit).
		WithHint("Raise max_groups of the view, or group by fewer distinct values.")
}
