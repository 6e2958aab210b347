package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// asTally makes the test's own binary behave as tally, for child processes.
const asTally = "TALLY_TEST_AS_TALLY"

func TestMain(m *testing.M) {
	if os.Getenv(asTally) != "" {
		main()
		return
	}
	if err := os.Setenv(asTally, "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestL1L9KilledServer: a real server that is killed under load has everything
// that it acknowledged, once.
func TestL1L9KilledServer(t *testing.T) {
	var out bytes.Buffer
	k := &crashTest{kills: 3, dir: t.TempDir(), seed: 1, connections: 3, out: &out}
	if err := k.run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if want := "0 lost, 0 counted twice"; !strings.Contains(out.String(), want) {
		t.Errorf("printed %q, want %q in it", out.String(), want)
	}
}

// TestCrashLedgerFindsWhatIsWrong: the ledger itself tells lost, torn and doubled
// statements.
func TestCrashLedgerFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		acked bool
		there tallied
		want  string // in the error; empty: all is well
	}{
		"acknowledged and there":      {true, tallied{3, 60}, ""},
		"not acknowledged, there":     {false, tallied{3, 60}, ""},
		"not acknowledged, not there": {false, tallied{}, ""},
		"lost":                        {true, tallied{}, "3 events lost, 0 counted twice"},
		"partly lost":                 {true, tallied{2, 30}, "1 events lost"},
		"not acknowledged and torn":   {false, tallied{2, 30}, "was sent with"},
		"counted twice":               {true, tallied{4, 80}, "1 counted twice"},
		"another event in its place":  {true, tallied{3, 61}, "was sent with"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			s := &sentStatement{number: 7, tallied: tallied{3, 60}}
			l.sending(s)
			if c.acked {
				l.ack(s)
			}
			counts := map[int64]tallied{}
			if c.there != (tallied{}) {
				counts[7] = c.there
			}
			err := l.compare("the stream", counts)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the ledger says %v, want %q", err, c.want)
			}
		})
	}
}

// TestL10SecondProcessIsRefused: a second server process on a data directory that
// another has open does not start, and the first goes on.
func TestL10SecondProcessIsRefused(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	first, err := startChild(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.kill()
	if second, err := startChild(ctx, dir); err == nil {
		second.kill()
		t.Error("a second process opened the data directory, want an error")
	}
	c, err := first.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "CREATE TABLE t (a int)"); err != nil {
		t.Errorf("the first process does not go on: %v", err)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := first.stop(); err != nil {
		t.Errorf("the first process ended with %v", err)
	}
}

// TestStatementMemoryFlag: a budget that a vector cannot address is refused, and
// one that is taken is the statements'.
func TestStatementMemoryFlag(t *testing.T) {
	ctx := t.Context()
	for _, mib := range []string{"0", "4096"} {
		if c, err := startChild(ctx, t.TempDir(), "--statement-memory", mib); err == nil {
			c.kill()
			t.Errorf("--statement-memory %s: the server started", mib)
		}
	}
	s, err := startChild(ctx, t.TempDir(), "--statement-memory", "2")
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	c, err := s.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx, "SELECT array_agg(g) FROM generate_series(1, 1000000) g")
	if err == nil || !strings.Contains(err.Error(), "53200") {
		t.Errorf("got %v, want SQLSTATE 53200", err)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
