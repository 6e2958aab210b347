package session

import (
	"context"
	"sync"

	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// maxAdvisory bounds the advisory locks that a session holds.
const maxAdvisory = 10_000

// advisory are the advisory locks of a database: what applications agree to lock,
// named by numbers that mean nothing to the server.
type advisory struct {
	mu    sync.Mutex
	locks map[expr.LockKey]*advisoryLock
}

// advisoryLock is a lock that somebody holds. A session may hold it more than
// once, and has to give it back as often.
type advisoryLock struct {
	owner     *Session // who holds it alone, or nil
	exclusive int      // how often
	shared    map[*Session]int
	freed     chan struct{} // closed, and made anew, when a hold ends
}

// try takes a lock if no other session is in the way, or returns what to wait for.
func (a *advisory) try(s *Session, key expr.LockKey, shared bool) (ok bool, freed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.locks[key]
	if l == nil {
		l = &advisoryLock{shared: map[*Session]int{}, freed: make(chan struct{})}
		if a.locks == nil {
			a.locks = map[expr.LockKey]*advisoryLock{}
		}
		a.locks[key] = l
	}
	others := len(l.shared)
	if l.shared[s] > 0 {
		others--
	}
	switch {
	case l.owner != nil && l.owner != s, !shared && others > 0:
		return false, l.freed
	case shared:
		l.shared[s]++
	default:
		l.owner = s
		l.exclusive++
	}
	return true, nil
}

// free gives back one hold; false if there is none.
func (a *advisory) free(s *Session, key expr.LockKey, shared bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.locks[key]
	switch {
	case l == nil || shared && l.shared[s] == 0 || !shared && l.owner != s:
		return false
	case shared:
		if l.shared[s]--; l.shared[s] == 0 {
			delete(l.shared, s)
		}
	default:
		if l.exclusive--; l.exclusive == 0 {
			l.owner = nil
		}
	}
	close(l.freed)
	l.freed = make(chan struct{})
	if l.owner == nil && len(l.shared) == 0 {
		delete(a.locks, key)
	}
	return true
}

// hold is one hold of an advisory lock.
type hold struct {
	key    expr.LockKey
	shared bool
}

// AdvisoryLock implements expr.Sessions.
func (s *Session) AdvisoryLock(key expr.LockKey, how expr.LockMode) (bool, error) {
	if len(s.advisory)+len(s.txn.advisory) >= maxAdvisory {
		return false, sqlerr.New(sqlerr.ConfigurationLimitExceeded, "a session holds at most %d advisory locks", maxAdvisory)
	}
	h := hold{key, how.Shared}
	for {
		ok, freed := s.tenant.advisory.try(s, key, how.Shared)
		if ok {
			break
		}
		if how.Try {
			return false, nil
		}
		if err := s.await(freed); err != nil {
			return false, err
		}
	}
	if how.Transaction {
		s.txn.advisory = append(s.txn.advisory, h)
	} else {
		s.advisory = append(s.advisory, h)
	}
	return true, nil
}

// await waits for a lock to be given back, for as long as lock_timeout allows and
// the statement is not cancelled.
func (s *Session) await(freed <-chan struct{}) error {
	ctx := s.statement
	if d := s.settings.meaning().lockTimeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, sqlerr.New(sqlerr.LockNotAvailable, "canceling statement due to lock timeout"))
		defer cancel()
	}
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AdvisoryUnlock implements expr.Sessions.
func (s *Session) AdvisoryUnlock(key expr.LockKey, shared bool) bool {
	for i, h := range s.advisory {
		if h == (hold{key, shared}) {
			s.advisory = append(s.advisory[:i], s.advisory[i+1:]...)
			return s.tenant.advisory.free(s, key, shared)
		}
	}
	return false
}

// AdvisoryUnlockAll implements expr.Sessions. Locks of the transaction stay.
func (s *Session) AdvisoryUnlockAll() {
	s.freeAll(s.advisory)
	s.advisory = nil
}

func (s *Session) freeAll(holds []hold) {
	for _, h := range holds {
		s.tenant.advisory.free(s, h.key, h.shared)
	}
}
