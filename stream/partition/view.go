package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/rows"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/watermark"
)

// ViewCounters count what a view did with admitted rows, since its birth.
type ViewCounters struct {
	Folded, Late, Errors int64
}

// view is the state of one continuous view in a partition. It is the Sink of
// its own program.
type view struct {
	worker   *Worker
	rel      *catalog.Relation
	fold     *plan.Fold
	context  *expr.Context // of its expressions
	keys     state.Keys
	identity string
	program  *fold.Program
	lateness eventtime.Duration

	birth   id.Offset          // first offset that the view reads
	applied id.Offset          // next record to fold
	tracker *watermark.Tracker // its own, while it reads the retained log; nil when live
	// A view born over trimmed history cannot know the watermark at its birth. Its
	// own begins there and is replaced, at the offset where admission was when the
	// view was made, by what admission's was; both are kept with the view's state,
	// so that its rows are judged the same ever after (L-2).
	join        id.Offset
	joinTracker []byte
	counters    ViewCounters
	degraded    map[eventtime.Time]int64 // rows that failed, by window

	arenas map[eventtime.Time]*state.Arena // open windows, and closed ones not yet checkpointed
	stored map[eventtime.Time]storedWindow // open windows that are not in memory
	last   *state.Arena                    // the one used last

	// Of the record being folded.
	late   []lateRow
	failed []failedRow
}

// storedWindow is an open window that was evicted.
type storedWindow struct {
	window eventtime.Window
	groups int64
}

type lateRow struct {
	row    int
	window eventtime.Window
	before eventtime.Watermark
}

type failedRow struct {
	row int
	err error
}

// Compiled is a view's program: its fold, and what its expressions evaluate in.
type Compiled struct {
	Fold    *plan.Fold
	Context *expr.Context // of the time zone frozen into the view
}

func (w *Worker) newView(rel *catalog.Relation, c Compiled) *view {
	f := c.Fold
	cv := rel.ContinuousView
	v := &view{
		worker: w, rel: rel, fold: f, context: c.Context, identity: fold.Identity(f), lateness: cv.AllowedLateness,
		keys:     state.KeysOf(w.cfg.Partition.Tenant, rel.ID, w.cfg.Partition.Partition),
		birth:    cv.Birth[w.cfg.Partition.Partition],
		degraded: map[eventtime.Time]int64{},
		arenas:   map[eventtime.Time]*state.Arena{},
		stored:   map[eventtime.Time]storedWindow{},
	}
	v.applied = v.birth
	v.program = fold.New(fold.Config{Fold: f, Lateness: cv.AllowedLateness, MaxGroups: cv.MaxGroups, Context: c.Context})
	return v
}

func (w *Worker) view(rel id.Relation) *view {
	for _, v := range w.views {
		if v.rel.ID == rel {
			return v
		}
	}
	return nil
}

func (v *view) begin() { v.late, v.failed = v.late[:0], v.failed[:0] }

// Arena implements fold.Sink.
func (v *view) Arena(w eventtime.Window) (*state.Arena, error) {
	v.worker.clockUse++
	if v.last != nil && v.last.Window == w {
		v.last.LastUse = v.worker.clockUse
		return v.last, nil
	}
	a := v.arenas[w.Start]
	if a == nil {
		a = v.program.NewArena(w)
		if err := v.load(a); err != nil {
			return nil, fmt.Errorf("load window: %w", err)
		}
		v.arenas[w.Start] = a
		delete(v.stored, w.Start)
	}
	a.LastUse = v.worker.clockUse
	v.last = a
	return a, nil
}

// load reads what was checkpointed of a window.
func (v *view) load(a *state.Arena) error {
	from, to := v.keys.WindowRange(a.Window.Start, a.Window.Start)
	return v.worker.cfg.Store.Scan(from, to, func(_, chunk []byte) error { return a.LoadChunk(chunk) })
}

// Late implements fold.Sink.
func (v *view) Late(row int, w eventtime.Window, before eventtime.Watermark) {
	v.late = append(v.late, lateRow{row, w, before})
}

