package pgwire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// conn is one client's connection.
type conn struct {
	server  *Server
	net     net.Conn // without TLS
	tls     *tls.Conn
	wire    *wire
	session Session
	minor   uint32 // of the protocol's version
	pid     uint32
	secret  []byte
	copying bool // COPY FROM STDIN is under way
	skip    bool // until Sync, after an error in the extended protocol
	// inSequence: extended-protocol messages came since the last Sync, so answers
	// may wait until the next Sync or Flush.
	inSequence bool

	mu      sync.Mutex
	ctx     context.Context         // of statements, until one is cancelled
	cancel  context.CancelCauseFunc // of ctx
	busy    bool                    // a statement runs
	ending  bool                    // no further statement
	waiting bool                    // for the next message
	woken   bool                    // while it was waiting
	limited bool                    // a deadline is set for the wait
}

// isGone reports whether an error only says that the client went away.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

func stack() string { return string(debug.Stack()) }

// errGone is the end of a connection whose client left in order.
var errGone = io.EOF

func (c *conn) send(m pgproto3.BackendMessage) { c.wire.send(m) }

func (c *conn) flush() error { return c.wire.flush() }

// receive returns the next message. A body over the limit is 08P01, and ends the
// connection; so is one that makes no sense, which does not.
func (c *conn) receive() (pgproto3.FrontendMessage, error) {
	m, err := c.wire.receive()
	if err == nil {
		return m, nil
	}
	var tooLong errTooLong
	if errors.As(err, &tooLong) {
		return nil, errClosing{sqlerr.New(sqlerr.ProtocolViolation, "message of %d bytes exceeds the limit of %d", tooLong.length, tooLong.limit).
			WithHint("Send large data in several messages, as COPY does.")}
	}
	var malformed errMalformed
	if errors.As(err, &malformed) {
		return nil, err
	}
	if !isGone(err) && !isTimeout(err) {
		return nil, errClosing{sqlerr.New(sqlerr.ProtocolViolation, "invalid message: %w", err)}
	}
	return m, err
}

// fatalReceive ends a connection whose message could not be read.
func (c *conn) fatalReceive(err error) error {
	if isGone(err) || isTimeout(err) {
		return err
	}
	return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid message: %w", err))
}

func isTimeout(err error) bool {
	var t net.Error
	return err != nil && errors.As(err, &t) && t.Timeout()
}

// serve runs the connection to its end.
func (c *conn) serve(ctx context.Context) error {
	c.wire = newWire(c.net)
	if err := c.net.SetReadDeadline(time.Now().Add(c.server.cfg.StartupTimeout)); err != nil {
		return err
	}
	startup, err := c.startup()
	if err != nil || startup == nil {
		return err
	}
	if c.server.isDraining() {
		return c.fatal(shuttingDown)
	}
	if n := c.server.open.Add(1); n > int64(c.server.cfg.MaxConnections) {
		c.server.open.Add(-1)
		return c.fatal(sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already"))
	}
	defer c.server.open.Add(-1)
	if err := c.authenticate(ctx, startup); err != nil {
		return err
	}
	if !c.server.register(c) {
		return c.fatal(shuttingDown)
	}
	defer c.server.unregister(c)
	startup.ProcessID, startup.Client = c.pid, c
	c.session, err = c.server.cfg.Backend.Open(ctx, *startup)
	if err != nil {
		return c.fatal(sqlerr.From(err))
	}
	defer c.session.Close()
	defer func() {
		if c.cancel != nil {
			c.cancel(nil)
		}
	}()
	c.greet()
	if err := c.net.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	for {
		if err := c.step(ctx); err != nil {
			var closing errClosing
			if errors.As(err, &closing) {
				return c.fatal(closing.err)
			}
			return err
		}
	}
}

func (c *conn) greet() {
	c.send(&pgproto3.AuthenticationOk{})
	for _, p := range c.session.Parameters() {
		c.send(&pgproto3.ParameterStatus{Name: p[0], Value: p[1]})
	}
	c.send(&pgproto3.BackendKeyData{ProcessID: c.pid, SecretKey: c.secret})
	c.ready()
}

func (c *conn) ready() {
	c.notify()
	c.send(&pgproto3.ReadyForQuery{TxStatus: c.session.TransactionStatus()})
}

// notify tells the client what it listens for.
func (c *conn) notify() {
	for _, n := range c.session.Notifications() {
		c.send(&pgproto3.NotificationResponse{PID: n.ProcessID, Channel: n.Channel, Payload: n.Payload})
	}
}

// fatal sends an error that ends the connection.
func (c *conn) fatal(e *sqlerr.Error) error {
	m := errorResponse(e)
	m.Severity, m.SeverityUnlocalized = "FATAL", "FATAL"
	c.send(m)
	_ = c.net.SetWriteDeadline(time.Now().Add(5 * time.Second))
	if err := c.flush(); err != nil {
		return err
	}
	return e
}

func errorResponse(e *sqlerr.Error) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: string(e.Code), Message: sendable(e.Message),
		Detail: sendable(e.Detail), Hint: sendable(e.Hint), Position: int32(e.Position), Where: sendable(e.Context),
	}
}

