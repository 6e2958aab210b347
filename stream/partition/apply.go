package partition

import (
	"fmt"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/dedup"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
	"github.com/tallydb/tallydb/stream/routing"
	"github.com/tallydb/tallydb/stream/rows"
	"github.com/tallydb/tallydb/stream/state"
	"github.com/tallydb/tallydb/stream/watermark"
)

// apply takes the next record.
func (w *Worker) apply(rec *ingestlog.Record) error {
	var err error
	switch rec.Kind {
	case ingestlog.Data:
		err = w.applyData(rec)
	case ingestlog.Control:
		err = w.applyControl(rec)
	case ingestlog.Rejects:
		err = w.applyRejects(rec)
	default:
		err = fmt.Errorf("record of kind %d: %w", rec.Kind, storage.ErrTooNew)
	}
	if err != nil {
		return fmt.Errorf("offset %d: %w", rec.Offset, err)
	}
	w.applied = rec.Offset + 1
	w.changed = true
	for _, v := range w.views {
		if v.applied == rec.Offset {
			v.applied = w.applied
		}
	}
	w.publishStatus()
	return nil
}

// decoder turns records into rows. It belongs to one goroutine.
type decoder struct {
	router *routing.Router
	pool   *rows.Pool
}

func newDecoder(s *catalog.Stream, pool *rows.Pool) decoder { return decoder{routing.New(s), pool} }

// rows returns a data record's rows, which the caller releases; they are decoded
// if the record was read back.
func (d *decoder) rows(rec *ingestlog.Record) (*rows.Rows, error) {
	if r, ok := rec.Attached.(*rows.Rows); ok {
		r.Retain()
		return r, nil
	}
	r := d.pool.Get()
	if err := recordbatch.Decode(rec.Payload, &r.Batch); err != nil {
		r.Release()
		return nil, err
	}
	r.Hashes = d.router.Hashes(&r.Batch, r.Hashes)
	if d.router.Deduplicates() {
		r.Digests = d.router.Digests(&r.Batch, r.Hashes, r.Digests)
	}
	return r, nil
}

func (w *Worker) applyData(rec *ingestlog.Record) error {
	r, err := w.decoder.rows(rec)
	if err != nil {
		return err
	}
	defer r.Release()
	a := &w.admitted
	outcome := w.admit(a, r, rec.AppendTime)
	if len(a.refused) > 0 {
		var verdict types.Bitmap
		for _, f := range a.refused {
			verdict.Set(f.row)
		}
		w.verdictMu.Lock()
		w.verdicts[rec.Offset] = verdict
		w.verdictMu.Unlock()
		w.setAsideRefused(rec, r, a.refused)
	}
	w.counters.Received += int64(r.Batch.Rows)
	w.counters.Admitted += int64(outcome.Admitted)
	w.counters.Duplicates += int64(outcome.Duplicates)
	w.counters.Rejected += int64(outcome.Rejected)
	w.sinceRows += int64(r.Batch.Rows)
	in := a.input(r)
	for _, v := range w.views {
		if v.applied != rec.Offset {
			continue // reading the retained log
		}
		o, err := w.foldInto(v, rec, in)
		if err != nil {
			return fmt.Errorf("view %s: %w", v.rel.Name, err)
		}
		outcome.Add(o)
	}
	if r.Applied != nil && rec.Attached != nil {
		r.Applied(outcome)
	}
	return nil
}

// foldInto folds admitted rows into a view and sets aside what it refuses.
func (w *Worker) foldInto(v *view, rec *ingestlog.Record, in fold.Input) (rows.Outcome, error) {
	v.begin()
	if err := v.program.Run(in, v); err != nil {
		return rows.Outcome{}, err
	}
	o := rows.Outcome{Late: len(v.late), Errors: len(v.failed)}
	v.counters.Late += int64(o.Late)
	v.counters.Errors += int64(o.Errors)
	v.counters.Folded += int64(in.Batch.Rows - o.Late - o.Errors)
	if o.Late+o.Errors > 0 {
		w.setAsideOfView(v, rec, in.Batch)
	}
	return o, nil
}

// admitted is the outcome of admission over one record, reused between records.
type admitted struct {
	rows    []int32               // numbers of the admitted rows; nil if all were
	before  []eventtime.Watermark // the watermark before each admitted row
	refused []refusal
	batch   *types.Batch // the admitted rows, if some were refused
	hashes  []uint64
}

// refusal is a row that was not admitted.
type refusal struct {
	row    int
	reason string // empty for a duplicate, which is counted and not kept
}

const dedupBlock = dedup.TouchRows

// Reasons for which admission refuses an event.
const (
	reasonFuture  = "event time is further in the future than max_future_skew allows"
	reasonSources = "source_key names more sources than a partition can tell apart"
	reasonOld     = "event time is older than the deduplication horizon"
)

