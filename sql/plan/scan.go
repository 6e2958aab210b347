package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// FoldScan reads the groups of a fold: of a continuous view's states, or of a
// partial aggregation over the retained log where View is nil. Without keys and
// windows it yields exactly one row, also where no event was seen.
type FoldScan struct {
	leaf
	Fold *Fold
	View *catalog.Relation // nil: ad hoc
	// KeyFilter admits groups. It is over the columns of Fold.Layout(), and reads
	// only windows and keys.
	KeyFilter expr.Expr
	// Partition holds the values of the stream's partition key, one for each of
	// its columns, where equality pins them; nil reads every partition. Only this
	// narrows the expected set of the coverage.
	Partition []expr.Expr
	// Needed says which of Fold.Aggs are read; states of others need not travel.
	Needed []bool
	// Columns are the columns of Fold.Layout() that the scan yields, in order.
	Columns []int
	// Accuracy, if set, is what a view's contract makes of values whose error is larger.
	Accuracy *catalog.Accuracy

	layout *OutputLayout // of Fold, computed once
}

// NewFoldScan returns a scan of all columns.
func NewFoldScan(f *Fold, view *catalog.Relation) *FoldScan {
	s := &FoldScan{Fold: f, View: view, Needed: make([]bool, len(f.Aggs))}
	for i := range s.Needed {
		s.Needed[i] = true
	}
	l := f.Layout()
	s.layout = &l
	s.Columns = all(len(l.Schema.Columns))
	return s
}

// Layout returns the layout of the scan's fold.
func (s *FoldScan) Layout() OutputLayout {
	if s.layout != nil {
		return *s.layout
	}
	return s.Fold.Layout()
}

// Schema implements Node.
func (s *FoldScan) Schema() *types.Schema { return pick(s.Layout().Schema, s.Columns) }

// WithChildren implements Node.
func (s *FoldScan) WithChildren([]Node) Node { return s }

// Exprs implements Node. The fold of an ad-hoc scan belongs to the statement,
// so its expressions are among them.
func (s *FoldScan) Exprs() []expr.Expr {
	out := append([]expr.Expr{s.KeyFilter}, s.Partition...)
	if s.View != nil {
		return out
	}
	return append(out, s.Fold.exprs()...)
}

// WithExprs implements Node.
func (s *FoldScan) WithExprs(e []expr.Expr) Node {
	n := *s
	n.KeyFilter, e = e[0], e[1:]
	if len(s.Partition) > 0 {
		n.Partition = e[:len(s.Partition)]
	}
	if s.View == nil {
		n.Fold = s.Fold.withExprs(e[len(s.Partition):])
	}
	return &n
}

func (f *Fold) exprs() []expr.Expr {
	out := append([]expr.Expr{f.Filter}, f.Keys...)
	for _, s := range f.States {
		out = append(append(out, s.Filter), s.Inputs...)
	}
	return out
}

func (f *Fold) withExprs(e []expr.Expr) *Fold {
	n := *f
	take := func(k int) []expr.Expr {
		out := append([]expr.Expr(nil), e[:k]...)
		e = e[k:]
		return out
	}
	n.Filter = take(1)[0]
	n.Keys = take(len(f.Keys))
	n.States = append([]FoldState(nil), f.States...)
	for i := range n.States {
		n.States[i].Filter = take(1)[0]
		n.States[i].Inputs = take(len(n.States[i].Inputs))
	}
	return &n
}

// StreamScan reads the admitted events of a stream from the retained log. Its
// columns are the stream's, then the envelope.
type StreamScan struct {
	leaf
	Stream    *catalog.Relation
	Filter    expr.Expr   // over the stream's columns; nil admits all
	Partition []expr.Expr // as in FoldScan
	Columns   []int       // of StreamSchema that the scan yields
	Limit     int64       // a partition need not yield more rows; 0 is no limit
}

// StreamSchema returns the columns that a stream can be asked for.
func StreamSchema(stream *catalog.Relation) *types.Schema {
	cols := append([]types.Column(nil), stream.Columns...)
	return &types.Schema{Columns: append(cols, EnvelopeColumns()...)}
}

// NewStreamScan returns a scan of all columns.
func NewStreamScan(stream *catalog.Relation) *StreamScan {
	return &StreamScan{Stream: stream, Columns: all(len(stream.Columns) + EnvColumns)}
}

// Schema implements Node.
func (s *StreamScan) Schema() *types.Schema { return pick(StreamSchema(s.Stream), s.Columns) }

// WithChildren implements Node.
func (s *StreamScan) WithChildren([]Node) Node { return s }

// Exprs implements Node.
func (s *StreamScan) Exprs() []expr.Expr { return append([]expr.Expr{s.Filter}, s.Partition...) }

// WithExprs implements Node.
func (s *StreamScan) WithExprs(e []expr.Expr) Node {
	n := *s
	n.Filter = e[0]
	if len(s.Partition) > 0 {
		n.Partition = e[1:]
	}
	return &n
}

