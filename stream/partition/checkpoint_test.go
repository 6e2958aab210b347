package partition

import (
	"errors"
	"testing"
)

// TestL2NoCheckpointAfterAFailedOne: what was detached for a checkpoint that failed is
// gone, so a later one, whose offset says that it has everything, is never written;
// and the worker ends, even if the failure was told to somebody else.
func TestL2NoCheckpointAfterAFailedOne(t *testing.T) {
	full := errors.New("the disk is full")
	w := &Worker{cfg: Config{Checkpoints: make(chan struct{}, 1), CheckpointRows: 1}, changed: true, writing: &checkpoint{}, written: make(chan error, 1)}
	w.written <- full
	if err := w.awaitCheckpoint(); !errors.Is(err, full) {
		t.Fatalf("the wait for it ends with %v", err)
	}
	for name, fn := range map[string]func() error{
		"one beside the worker": w.beginCheckpoint, "one that is waited for": w.writeCheckpoint, "the worker's next look": w.checkpointIfDue,
	} {
		if err := fn(); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
