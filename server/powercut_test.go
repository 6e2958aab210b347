package server_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

// powerCuts collects what cuts of the power would leave of a server's files.
type powerCuts struct {
	fs  vfs.Crashable
	rng *rand.Rand

	mu     sync.Mutex
	every  int // one of so many writes
	most   int // cuts
	armed  bool
	writes int
	left   []vfs.Crashable
}

// startCut starts a server whose power may be cut at its writes.
func startCut(t *testing.T, seed uint64, every, most int) (*servertest.Server, *powerCuts) {
	t.Helper()
	p := &powerCuts{fs: vfs.NewCrashable(), rng: rand.New(rand.NewPCG(seed, seed+1)), every: every, most: most}
	return servertest.Start(t, servertest.Options{FS: vfs.Watch(p.fs, p.beforeWrite)}), p
}

func (p *powerCuts) beforeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writes++; p.armed && p.writes%p.every == 0 && len(p.left) < p.most {
		p.left = append(p.left, p.fs.Crash(p.rng.IntN(2)*100, p.rng))
	}
}

// arm has the writes from now on cut, or not.
func (p *powerCuts) arm(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = on
}

// now adds a cut at this moment, which keeps what is durable and nothing else.
func (p *powerCuts) now() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, p.fs.Crash(0, p.rng))
}
