package partition

import (
	"context"
	"errors"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/ingestlog"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/fold"
)

// ScanAnswer is how far a partition had got when a scan of its log began.
type ScanAnswer struct {
	Base, Applied id.Offset // the coverage is [Base, Applied)
	Watermark     eventtime.Watermark
}

// Await waits until the log is admitted up to cut, or stop is closed, and says
// how far it is. An offline partition is an error.
func (w *Worker) Await(ctx context.Context, cut id.Offset, stop <-chan struct{}) (ScanAnswer, error) {
	if w.Offline() {
		return ScanAnswer{}, ErrOffline
	}
	var a ScanAnswer
	var offline bool
	err := w.callAt(ctx, cut, stop, func() {
		offline = w.offline.Load()
		a = ScanAnswer{w.cfg.Log.Base(w.cfg.Partition), w.applied, w.tracker.Current()}
	})
	return a, errors.Join(err, errIf(offline, ErrOffline))
}

// Scan calls fn with the admitted rows of each record in [from, to), in order,
// on the caller's goroutine. to is not above what Await said was applied. The
// input is valid during the call only. Records that retention trims meanwhile are
// an error: what was said to be covered would not be.
func (w *Worker) Scan(ctx context.Context, from, to id.Offset, fn func(fold.Input) error) error {
	reader := reader{w, newDecoder(w.cfg.Stream.Stream, w.cfg.Pool)}
	return w.cfg.Log.Read(ctx, w.cfg.Partition, from, to, func(rec *ingestlog.Record) error {
		if rec.Kind != ingestlog.Data {
			return nil
		}
		return reader.admittedRows(rec, fn)
	})
}

// reader reads admitted rows beside the worker, with a decoder of its own.
type reader struct {
	w       *Worker
	decoder decoder
}

func (r *reader) admittedRows(rec *ingestlog.Record, fn func(fold.Input) error) error {
	rows, err := r.decoder.rows(rec)
	if err != nil {
		return err
	}
	defer rows.Release()
	refused, err := r.w.Verdict(rec.Offset)
	if err != nil {
		return err
	}
	in := fold.Input{Batch: &rows.Batch, Hashes: rows.Hashes}
	if refused.Any() {
		var numbers []int32
		for i := range rows.Batch.Rows {
			if !refused.Has(i) {
				numbers = append(numbers, int32(i))
			}
		}
		in.Batch, in.Hashes = rows.Batch.Gather(numbers), gatherHashes(rows, numbers)
	}
	return fn(in)
}
