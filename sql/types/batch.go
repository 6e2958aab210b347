package types

// BatchRows is the number of rows that operators aim to hand over at a time.
const BatchRows = 4096

// Role tells what a column is for, beyond holding values.
type Role uint8

// Column roles.
const (
	// RoleData is an ordinary column.
	RoleData Role = iota
	// RoleEnvelope is a system column that qualifies the row (_status, …).
	RoleEnvelope
	// RoleBound is the hidden <column>_lo or <column>_hi of an approximate column.
	RoleBound
	// RoleState is the hidden <column>__state of an approximate column.
	RoleState
)

// Column describes one column of a relation or of a result.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
	Role    Role
	Hidden  bool // left out of SELECT *
}

// Schema is an ordered list of columns. Schemas are immutable once shared.
type Schema struct {
	Columns []Column
}

// Index returns the position of the first column with this name, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Batch is a set of rows as columns of equal length. Rows is kept apart so that
// a batch without columns still counts its rows.
type Batch struct {
	Cols []*Vector
	Rows int
}

// NewBatch returns an empty batch for the schema's columns.
func NewBatch(s *Schema, rows int) *Batch {
	b := &Batch{Cols: make([]*Vector, len(s.Columns))}
	for i, c := range s.Columns {
		b.Cols[i] = NewVector(c.Type, rows)
	}
	return b
}

// Gather returns a new batch of the rows that sel names, in its order.
func (b *Batch) Gather(sel []int32) *Batch {
	out := &Batch{Cols: make([]*Vector, len(b.Cols)), Rows: len(sel)}
	for i, c := range b.Cols {
		out.Cols[i] = c.Gather(sel)
	}
	return out
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	for _, c := range b.Cols {
		c.Reset()
	}
	b.Rows = 0
}

// Truncate keeps the first n rows.
func (b *Batch) Truncate(n int) {
	for _, c := range b.Cols {
		c.Truncate(n)
	}
	b.Rows = n
}

// MemoryBytes returns the bytes that the batch's columns hold.
func (b *Batch) MemoryBytes() int {
	n := 0
	for _, c := range b.Cols {
		n += c.MemoryBytes()
	}
	return n
}
