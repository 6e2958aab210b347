package plan

import (
	"context"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// VirtualTable is a table whose rows are computed when it is read.
type VirtualTable struct {
	Schema, Name string
	OID          uint32
	Columns      []types.Column
	View         bool // in PostgreSQL it is a view
	Restricted   bool // only superusers read it
	// Rows computes all rows for a statement. The batches may be shared with other
	// statements: callers only read them.
	Rows func(ctx context.Context, ec *expr.Context) ([]*types.Batch, error)
}
