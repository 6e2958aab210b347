package session

import (
	"fmt"

	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// sink is where a statement's result goes, in the simple or extended protocol.
type sink struct {
	writer   *pgwire.Writer
	text     *types.TextOptions
	extended bool            // the client knows the columns from Describe
	formats  []pgwire.Format // of the result's columns; empty: all text
	rows     int64
}

func simpleSink(s *Session, w *pgwire.Writer) *sink { return &sink{writer: w, text: s.textOptions()} }

// begin starts a result with these columns, which come from those of relations
// where that is known.
func (o *sink) begin(cols []types.Column, from []plan.Origin) error {
	wire := wireColumns(cols, from, o.formats)
	if o.extended {
		o.writer.Begin(wire, o.text)
		return nil
	}
	return o.writer.Columns(wire, o.text)
}

// send sends rows [from, to) of a batch.
func (o *sink) send(b *types.Batch, from, to int) error {
	o.rows += int64(to - from)
	return o.writer.Rows(b, from, to)
}

func (o *sink) complete(format string, args ...any) error {
	return o.writer.Complete(fmt.Sprintf(format, args...))
}

// table sends a whole small result.
func (o *sink) table(cols []types.Column, b *types.Batch, tag string) error {
	if err := o.begin(cols, nil); err != nil {
		return err
	}
	if err := o.send(b, 0, b.Rows); err != nil {
		return err
	}
	return o.complete("%s", tag)
}

// texts sends a result of text columns.
func (o *sink) texts(tag string, names []string, rows [][]string) error {
	cols := textColumns(names)
	b := types.NewBatch(&types.Schema{Columns: cols}, len(rows))
	for _, r := range rows {
		for c, v := range r {
			b.Cols[c].AppendString(v)
		}
		b.Rows++
	}
	return o.table(cols, b, tag)
}

func textColumns(names []string) []types.Column {
	cols := make([]types.Column, len(names))
	for i, n := range names {
		cols[i] = types.Column{Name: n, Type: types.Of(types.Text)}
	}
	return cols
}

// wireColumns describes columns to the client. One format serves all columns.
func wireColumns(cols []types.Column, from []plan.Origin, formats []pgwire.Format) []pgwire.Column {
	out := make([]pgwire.Column, len(cols))
	for i, c := range cols {
		out[i] = pgwire.Column{Name: c.Name, Type: c.Type, Format: formatOf(formats, i)}
		if i < len(from) {
			out[i].Table, out[i].Number = from[i].Relation, int16(from[i].Column)
		}
		if c.Type.OID == types.Unknown { // PostgreSQL resolves it to text
			out[i].Type = types.Of(types.Text)
		}
	}
	return out
}

func formatOf(formats []pgwire.Format, i int) pgwire.Format {
	switch {
	case len(formats) == 1:
		return formats[0]
	case i < len(formats):
		return formats[i]
	default:
		return pgwire.TextFormat
	}
}

// checkFormats refuses format codes that do not fit the number of values.
func checkFormats(formats []pgwire.Format, values int, what string) error {
	if len(formats) > 1 && len(formats) != values {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d %s formats but there are %d values", len(formats), what, values)
	}
	for _, f := range formats {
		if f != pgwire.TextFormat && f != pgwire.BinaryFormat {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
	}
	return nil
}
