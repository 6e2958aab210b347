package pgwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// step handles one message.
func (c *conn) step(ctx context.Context) error {
	var msg pgproto3.FrontendMessage
	var err error
	if c.skip || c.inSequence {
		msg, err = c.receive()
	} else {
		msg, err = c.next()
	}
	if err != nil {
		var malformed errMalformed
		if errors.As(err, &malformed) {
			return c.malformed(ctx, malformed)
		}
		return err
	}
	switch m := msg.(type) {
	case *pgproto3.Terminate:
		return io.EOF
	case *pgproto3.Query:
		c.skip = false
		return c.query(ctx, m.String)
	case *pgproto3.Sync:
		return c.sync(ctx)
	case *pgproto3.Flush:
		return c.flush()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // the rest of a COPY that failed
	}
	if c.skip {
		return nil
	}
	if err := c.extended(ctx, msg); err != nil {
		var closing errClosing
		if errors.As(err, &closing) || isGone(err) {
			return err
		}
		c.send(errorResponse(sqlerr.From(err)))
		c.skip = true
	}
	return nil
}

// malformed answers a message that makes no sense as one that failed.
func (c *conn) malformed(ctx context.Context, m errMalformed) error {
	if !c.skip {
		c.send(errorResponse(sqlerr.From(m)))
		c.skip = true
	}
	if m.kind == 'Q' || m.kind == 'S' {
		return c.sync(ctx)
	}
	return nil
}

func (c *conn) query(ctx context.Context, sql string) error {
	w := &Writer{c: c}
	err := c.running(ctx, func(ctx context.Context) error { return c.session.Query(ctx, sql, w) })
	if err := c.finish(w, err); err != nil {
		return err
	}
	c.ready()
	return nil
}

// finish sends a statement's error after the rows that came before it. The
// error that it returns ends the connection.
func (c *conn) finish(w *Writer, err error) error {
	var closing errClosing
	if errors.As(err, &closing) || isGone(err) {
		return err
	}
	w.hand()
	if err != nil {
		c.send(errorResponse(sqlerr.From(err)))
		return c.drainCopy()
	}
	return nil
}

// drainCopy reads the rest of a COPY FROM STDIN that failed, so that what the
// client still sends is not taken for statements.
func (c *conn) drainCopy() error {
	if !c.copying {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	source := CopySource{c: c}
	for {
		if _, err := source.Next(); err != nil {
			var closing errClosing
			if errors.As(err, &closing) || isGone(err) && !errors.Is(err, io.EOF) {
				return err
			}
			c.copying = false
			return nil
		}
	}
}

func (c *conn) sync(ctx context.Context) error {
	failed := c.skip
	c.skip, c.inSequence = false, false
	w := &Writer{c: c}
	err := c.running(ctx, func(ctx context.Context) error { return c.session.Sync(ctx, failed, w) })
	w.hand()
	if err != nil {
		c.send(errorResponse(sqlerr.From(err)))
	}
	c.ready()
	return nil
}

// extended handles a message of the extended protocol.
func (c *conn) extended(ctx context.Context, msg pgproto3.FrontendMessage) error {
	c.inSequence = true
	return c.running(ctx, func(ctx context.Context) error {
		switch m := msg.(type) {
		case *pgproto3.Parse:
			if err := c.session.Parse(ctx, m.Name, m.Query, slices.Clone(m.ParameterOIDs)); err != nil {
				return err
			}
			c.send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			if err := c.session.Bind(ctx, bindOf(m)); err != nil {
				return err
			}
			c.send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			return c.describe(ctx, m)
		case *pgproto3.Execute:
			w := &Writer{c: c}
			err := c.session.Execute(ctx, m.Portal, int(m.MaxRows), w)
			w.hand()
			if err != nil && c.copying {
				c.send(errorResponse(sqlerr.From(err)))
				c.skip = true
				return c.drainCopy()
			}
			return err
		case *pgproto3.Close:
			if m.ObjectType == 'S' {
				c.session.CloseStatement(m.Name)
			} else {
				c.session.ClosePortal(m.Name)
			}
			c.send(&pgproto3.CloseComplete{})
		default:
			return errClosing{sqlerr.New(sqlerr.ProtocolViolation, "unexpected message %s", messageName(msg))}
		}
		return nil
	})
}

// messageName is a message's name in the protocol's documentation.
func messageName(msg pgproto3.FrontendMessage) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", msg), "*pgproto3.")
}

// bindOf copies a Bind message out of the receive buffer.
func bindOf(m *pgproto3.Bind) Bind {
	b := Bind{Portal: m.DestinationPortal, Statement: m.PreparedStatement}
	for _, f := range m.ParameterFormatCodes {
		b.ParamFormats = append(b.ParamFormats, Format(f))
	}
	for _, f := range m.ResultFormatCodes {
		b.ResultFormats = append(b.ResultFormats, Format(f))
	}
	for _, p := range m.Parameters {
		if p != nil {
			p = append([]byte{}, p...)
		}
		b.Params = append(b.Params, p)
	}
	return b
}

func (c *conn) describe(ctx context.Context, m *pgproto3.Describe) error {
	if m.ObjectType == 'S' {
		params, cols, err := c.session.DescribeStatement(ctx, m.Name)
		if err != nil {
			return err
		}
		d := &pgproto3.ParameterDescription{ParameterOIDs: make([]uint32, len(params))}
		for i, p := range params {
			d.ParameterOIDs[i] = uint32(p)
		}
		c.send(d)
		c.sendColumns(cols)
		return nil
	}
	cols, err := c.session.DescribePortal(ctx, m.Name)
	if err != nil {
		return err
	}
	c.sendColumns(cols)
	return nil
}

func (c *conn) sendColumns(cols []Column) {
	if cols == nil {
		c.send(&pgproto3.NoData{})
		return
	}
	c.send(rowDescription(cols))
}
