package pgwire

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Limits of messages and connections.
const (
	MaxStartupBody = 8 << 10
	MaxBody        = 16 << 20
)

// Config of a server. The zero value of an optional field means its default.
type Config struct {
	Backend        Backend
	Logger         *slog.Logger
	MaxConnections int           // default 1,000
	StartupTimeout time.Duration // default 30 s
	TLS            *tls.Config   // optional: without, TLS is not offered
}

// Server speaks with clients.
type Server struct {
	cfg     Config
	nextPID atomic.Uint32
	open    atomic.Int64
	total   atomic.Int64

	mu       sync.Mutex
	conns    map[uint32]*conn
	draining bool // no connection is let in
}

// NewServer returns a server that serves nobody yet.
func NewServer(cfg Config) *Server {
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = 1000
	}
	if cfg.StartupTimeout == 0 {
		cfg.StartupTimeout = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, conns: map[uint32]*conn{}}
}

// Connections returns how many clients are connected and how many ever were.
func (s *Server) Connections() (open, total int64) { return s.open.Load(), s.total.Load() }

// cutAfter is how long a cancelled statement has to end before its connection is closed.
const cutAfter = time.Second

// Serve accepts clients until ctx ends; then it lets each finish its statement,
// tells it 57P01, and returns when all are gone or drain has passed. Who comes
// meanwhile is told 57P03.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	base, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	end, ended := context.WithCancel(context.Background())
	var served, refused sync.WaitGroup
	accepting := make(chan error, 1)
	go func() { accepting <- s.accept(base, end, l, &served, &refused) }()
	var failure error
	select {
	case failure = <-accepting:
		accepting = nil
	case <-ctx.Done():
	}
	s.shutdown()
	finished := make(chan struct{})
	go func() { served.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(drain):
		// A statement that ends when it is cancelled leaves its connection time to say
		// why; one that does not is cut.
		stop(adminShutdown)
		s.wakeAll()
		select {
		case <-finished:
		case <-time.After(cutAfter):
			s.closeAll()
			<-finished
		}
	}
	_ = l.Close()
	ended()
	if accepting != nil {
		if err := <-accepting; !errors.Is(err, net.ErrClosed) {
			failure = err
		}
	}
	refused.Wait()
	return failure
}

// accept takes connections until the listener is closed. Those that come while the
// others drain are closed when end ends.
func (s *Server) accept(base, end context.Context, l net.Listener, served, refused *sync.WaitGroup) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		if s.admit(served) {
			go func() {
				defer served.Done()
				s.serveConn(base, nc)
			}()
			continue
		}
		refused.Go(func() {
			defer context.AfterFunc(end, func() { _ = nc.Close() })()
			s.serveConn(base, nc)
		})
	}
}

// admit counts a connection in, unless the server drains.
func (s *Server) admit(served *sync.WaitGroup) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		served.Add(1)
	}
	return !s.draining
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// shutdown tells every connection to end after its statement, and lets none in.
func (s *Server) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for _, c := range s.conns {
		c.endWhenIdle()
	}
}

// wakeAll ends the waiting for messages, such as a COPY's.
func (s *Server) wakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.net.SetReadDeadline(time.Now())
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.net.Close()
	}
}

func (s *Server) serveConn(ctx context.Context, nc net.Conn) {
	defer nc.Close()
	s.total.Add(1)
	c := &conn{server: s, net: nc}
	log := s.cfg.Logger.With(slog.String("client", nc.RemoteAddr().String()))
	defer func() {
		if r := recover(); r != nil { // a defect must not take the process and other clients with it
			log.Error("connection failed", slog.Any("panic", r), slog.String("stack", stack()))
		}
	}()
	if err := c.serve(ctx); err != nil && !isGone(err) {
		log.Debug("connection ended", slog.String("error", err.Error()))
	}
}

// Sizes of the secret that a client cancels with, before and since protocol 3.2.
const (
	shortSecret = 4
	longSecret  = 32
)

// register gives a connection its number and its secret. It reports false if the
// server drains.
func (s *Server) register(c *conn) bool {
	c.secret = make([]byte, shortSecret)
	if c.minor >= 2 {
		c.secret = make([]byte, longSecret)
	}
	_, _ = rand.Read(c.secret) // never fails (crypto/rand)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	for { // numbers start again at the end; one of a long-lived connection stays its own
		c.pid = s.nextPID.Add(1) & (1<<31 - 1)
		if c.pid != 0 && s.conns[c.pid] == nil {
			break
		}
	}
	s.conns[c.pid] = c
	return true
}

func (s *Server) unregister(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.pid)
}

// cancel ends the statement of the connection whose number and secret a
// CancelRequest has.
func (s *Server) cancel(request []byte) {
	if len(request) < 4 {
		return
	}
	s.mu.Lock()
	c := s.conns[binary.BigEndian.Uint32(request)]
	s.mu.Unlock()
	if c != nil && subtle.ConstantTimeCompare(request[4:], c.secret) == 1 {
		c.Cancel(sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request"))
	}
}