// sendable returns a text without what a client cannot decode: what is not UTF-8,
// and zero bytes, which end a text on the wire. Messages quote what clients sent.
func sendable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// endWhenIdle makes the connection end after its statement; called by another goroutine.
func (c *conn) endWhenIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	if c.waiting {
		_ = c.net.SetReadDeadline(time.Now()) // wakes it
	}
}

// Wake implements Client.
func (c *conn) Wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.woken = true
		_ = c.net.SetReadDeadline(time.Now())
	}
}

// Terminate implements Client.
func (c *conn) Terminate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	if c.busy {
		c.cancel(adminShutdown)
	}
	_ = c.net.SetReadDeadline(time.Now()) // also where a COPY waits
	_ = c.net.SetWriteDeadline(time.Now().Add(cutAfter))
}

// Cancel implements Client.
func (c *conn) Cancel(cause *sqlerr.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		c.cancel(cause)
	}
}

// running brackets a call of the session with a context that a client can cancel.
func (c *conn) running(base context.Context, fn func(context.Context) error) error {
	c.mu.Lock()
	if c.ctx == nil || c.ctx.Err() != nil {
		c.ctx, c.cancel = context.WithCancelCause(base)
	}
	ctx := c.ctx
	c.busy = true
	c.mu.Unlock()
	err := c.guarded(ctx, fn)
	c.mu.Lock()
	c.busy = false
	c.mu.Unlock()
	if err != nil && context.Cause(ctx) == error(adminShutdown) { //nolint:errorlint // this very cause
		return errShutdown
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// guarded turns a panic of the session into an error: a defect in one statement
// must take neither the connection nor other clients with it.
func (c *conn) guarded(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.server.cfg.Logger.Error("statement failed", slog.Any("panic", r), slog.String("stack", stack()))
			err = sqlerr.New(sqlerr.InternalError, "internal error: %v", r).
				WithHint("This is a defect of TallyDB; the server's log has the details.")
		}
	}()
	return fn(ctx)
}

var (
	adminShutdown = sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command")
	errShutdown   = errClosing{adminShutdown}
	shuttingDown  = sqlerr.New(sqlerr.CannotConnectNow, "the database system is shutting down")
)

// next flushes what was sent and waits for a message, while the client is told
// what comes for it.
func (c *conn) next() (pgproto3.FrontendMessage, error) {
	for {
		if err := c.flush(); err != nil {
			return nil, err
		}
		c.mu.Lock()
		if c.ending {
			c.mu.Unlock()
			return nil, errShutdown
		}
		c.waiting = true
		limit, tooLong := c.session.IdleLimit()
		if limit > 0 {
			_ = c.net.SetReadDeadline(time.Now().Add(limit))
			c.limited = true
		}
		c.mu.Unlock()
		c.notify() // what came while it did not wait
		if err := c.flush(); err != nil {
			return nil, err
		}
		c.wire.rest()
		msg, err := c.receive()
		woken, ending := c.awake()
		switch {
		case ending: // whatever came at that moment is not begun
			return nil, errShutdown
		case woken && isTimeout(err):
			continue
		case limit > 0 && isTimeout(err):
			return nil, errClosing{tooLong}
		}
		return msg, err
	}
}

// awake notes that the connection does not wait any more, and reports why.
func (c *conn) awake() (woken, ending bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	woken, c.waiting, c.woken = c.woken, false, false
	if (woken || c.limited) && !c.ending {
		c.limited = false
		_ = c.net.SetReadDeadline(time.Time{})
	}
	return woken, c.ending
}