// Failed implements fold.Sink.
func (v *view) Failed(row int, w eventtime.Window, err error) {
	v.failed = append(v.failed, failedRow{row, err})
	v.degraded[w.Start]++
}

// closed reports whether a window can no longer change.
func (v *view) closed(w eventtime.Window) bool {
	return v.watermark().Passed(w.Closes(v.lateness))
}

// Groups implements fold.Sink: those of open windows, in memory or not, so that a
// budget is spent the same whenever a checkpoint came (L-2).
func (v *view) Groups() int64 {
	n := int64(0)
	for _, a := range v.arenas {
		if !v.closed(a.Window) {
			n += int64(a.Groups())
		}
	}
	for start, s := range v.stored {
		if v.closed(s.window) {
			delete(v.stored, start)
			continue
		}
		n += s.groups
	}
	return n
}

// windowBounds narrows bounds of windows' starts to the only one there is, if the
// view has no windows.
func (v *view) windowBounds(from, to eventtime.Time) (eventtime.Time, eventtime.Time) {
	if v.program.Assigner().Window(0) == eventtime.Global {
		return max(from, eventtime.Global.Start), min(to, eventtime.Global.Start)
	}
	return from, to
}

// inMemory reports whether the store has no groups, of windows that begin in
// [from, to], that memory lacks. It says so of single windows only.
func (v *view) inMemory(from, to eventtime.Time) bool {
	if from != to || v.arenas[from] != nil {
		return from == to
	}
	_, stored := v.stored[from]
	return !stored && !v.closed(v.program.Assigner().FromStart(from))
}

// hasOpen reports whether there are groups in open windows.
func (v *view) hasOpen() bool {
	for _, a := range v.arenas {
		if !v.closed(a.Window) {
			return true
		}
	}
	for _, s := range v.stored {
		if !v.closed(s.window) {
			return true
		}
	}
	return false
}

// evict drops a clean arena from memory.
func (v *view) evict(start eventtime.Time) {
	a := v.arenas[start]
	delete(v.arenas, start)
	if !v.closed(a.Window) {
		v.stored[start] = storedWindow{a.Window, int64(a.Groups())}
	}
}

// openWindows returns the open windows with their numbers of groups, in order.
func (v *view) openWindows() []storedWindow {
	var out []storedWindow
	for _, a := range v.arenas {
		if !v.closed(a.Window) {
			out = append(out, storedWindow{a.Window, int64(a.Groups())})
		}
	}
	for _, s := range v.stored {
		if !v.closed(s.window) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b storedWindow) int { return cmp.Compare(a.window.Start, b.window.Start) })
	return out
}

// AddView makes the partition keep a view. It reads the retained log from the
// view's birth and then joins the live tail; Progress tells how far it is.
func (w *Worker) AddView(ctx context.Context, rel *catalog.Relation, c Compiled) error {
	var err error
	e := w.call(ctx, func() { err = w.addView(rel, c) })
	if e != nil {
		return e
	}
	return err
}

// addView restores or begins a view; Run's goroutine, or before Run.
func (w *Worker) addView(rel *catalog.Relation, c Compiled) error {
	if w.view(rel.ID) != nil {
		return nil
	}
	v := w.newView(rel, c)
	known, err := v.restore()
	if err != nil {
		return err
	}
	w.views = append(w.views, v)
	if v.applied < w.applied && v.tracker == nil {
		v.tracker = watermark.New(w.trackerConfig())
	}
	if known || v.birth == 0 || v.applied >= w.applied {
		return nil
	}
	v.join, v.joinTracker = w.applied, w.tracker.Append(nil)
	w.changed = true
	return errors.Join(w.writeCheckpoint(), w.cfg.Store.Flush())
}

// OpenView is AddView before Run was started.
func (w *Worker) OpenView(rel *catalog.Relation, c Compiled) error { return w.addView(rel, c) }

