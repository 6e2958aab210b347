package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
	"github.com/tallydb/tallydb/storage/vfs"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // many short-lived servers
	// A store whose disk failed leaves these behind. One that was not closed has
	// others, which are found.
	const pebble = "github.com/cockroachdb/pebble/v2"
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/tallydb/tallydb/storage/kv.(*guardFS).stop"),
		goleak.IgnoreAnyFunction("github.com/tallydb/tallydb/storage/kv.(*Store).apply.func1"),
		goleak.IgnoreAnyFunction(pebble+"/internal/genericcache.(*shard[...]).releaseLoop"),
		goleak.IgnoreAnyFunction(pebble+".(*cleanupManager).mainLoop"),
		goleak.IgnoreAnyFunction(pebble+".(*ConcurrencyLimitScheduler).periodicGranter"))
}

// slow is set when the race detector runs.
var slow bool

// crashesWanted is how many crash points the crash test tries.
func crashesWanted(t *testing.T) int {
	if v := os.Getenv("TALLY_CRASHES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("TALLY_CRASHES: %v", err)
		}
		return n
	}
	if testing.Short() || slow {
		return 50
	}
	return 1000
}

// TestL1L9CrashAnywhere cuts the power at random writes of a whole server under a
// random workload, with any part of what was not synced kept, and opens what is
// left. Every acknowledged event is there once; a statement that was not
// acknowledged is there whole or not at all; nothing counts twice, also when
// everything is sent again; and every view and every counter is what a clean run
// over the same log makes (L-1, L-2, L-9).
func TestL1L9CrashAnywhere(t *testing.T) {
	const perChain = 24
	wanted := crashesWanted(t)
	var tried atomic.Int64
	t.Run("chain", func(t *testing.T) {
		for seed := range uint64((wanted + perChain - 1) / perChain) {
			t.Run(strconv.Itoa(int(seed)), func(t *testing.T) {
				t.Parallel()
				tried.Add(int64(crashChain(t, seed, perChain)))
			})
		}
	})
	t.Logf("%d crash points tried", tried.Load())
}

// crashChain runs one history: work, crash at several moments, check each, go on
// from one of them.
func crashChain(t *testing.T, seed uint64, wanted int) (tried int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	truth := newTruth()
	c := &crasher{rng: rand.New(rand.NewPCG(seed, 11)), truth: truth}
	clock := servertest.NewClock()
	s := c.open(t, clock, vfs.NewCrashable())
	servertest.Exec(t, s.Connect(), crashSchema...)
	for tried < wanted {
		w := &workload{t: t, s: s, c: s.Connect(), rng: rng, truth: truth}
		c.arm(8)
		for range 14 {
			w.step()
		}
		crashes := c.disarm()
		if err := s.Stop(); err != nil {
			t.Fatalf("seed %d: stop: %v", seed, err)
		}
		for i, crash := range crashes {
			s = c.open(t, clock, crash.fs)
			what := fmt.Sprintf("seed %d, crash %d", seed, tried+i)
			checkAfterCrash(t, s, crash, what)
			if t.Failed() {
				return tried
			}
			if i < len(crashes)-1 {
				if err := s.Stop(); err != nil {
					t.Fatalf("%s: stop: %v", what, err)
				}
			}
		}
		tried += len(crashes)
		truth.become(crashes[len(crashes)-1].truth) // the checks sent everything of it again
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	return tried
}

// crasher takes pictures of what a power cut would leave, ahead of random writes.
type crasher struct {
	truth *truth

	mu      sync.Mutex
	rng     *rand.Rand
	fs      vfs.Crashable
	left    int
	crashes []crash
}

// crash is what a power cut left and what was true then.
type crash struct {
	fs    vfs.Crashable
	truth *truth
}

func (c *crasher) open(t *testing.T, clock *servertest.Clock, fs vfs.Crashable) *servertest.Server {
	c.mu.Lock()
	c.fs = fs
	c.mu.Unlock()
	return servertest.Start(t, servertest.Options{FS: vfs.Watch(fs, c.before), Clock: clock, Config: func(cfg *server.Config) {
		cfg.SegmentBytes = 16 << 10
		cfg.CheckpointRows = 30
		cfg.MemoryBytes = 32 << 10
	}})
}

// arm makes the next writes crash up to n times; there is at least one crash.
func (c *crasher) arm(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.crashes = n, nil
}

func (c *crasher) before() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left > 0 && c.rng.IntN(9) == 0 {
		c.left--
		c.crash()
	}
}

func (c *crasher) crash() {
	acknowledged := c.truth.acknowledged()
	unsynced := []int{0, 100, c.rng.IntN(101)}[c.rng.IntN(3)] // percent
	fs := c.fs.Crash(unsynced, c.rng)
	c.crashes = append(c.crashes, crash{fs, c.truth.at(acknowledged)})
}

func (c *crasher) disarm() []crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = 0
	c.crash()
	return slices.Clone(c.crashes)
}
