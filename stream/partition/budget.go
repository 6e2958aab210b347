package partition

import "sync/atomic"

// Budget is the memory for groups of a node's partitions together, which have equal
// shares of it. It is safe for concurrent use.
type Budget struct {
	bytes      int64
	partitions atomic.Int64
}

// NewBudget returns a budget of this many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes: bytes} }

// Share returns the bytes of one partition. It changes as partitions come and go;
// they look at each checkpoint.
func (b *Budget) Share() int64 { return b.bytes / max(b.partitions.Load(), 1) }

func (b *Budget) join()  { b.partitions.Add(1) }
func (b *Budget) leave() { b.partitions.Add(-1) }
