package session

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream"
	"github.com/tallydb/tallydb/stream/partition"
)

// TestWhatGoesAwayIsNoDefect: that something is dropped or stops while a statement runs
// has a SQLSTATE of its own; what nobody expected stays XX000.
func TestWhatGoesAwayIsNoDefect(t *testing.T) {
	for err, want := range map[error]sqlerr.Code{
		stream.ErrUnknownStream:    sqlerr.UndefinedTable,
		partition.ErrUnknownView:   sqlerr.UndefinedTable,
		partition.ErrStopped:       sqlerr.AdminShutdown,
		storage.ErrClosed:          sqlerr.AdminShutdown,
		errors.New("a defect"):     sqlerr.InternalError,
		storage.ErrCorrupt:         sqlerr.InternalError,
		sqlerr.New("22012", "own"): sqlerr.DivisionByZero,
	} {
		for _, e := range []error{err, fmt.Errorf("partition 3: %w", err)} {
			if got := sqlerr.CodeOf(clientError(context.Background(), e)); got != want {
				t.Errorf("%v: %s, want %s", e, got, want)
			}
		}
	}
}