// DropView makes the partition forget a view. Its stored state is the caller's to delete.
func (w *Worker) DropView(ctx context.Context, rel id.Relation) error {
	var err error
	e := w.call(ctx, func() {
		// One that is under way would write the view's state after it was deleted.
		if w.unwritten == nil {
			err = w.awaitCheckpoint()
		}
		if c := w.writing; c != nil { // it was not written, and is without the view when it is
			c.views = slices.DeleteFunc(c.views, func(v viewCheckpoint) bool { return v.rel == rel })
			c.side = slices.DeleteFunc(c.side, func(e sideEntry) bool { return e.view != nil && e.view.rel.ID == rel })
			if errors.Is(err, storage.ErrStalled) {
				err = nil
			}
		}
		kept := w.views[:0]
		for _, v := range w.views {
			if v.rel.ID != rel {
				kept = append(kept, v)
			}
		}
		w.views = kept
		side := w.side[:0]
		for _, e := range w.side {
			if e.view == nil || e.view.rel.ID != rel {
				side = append(side, e)
			}
		}
		w.side = side
	})
	return errors.Join(e, err)
}

// Progress returns how far a view has read, and how far it has to.
func (w *Worker) Progress(ctx context.Context, rel id.Relation) (applied, head id.Offset, err error) {
	found := false
	err = w.call(ctx, func() {
		if v := w.view(rel); v != nil {
			applied, head, found = v.applied-v.birth, w.cfg.Log.Head(w.cfg.Partition)-v.birth, true
		}
	})
	if err == nil && !found {
		err = ErrUnknownView
	}
	return applied, head, err
}

// backfill lets views that are behind read some of the retained log.
func (w *Worker) backfill(ctx context.Context) error {
	for _, v := range w.views {
		if v.applied >= w.applied {
			continue
		}
		to := min(w.applied, v.applied+replayRecords)
		if v.applied < v.join {
			to = min(to, v.join)
		}
		if to == v.join {
			// What this watermark closed the other one may open again.
			if err := w.awaitCheckpoint(); err != nil {
				return err
			}
		}
		err := w.cfg.Log.Read(ctx, w.cfg.Partition, v.applied, to, func(rec *ingestlog.Record) error {
			if err := w.backfillRecord(v, rec); err != nil {
				return fmt.Errorf("view %s, offset %d: %w", v.rel.Name, rec.Offset, err)
			}
			v.applied = rec.Offset + 1
			w.changed = true
			return nil
		})
		if err != nil {
			return err
		}
		if v.applied == v.join {
			if v.tracker, err = watermark.Decode(w.trackerConfig(), v.joinTracker); err != nil {
				return err
			}
			v.join, v.joinTracker = 0, nil
		}
		if v.applied == w.applied {
			v.tracker = nil // live from here on
		}
		return nil
	}
	return nil
}

func (w *Worker) backfillRecord(v *view, rec *ingestlog.Record) error {
	switch rec.Kind {
	case ingestlog.Control:
		floor, err := DecodeTick(rec.Payload)
		if err != nil {
			return err
		}
		v.tracker.Tick(rec.AppendTime, floor)
		return nil
	case ingestlog.Data:
	default:
		return nil
	}
	r, err := w.decoder.rows(rec)
	if err != nil {
		return err
	}
	defer r.Release()
	refused, err := w.Verdict(rec.Offset)
	if err != nil {
		return err
	}
	numbers, before := w.replayAdmission(v.tracker, &r.Batch, refused, rec.AppendTime)
	in := fold.Input{Batch: &r.Batch, Hashes: r.Hashes, Before: before}
	if len(numbers) < r.Batch.Rows {
		in.Batch, in.Hashes = r.Batch.Gather(numbers), gatherHashes(r, numbers)
	}
	_, err = w.foldInto(v, rec, in)
	return err
}

func gatherHashes(r *rows.Rows, numbers []int32) []uint64 {
	out := make([]uint64, len(numbers))
	for n, i := range numbers {
		out[n] = r.Hashes[i]
	}
	return out
}
