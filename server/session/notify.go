package session

import (
	"maps"
	"slices"
	"sync"

	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Limits of notifications.
const (
	maxChannelBytes = 63
	maxPayloadBytes = 8000 // less than this
	maxQueuedBytes  = 8 << 20
	maxListening    = 10_000
)

// channels are who listens to what in a database.
type channels struct {
	mu        sync.Mutex
	listeners map[string]map[*mailbox]struct{}
}

// mailbox is what waits for a session's client to be told.
type mailbox struct {
	client pgwire.Client

	mu    sync.Mutex
	queue []pgwire.Notification
	bytes int
}

// put adds a notification and wakes the client's connection.
func (m *mailbox) put(n pgwire.Notification) {
	m.mu.Lock()
	m.queue = append(m.queue, n)
	m.bytes += len(n.Channel) + len(n.Payload)
	m.mu.Unlock()
	if m.client != nil {
		m.client.Wake()
	}
}

// take empties the mailbox.
func (m *mailbox) take() []pgwire.Notification {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.queue
	m.queue, m.bytes = nil, 0
	return out
}

func (m *mailbox) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes > maxQueuedBytes
}

func (c *channels) listen(channel string, m *mailbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listeners == nil {
		c.listeners = map[string]map[*mailbox]struct{}{}
	}
	if c.listeners[channel] == nil {
		c.listeners[channel] = map[*mailbox]struct{}{}
	}
	c.listeners[channel][m] = struct{}{}
}

func (c *channels) unlisten(channel string, m *mailbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.listeners[channel], m)
	if len(c.listeners[channel]) == 0 {
		delete(c.listeners, channel)
	}
}

// room fails while a listener has too much that it did not read yet.
func (c *channels) room(list []pgwire.Notification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range list {
		for m := range c.listeners[n.Channel] {
			if m.full() {
				return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many notifications wait for a listener of channel %q", n.Channel).
					WithHint("A client that listens does not read what it is sent, or stays in a transaction.")
			}
		}
	}
	return nil
}

// publish hands notifications to all who listen.
func (c *channels) publish(list []pgwire.Notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range list {
		for m := range c.listeners[n.Channel] {
			m.put(n)
		}
	}
}

// listenAction is a LISTEN or UNLISTEN, which takes effect at COMMIT.
type listenAction struct {
	channel string // "*" of UNLISTEN *: all
	listen  bool
}

// messages is what a transaction does with channels when it is committed.
type messages struct {
	listens []listenAction
	sent    []pgwire.Notification
}

// notifyStatement runs LISTEN, NOTIFY and UNLISTEN.
func (s *Session) notifyStatement(stmt ast.Statement, out *sink) error {
	switch x := stmt.(type) {
	case *ast.Listen:
		if len(s.listening) >= maxListening {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "a session listens to at most %d channels", maxListening)
		}
		s.txn.messages.listens = append(s.txn.messages.listens, listenAction{channel: x.Channel, listen: true})
		return out.complete("LISTEN")
	case *ast.Unlisten:
		s.txn.messages.listens = append(s.txn.messages.listens, listenAction{channel: x.Channel})
		return out.complete("UNLISTEN")
	case *ast.Notify:
		if err := s.Notify(x.Channel, x.Payload); err != nil {
			return err
		}
		return out.complete("NOTIFY")
	}
	return nil
}

// Notify implements expr.Sessions: what is sent twice in a transaction is told once.
func (s *Session) Notify(channel, payload string) error {
	switch {
	case channel == "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name cannot be empty")
	case len(channel) > maxChannelBytes:
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name too long")
	case len(payload) >= maxPayloadBytes:
		return sqlerr.New(sqlerr.InvalidParameterValue, "payload string too long")
	}
	n := pgwire.Notification{ProcessID: s.startup.ProcessID, Channel: channel, Payload: payload}
	sent := &s.txn.messages.sent
	if len(*sent) < 1000 && slices.Contains(*sent, n) { // beyond that, looking costs more than telling
		return nil
	}
	if len(*sent)*maxPayloadBytes > maxBlockBytes {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a transaction sends at most %d notifications", maxBlockBytes/maxPayloadBytes)
	}
	*sent = append(*sent, n)
	return nil
}

// deliver does what the messages of a committed transaction say.
func (s *Session) deliver(m messages) {
	for _, a := range m.listens {
		switch {
		case a.listen:
			if s.listening == nil {
				s.listening = map[string]bool{}
			}
			s.listening[a.channel] = true
			s.tenant.channels.listen(a.channel, s.mailbox)
		case a.channel == "*":
			s.unlistenAll()
		default:
			delete(s.listening, a.channel)
			s.tenant.channels.unlisten(a.channel, s.mailbox)
		}
	}
	s.tenant.channels.publish(m.sent)
}

func (s *Session) unlistenAll() {
	for channel := range s.listening {
		s.tenant.channels.unlisten(channel, s.mailbox)
	}
	s.listening = nil
}

// Listening returns the channels that the session listens to, sorted.
func (s *Session) Listening() []string { return slices.Sorted(maps.Keys(s.listening)) }

// Notifications implements pgwire.Session.
func (s *Session) Notifications() []pgwire.Notification {
	if s.txn.open() { // a client is told between its transactions
		return nil
	}
	return s.mailbox.take()
}