// admit decides on each row of a record in order: whether it is in the future,
// older than can be deduplicated, or a duplicate; and what the watermark is
// before it.
func (w *Worker) admit(a *admitted, r *rows.Rows, appended int64) rows.Outcome {
	opts := &w.cfg.Stream.Stream.Options
	n := r.Batch.Rows
	a.rows, a.before, a.refused = a.rows[:0], a.before[:0], a.refused[:0]
	wall := eventtime.FromUnixMicro(appended)
	limit := eventtime.Max
	if opts.MaxFutureSkew > 0 {
		limit = wall.Add(eventtime.Duration(opts.MaxFutureSkew.Microseconds()))
	}
	var times []int64
	if c := w.cfg.Stream.Stream.TimeColumn; c >= 0 {
		times = r.Batch.Cols[c].Ints
	}
	unique := len(r.Digests) > 0
	var out rows.Outcome
	source, sources := 0, sourceColumn(w.cfg.Stream.Stream.Options.SourceKey, &r.Batch)
	if sources == nil {
		source = w.tracker.Source(nil)
	}
	for i := range n {
		if unique && i%dedupBlock == 0 {
			w.touched += w.dedup.Touch(r.Digests[i:min(i+dedupBlock, n)])
		}
		at := wall
		if times != nil {
			at = eventtime.Time(times[i])
		}
		before := w.tracker.Current()
		if at > limit {
			a.refused = append(a.refused, refusal{i, reasonFuture})
			out.Rejected++
			continue
		}
		if sources != nil {
			if source = w.tracker.Source(sourceName(sources, i, &w.scratch)); source < 0 {
				a.refused = append(a.refused, refusal{i, reasonSources})
				out.Rejected++
				continue
			}
		}
		if unique {
			expiry := at.Add(opts.DedupHorizon)
			if before.Passed(expiry) {
				a.refused = append(a.refused, refusal{i, reasonOld})
				out.Rejected++
				continue
			}
			if !w.dedup.Add(r.Digests[i], expiry, before) {
				a.refused = append(a.refused, refusal{row: i})
				out.Duplicates++
				continue
			}
		}
		a.rows = append(a.rows, int32(i))
		a.before = append(a.before, before)
		w.tracker.Observe(source, at, appended)
	}
	out.Admitted = len(a.rows)
	return out
}

// input returns the admitted rows as the folds want them.
func (a *admitted) input(r *rows.Rows) fold.Input {
	if len(a.refused) == 0 {
		a.rows = a.rows[:0]
		return fold.Input{Batch: &r.Batch, Hashes: r.Hashes, Before: a.before}
	}
	a.batch = r.Batch.Gather(a.rows)
	a.hashes = a.hashes[:0]
	for _, i := range a.rows {
		a.hashes = append(a.hashes, r.Hashes[i])
	}
	return fold.Input{Batch: a.batch, Hashes: a.hashes, Before: a.before}
}

// sourceColumn returns the column that names each event's source, or nil.
func sourceColumn(key int, b *types.Batch) *types.Vector {
	if key < 0 {
		return nil
	}
	return b.Cols[key]
}

// sourceName returns the name of a row's source; NULL is a source of its own.
func sourceName(v *types.Vector, row int, scratch *[]byte) []byte {
	if v.Type.Kind() == types.KindBytes && !v.IsNull(row) {
		return v.Bytes(row)
	}
	*scratch = types.AppendKey((*scratch)[:0], v, row)
	return *scratch
}

// replayAdmission advances a tracker over rows that were admitted before, for a
// view that reads the retained log, and returns the watermark before each.
func (w *Worker) replayAdmission(t *watermark.Tracker, b *types.Batch, refused types.Bitmap, appended int64) (numbers []int32, before []eventtime.Watermark) {
	stream := w.cfg.Stream.Stream
	var times []int64
	if stream.TimeColumn >= 0 {
		times = b.Cols[stream.TimeColumn].Ints
	}
	sources := sourceColumn(stream.Options.SourceKey, b)
	source := 0
	if sources == nil {
		source = t.Source(nil)
	}
	for i := range b.Rows {
		if refused.Has(i) {
			continue
		}
		at := eventtime.FromUnixMicro(appended)
		if times != nil {
			at = eventtime.Time(times[i])
		}
		if sources != nil {
			source = t.Source(sourceName(sources, i, &w.scratch))
		}
		numbers = append(numbers, int32(i))
		before = append(before, t.Current())
		t.Observe(source, at, appended)
	}
	return numbers, before
}

// applyControl takes a decision of a clock.
func (w *Worker) applyControl(rec *ingestlog.Record) error {
	floor, err := DecodeTick(rec.Payload)
	if err != nil {
		return err
	}
	w.tracker.Tick(rec.AppendTime, floor)
	return nil
}

// applyRejects files the rows that ingest could not parse.
func (w *Worker) applyRejects(rec *ingestlog.Record) error {
	b, err := decodeSide(state.SideRejected, plan.SideSchema(plan.SideRejected, w.cfg.Stream), rec.Payload)
	if err != nil {
		return err
	}
	w.stampRejects(b, rec)
	w.counters.Rejected += int64(b.Rows)
	w.sinceRows += int64(b.Rows)
	w.setAside(sideEntry{state.SideRejected, nil, rec.Offset, b})
	return nil
}
