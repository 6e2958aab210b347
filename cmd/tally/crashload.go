package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// tallied is what counts of a statement: its events and the sum of their ids.
type tallied struct{ events, ids int64 }

// sentStatement is a statement of the load.
type sentStatement struct {
	number int64
	rows   []string // in COPY's text format
	tallied
	acked bool
}

// ledger is what was sent and what was acknowledged.
type ledger struct {
	mu         sync.Mutex
	statements map[int64]*sentStatement
	events     int64 // acknowledged
}

func newLedger() *ledger { return &ledger{statements: map[int64]*sentStatement{}} }

func (l *ledger) sending(s *sentStatement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statements[s.number] = s
}

func (l *ledger) ack(s *sentStatement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.acked {
		s.acked = true
		l.events += s.events
	}
}

func (l *ledger) acknowledged() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events
}

// compare returns how counts differ from the ledger: what was acknowledged is
// there, anything else whole or not at all.
func (l *ledger) compare(what string, counts map[int64]tallied) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost, twice int64
	var errs []error
	for n, s := range l.statements {
		got := counts[n]
		if got == s.tallied || got == (tallied{}) && !s.acked {
			continue
		}
		if got.events > s.events {
			twice += got.events - s.events
		} else if s.acked {
			lost += s.events - got.events
		}
		if len(errs) < 10 {
			errs = append(errs, fmt.Errorf("statement %d (acknowledged: %v) has %+v, was sent with %+v", n, s.acked, got, s.tallied))
		}
	}
	for n := range counts {
		if l.statements[n] == nil {
			errs = append(errs, fmt.Errorf("statement %d was never sent", n))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d events lost, %d counted twice: %w", what, lost, twice, errors.Join(errs...))
}

// settle notes the statements that are there without having been acknowledged:
// they may not vanish any more.
func (l *ledger) settle(counts map[int64]tallied) (survived int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range counts {
		if s := l.statements[n]; !s.acked {
			survived++
			s.acked = true
			l.events += s.events
		}
	}
	return survived
}

// crashWriter is a client that writes until its server is gone.
type crashWriter struct {
	number int64
	ledger *ledger
	rng    *rand.Rand
	next   int64
	open   *sentStatement   // what it was sending when the server went
	past   []*sentStatement // some of what it sent
}

// write sends statements until one fails. It begins with the one that was open
// when the server was killed, or leaves that one to be there or not.
func (w *crashWriter) write(ctx context.Context, server *child) {
	again := w.open
	w.open = nil
	conn, err := server.connect(ctx)
	if err != nil {
		return // it was killed before
	}
	defer conn.Close(ctx)
	if again != nil && w.rng.IntN(2) == 0 && w.send(ctx, conn, again) != nil {
		return
	}
	for ctx.Err() == nil {
		s := w.fresh()
		if len(w.past) > 0 && w.rng.IntN(6) == 0 {
			s = w.past[w.rng.IntN(len(w.past))]
		}
		if w.send(ctx, conn, s) != nil {
			return
		}
	}
}

// fresh makes a new statement.
func (w *crashWriter) fresh() *sentStatement {
	w.next++
	s := &sentStatement{number: w.number<<32 + w.next}
	now := time.Now()
	for i := range 1 + w.rng.Int64N(300) {
		id := s.number<<10 + i
		at := now.Add(-time.Duration(w.rng.IntN(20_000)) * time.Millisecond)
		s.rows = append(s.rows, fmt.Sprintf("%d\t%d\tkey-%d\t%s", id, s.number, w.rng.IntN(1000), at.Format(time.RFC3339Nano)))
		s.events++
		s.ids += id
	}
	if w.past = append(w.past, s); len(w.past) > 50 {
		w.past = w.past[1:]
	}
	return s
}

// send sends a statement, as COPY or as INSERT.
func (w *crashWriter) send(ctx context.Context, conn *pgx.Conn, s *sentStatement) error {
	w.ledger.sending(s)
	w.open = s
	var err error
	if w.rng.IntN(2) == 0 {
		_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader(strings.Join(s.rows, "\n")+"\n"), "COPY crash_events FROM STDIN")
	} else {
		_, err = conn.PgConn().Exec(ctx, s.insert()).ReadAll()
	}
	if err == nil {
		w.ledger.ack(s)
		w.open = nil
	}
	return err
}

func (s *sentStatement) insert() string {
	values := make([]string, len(s.rows))
	for i, r := range s.rows {
		f := strings.Split(r, "\t")
		values[i] = fmt.Sprintf("(%s, %s, '%s', '%s')", f[0], f[1], f[2], f[3])
	}
	return "INSERT INTO crash_events VALUES " + strings.Join(values, ", ")
}
