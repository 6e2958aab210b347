// Package exchange carries fragments from the root of a query to the owners of
// the partitions, and their answers back. Local is the transport within a
// process; the one between nodes implements the same interface.
package exchange

import (
	"context"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// Transport reaches the owners of partitions. It is safe for concurrent use.
// An error of a call means that the partition's part is missing, unless the
// statement's own context ended or the error is the statement's own (a
// *sqlerr.Error).
type Transport interface {
	// Head returns the durable head of a partition's log.
	Head(ctx context.Context, rel *catalog.Relation, p id.Partition) (id.Offset, error)
	// StalenessMicros returns how long the oldest record at or above an offset has waited.
	StalenessMicros(rel *catalog.Relation, p id.Partition, applied id.Offset, now int64) int64
	// Fold returns a partition's groups of views at one moment that is not before
	// the cut.
	Fold(ctx context.Context, t fragment.Target, reqs ...fragment.FoldRequest) ([]*fragment.Partial, error)
	// Recount computes groups of a view as the exact twins of its aggregates do.
	Recount(ctx context.Context, t fragment.Target, req fragment.RecountRequest) (*fragment.Recount, error)
	// Await waits until a partition has admitted its log up to the cut.
	Await(ctx context.Context, t fragment.Target) (fragment.Reach, error)
	// Scan reads admitted rows; fn may keep the batches, but not change them.
	Scan(ctx context.Context, t fragment.Target, covered coverage.Set, req fragment.ScanRequest, fn func(*types.Batch) error) error
	// Side reads rows that were set aside; fn may keep the batches.
	Side(ctx context.Context, t fragment.Target, kind plan.SideKind, view id.Relation, fn func(*types.Batch) error) error
}

// Local is the transport of a node that owns every partition.
type Local struct{ *fragment.Executor }

var _ Transport = Local{}
