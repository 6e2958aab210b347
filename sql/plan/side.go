package plan

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
)

// SideKind is a kind of side relation.
type SideKind string

// Side relations: what a stream or a view set aside.
const (
	SideRejected SideKind = "rejected" // <stream>__rejected: events refused at ingest or admission
	SideLate     SideKind = "late"     // <view>__late, or <stream>__late for all its views: events after their window was final
	SideErrors   SideKind = "errors"   // <view>__errors: events on which an expression of the view failed
)

// SideName splits the name of a side relation.
func SideName(name string) (relation string, kind SideKind, ok bool) {
	i := strings.LastIndex(name, "__")
	if i <= 0 {
		return "", "", false
	}
	switch kind = SideKind(name[i+2:]); kind {
	case SideRejected, SideLate, SideErrors:
		return name[:i], kind, true
	}
	return "", "", false
}

// Places of the columns of <stream>__rejected ahead of the stream's.
const (
	RejectedPartition = iota
	RejectedOffset
	RejectedRow
	RejectedReason
	RejectedDetail
	RejectedAppendTime
	RejectedLead // how many they are
)

// RejectedColumns are the columns of <stream>__rejected. A reason is the same for all
// rows that are bad for it; the detail says where the row stood in its COPY and
// shows its beginning, where it could not be parsed.
func RejectedColumns(stream *catalog.Relation) []types.Column {
	return append([]types.Column{
		{Name: "_partition", Type: types.Of(types.Int4)},
		{Name: "_offset", Type: types.Of(types.Int8)},
		{Name: "_row", Type: types.Of(types.Int4)},
		{Name: "reason", Type: types.Of(types.Text)},
		{Name: "detail", Type: types.Of(types.Text)},
		{Name: "_append_time", Type: types.Of(types.Timestamptz)},
	}, nullable(stream.Columns)...)
}

// LateColumns are the columns of <view>__late and <stream>__late. The watermark
// is the partition's when the event arrived.
func LateColumns(stream *catalog.Relation) []types.Column {
	t := types.Of(types.Timestamptz)
	if i := stream.Stream.TimeColumn; i >= 0 {
		t = stream.Columns[i].Type
	}
	return append(nullable(stream.Columns),
		types.Column{Name: "window_start", Type: t},
		types.Column{Name: "window_end", Type: t},
		types.Column{Name: "_watermark", Type: types.Of(types.Timestamptz)},
		types.Column{Name: "reason", Type: types.Of(types.Text)})
}

// ErrorsLead is how many columns of <view>__errors stand ahead of the stream's.
const ErrorsLead = 2

// ErrorColumns are the columns of <view>__errors.
func ErrorColumns(stream *catalog.Relation) []types.Column {
	return append([]types.Column{
		{Name: "reason", Type: types.Of(types.Text)},
		{Name: "sqlstate", Type: types.Of(types.Text)},
	}, nullable(stream.Columns)...)
}

func nullable(cols []types.Column) []types.Column {
	out := append([]types.Column(nil), cols...)
	for i := range out {
		out[i].NotNull = false
	}
	return out
}

// SideScan reads a side relation. It has no envelope: the rows are reports, not
// results.
type SideScan struct {
	leaf
	Kind   SideKind
	Stream *catalog.Relation
	View   *catalog.Relation // nil for relations of the stream
	Filter expr.Expr
	// Columns are those of the side relation that the scan yields.
	Columns []int
}

// SideSchema returns the columns that a side relation can be asked for.
func SideSchema(kind SideKind, stream *catalog.Relation) *types.Schema {
	switch kind {
	case SideRejected:
		return &types.Schema{Columns: RejectedColumns(stream)}
	case SideLate:
		return &types.Schema{Columns: LateColumns(stream)}
	default:
		return &types.Schema{Columns: ErrorColumns(stream)}
	}
}

// NewSideScan returns a scan of all columns.
func NewSideScan(kind SideKind, stream, view *catalog.Relation) *SideScan {
	return &SideScan{Kind: kind, Stream: stream, View: view, Columns: all(len(SideSchema(kind, stream).Columns))}
}

// Name returns the relation's name.
func (s *SideScan) Name() string {
	return s.Of().Name + "__" + string(s.Kind)
}

// Of returns the stream or the view that the side relation is of.
func (s *SideScan) Of() *catalog.Relation {
	if s.View != nil {
		return s.View
	}
	return s.Stream
}

// Schema implements Node.
func (s *SideScan) Schema() *types.Schema { return pick(SideSchema(s.Kind, s.Stream), s.Columns) }

// WithChildren implements Node.
func (s *SideScan) WithChildren([]Node) Node { return s }

// Exprs implements Node.
func (s *SideScan) Exprs() []expr.Expr { return []expr.Expr{s.Filter} }

// WithExprs implements Node.
func (s *SideScan) WithExprs(e []expr.Expr) Node {
	n := *s
	n.Filter = e[0]
	return &n
}