// TableScan reads a reference table.
type TableScan struct {
	leaf
	Table   *catalog.Relation
	Filter  expr.Expr // over the table's columns; the scan applies it
	Columns []int     // of the table; RowID asks for the row's identity
	Key     *Key      // of the row that meets the filter, if the filter says one
}

// RowID is the column number that stands for the identity of a table's row, an
// int8 that UPDATE and DELETE hand back to the storage.
const RowID = -1

// Schema implements Node.
func (s *TableScan) Schema() *types.Schema {
	out := &types.Schema{}
	for _, c := range s.Columns {
		if c == RowID {
			out.Columns = append(out.Columns, types.Column{Name: "_row_id", Type: types.Of(types.Int8), NotNull: true, Hidden: true})
			continue
		}
		out.Columns = append(out.Columns, s.Table.Columns[c])
	}
	return out
}

// WithChildren implements Node.
func (s *TableScan) WithChildren([]Node) Node { return s }

// Exprs implements Node.
func (s *TableScan) Exprs() []expr.Expr { return append([]expr.Expr{s.Filter}, s.Key.exprs()...) }

// WithExprs implements Node.
func (s *TableScan) WithExprs(e []expr.Expr) Node {
	n := *s
	n.Filter, n.Key = e[0], s.Key.with(e[1:])
	return &n
}

// VirtualScan reads a virtual table such as those of pg_catalog.
type VirtualScan struct {
	leaf
	mute
	Table *VirtualTable
}

// Schema implements Node.
func (s *VirtualScan) Schema() *types.Schema { return &types.Schema{Columns: s.Table.Columns} }

// WithChildren implements Node.
func (s *VirtualScan) WithChildren([]Node) Node { return s }

// WithExprs implements Node.
func (s *VirtualScan) WithExprs([]expr.Expr) Node { return s }

// Values yields rows of expressions that read no column.
type Values struct {
	leaf
	Rows    [][]expr.Expr
	Columns []types.Column
}

// OneRow yields a single row without columns, for SELECT without FROM.
func OneRow() *Values { return &Values{Rows: [][]expr.Expr{{}}} }

// Schema implements Node.
func (v *Values) Schema() *types.Schema { return &types.Schema{Columns: v.Columns} }

// WithChildren implements Node.
func (v *Values) WithChildren([]Node) Node { return v }

// Exprs implements Node.
func (v *Values) Exprs() []expr.Expr {
	var out []expr.Expr
	for _, r := range v.Rows {
		out = append(out, r...)
	}
	return out
}

// WithExprs implements Node.
func (v *Values) WithExprs(e []expr.Expr) Node {
	n := *v
	n.Rows = make([][]expr.Expr, len(v.Rows))
	for i, r := range v.Rows {
		n.Rows[i], e = e[:len(r):len(r)], e[len(r):]
	}
	return &n
}

// FunctionScan yields the rows of a set-returning function.
type FunctionScan struct {
	leaf
	Function string
	// Set is the function, nil for those whose types depend on the arguments.
	Set        *expr.SetFunction
	Args       []expr.Expr
	Columns    []types.Column // with Ordinality one more, an int8
	Ordinality bool
	// Zip makes the scan yield the columns of several functions side by side, until
	// all have ended; those that end earlier yield NULLs.
	Zip []*FunctionScan
}

// Schema implements Node.
func (s *FunctionScan) Schema() *types.Schema { return &types.Schema{Columns: s.Columns} }

// WithChildren implements Node.
func (s *FunctionScan) WithChildren([]Node) Node { return s }

// Exprs implements Node.
func (s *FunctionScan) Exprs() []expr.Expr {
	out := append([]expr.Expr(nil), s.Args...)
	for _, z := range s.Zip {
		out = append(out, z.Args...)
	}
	return out
}

// WithExprs implements Node.
func (s *FunctionScan) WithExprs(e []expr.Expr) Node {
	n := *s
	k := len(s.Args)
	n.Args, e = e[:k:k], e[k:]
	n.Zip = nil
	for _, z := range s.Zip {
		c := *z
		k = len(z.Args)
		c.Args, e = e[:k:k], e[k:]
		n.Zip = append(n.Zip, &c)
	}
	return &n
}

// Shared is a common table expression that is read in several places: it runs
// once for each execution of the statement.
type Shared struct {
	mute
	Name  string
	ID    int // unique within the statement
	Child Node
}

// Schema implements Node.
func (s *Shared) Schema() *types.Schema { return s.Child.Schema() }

// Children implements Node.
func (s *Shared) Children() []Node { return []Node{s.Child} }

// WithChildren implements Node.
func (s *Shared) WithChildren(c []Node) Node { return &Shared{Name: s.Name, ID: s.ID, Child: c[0]} }

// WithExprs implements Node.
func (s *Shared) WithExprs([]expr.Expr) Node { return s }
