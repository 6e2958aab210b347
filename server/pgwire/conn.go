package pgwire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// conn is one client's connection.
type conn struct {
	server  *Server
	net     net.Conn
	backend *pgproto3.Backend
	session Session
	pid     uint32
	secret  [4]byte
	copying bool // COPY FROM STDIN is under way
	skip    bool // until Sync, after an error in the extended protocol
	// inSequence: extended-protocol messages came since the last Sync, so answers
	// may wait until the next Sync or Flush.
	inSequence bool

	mu      sync.Mutex
	cancel  context.CancelCauseFunc // of the statement that runs
	ending  bool                    // no further statement
	waiting bool                    // for the next message
}

// isGone reports whether an error only says that the client went away.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

func stack() string { return string(debug.Stack()) }

func (c *conn) send(m pgproto3.BackendMessage) { c.backend.Send(m) }

func (c *conn) flush() error { return c.backend.Flush() }

// receive returns the next message. A body over the limit is 08P01.
func (c *conn) receive() (pgproto3.FrontendMessage, error) {
	m, err := c.backend.Receive()
	var tooLong *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &tooLong) {
		return nil, errClosing{sqlerr.New(sqlerr.ProtocolViolation, "message of %d bytes exceeds the limit of %d", tooLong.ActualBodyLen, tooLong.MaxExpectedBodyLen).
			WithHint("Send large data in several messages, as COPY does.")}
	}
	if err != nil && !isGone(err) && !isTimeout(err) {
		return nil, errClosing{sqlerr.New(sqlerr.ProtocolViolation, "invalid message: %w", err)}
	}
	return m, err
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// serve runs the connection to its end.
func (c *conn) serve(ctx context.Context) error {
	c.backend = pgproto3.NewBackend(bufio.NewReaderSize(c.net, 64<<10), c.net)
	c.backend.SetMaxBodyLen(MaxStartupBody)
	if err := c.net.SetReadDeadline(time.Now().Add(c.server.cfg.StartupTimeout)); err != nil {
		return err
	}
	startup, err := c.startup()
	if err != nil || startup == nil {
		return err
	}
	if n := c.server.open.Add(1); n > int64(c.server.cfg.MaxConnections) {
		c.server.open.Add(-1)
		return c.fatal(sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already"))
	}
	defer c.server.open.Add(-1)
	c.server.register(c)
	defer c.server.unregister(c)
	startup.ProcessID = c.pid
	c.session, err = c.server.cfg.Backend.Open(ctx, *startup)
	if err != nil {
		return c.fatal(sqlerr.From(err))
	}
	defer c.session.Close()
	c.greet()
	c.backend.SetMaxBodyLen(MaxBody)
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

// startup reads the startup message; nil if the connection only cancels.
func (c *conn) startup() (*Startup, error) {
	for range 4 {
		msg, err := c.backend.ReceiveStartupMessage()
		if err != nil {
			if isGone(err) || isTimeout(err) {
				return nil, err
			}
			return nil, c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid startup packet: %w", err))
		}
		switch m := msg.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := c.net.Write([]byte{'N'}); err != nil { // not offered; the client may go on in clear
				return nil, err
			}
		case *pgproto3.CancelRequest:
			c.server.cancel(m.ProcessID, m.SecretKey)
			return nil, nil
		case *pgproto3.StartupMessage:
			s := &Startup{User: m.Parameters["user"], Database: m.Parameters["database"], Parameters: m.Parameters, RemoteAddr: c.net.RemoteAddr().String()}
			if s.User == "" {
				return nil, c.fatal(sqlerr.New("28000", "no PostgreSQL user name specified in startup packet"))
			}
			if s.Database == "" {
				s.Database = s.User
			}
			if m.ProtocolVersion > pgproto3.ProtocolVersion30 {
				c.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 0})
			}
			return s, nil
		}
	}
	return nil, c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "too many negotiation requests"))
}

func (c *conn) greet() {
	c.send(&pgproto3.AuthenticationOk{})
	for _, p := range c.session.Parameters() {
		c.send(&pgproto3.ParameterStatus{Name: p[0], Value: p[1]})
	}
	c.send(&pgproto3.BackendKeyData{ProcessID: c.pid, SecretKey: c.secret[:]})
	c.ready()
}

func (c *conn) ready() { c.send(&pgproto3.ReadyForQuery{TxStatus: c.session.TransactionStatus()}) }

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
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: string(e.Code), Message: e.Message,
		Detail: e.Detail, Hint: e.Hint, Position: int32(e.Position), Where: e.Context,
	}
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

// cancelStatement ends the statement that runs, if one does.
func (c *conn) cancelStatement(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// running brackets a call of the session with a context that a client can cancel.
func (c *conn) running(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.cancel = nil
		c.mu.Unlock()
		cancel(nil)
	}()
	err := c.guarded(ctx, fn)
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
)

// next flushes what was sent and waits for a message.
func (c *conn) next() (pgproto3.FrontendMessage, error) {
	if err := c.flush(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return nil, errShutdown
	}
	c.waiting = true
	c.mu.Unlock()
	msg, err := c.receive()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if c.ending && err != nil {
		return nil, errShutdown
	}
	return msg, err
}
