package parse

import (
	"fmt"
	"io"
	"strconv"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// number is the only constant that the rewritten text has: an index into the side
// table. It implements TiDB's ValueExpr, in place of the value drivers that TiDB
// ships, which would bring MySQL's types along.
type number struct {
	tidb.TexprNode
	value any
}

// TiDB's grammar makes its constants through these variables.
func init() {
	tidb.NewValueExpr = func(value any, _, _ string) tidb.ValueExpr { return &number{value: value} }
	tidb.NewParamMarkerExpr = func(int) tidb.ParamMarkerExpr { return &paramMarker{} }
	tidb.NewDecimal = func(s string) (any, error) { return s, nil }
	tidb.NewHexLiteral = func(s string) (any, error) { return s, nil }
	tidb.NewBitLiteral = func(s string) (any, error) { return s, nil }
}

// index returns the number, -1 if the text held something else.
func (n *number) index() int {
	switch v := n.value.(type) {
	case int64:
		return int(v)
	case uint64:
		return int(v)
	}
	return -1
}

// SetValue implements tidb.ValueExpr.
func (n *number) SetValue(v any) { n.value = v }

// GetValue implements tidb.ValueExpr.
func (n *number) GetValue() any { return n.value }

// GetDatumString implements tidb.ValueExpr.
func (n *number) GetDatumString() string { return n.GetString() }

// GetString implements tidb.ValueExpr.
func (n *number) GetString() string { return strconv.Itoa(n.index()) }

// GetProjectionOffset implements tidb.ValueExpr.
func (n *number) GetProjectionOffset() int { return -1 }

// SetProjectionOffset implements tidb.ValueExpr.
func (n *number) SetProjectionOffset(int) {}

// Format implements tidb.ExprNode.
func (n *number) Format(w io.Writer) { _, _ = fmt.Fprint(w, n.value) }

// Restore implements tidb.Node.
func (n *number) Restore(c *format.RestoreCtx) error {
	c.WritePlain(n.GetString())
	return nil
}

// Accept implements tidb.Node.
func (n *number) Accept(v tidb.Visitor) (tidb.Node, bool) {
	m, _ := v.Enter(n)
	return v.Leave(m)
}

// paramMarker completes the driver; the rewritten text has no question marks.
type paramMarker struct{ number }

// SetOrder implements tidb.ParamMarkerExpr.
func (*paramMarker) SetOrder(int) {}
