package server_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestL6OneStatementOneCut: all that a statement reads of a stream, however often and
// through whichever view, is of one cut, and _cut is the one that its rows count, while
// events come in. Each event is a record of its own, so offsets count events.
func TestL6OneStatementOneCut(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c := s.Connect()
	servertest.Exec(t, c,
		"CREATE STREAM cu (k int, at timestamptz, WATERMARK FOR at AS at - INTERVAL '10 days') WITH (partitions = 3, partition_key = 'k')",
		"CREATE CONTINUOUS VIEW ca AS SELECT count(*) n FROM cu",
		"CREATE CONTINUOUS VIEW cb AS SELECT k, window_start, count(*) n FROM TUMBLE(cu, at, INTERVAL '1 minute') GROUP BY k, window_start, window_end",
		"INSERT INTO cu VALUES (0, '2026-01-01 00:00:00Z')") // a sum of nothing is NULL
	var stop atomic.Bool
	done := make(chan error, 3)
	for w := range cap(done) {
		writer := s.Connect()
		go func() {
			var err error
			for i := 0; !stop.Load() && err == nil; i++ {
				_, err = writer.Exec(context.Background(), fmt.Sprintf("INSERT INTO cu VALUES (%d, '2026-01-01 00:00:00Z'::timestamptz + %d * INTERVAL '1 second')", w*1000+i%50, i))
			}
			done <- err
		}()
	}
	queries := []string{
		"SELECT ca.n, (SELECT count(*) FROM cu), (SELECT sum(n) FROM cb), (SELECT n FROM ca) FROM ca",
		"SELECT (SELECT count(*) FROM cu), sum(cb.n), (SELECT n FROM ca) FROM cb",
		"WITH x AS (SELECT n FROM ca) SELECT x.n, y.n, (SELECT sum(n) FROM cb) FROM x, x y",
		"SELECT n, (SELECT sum(split_part(p, ':', 2)::int) FROM unnest(string_to_array(_cut, ',')) p) FROM ca",
	}
	for i := range 400 {
		sql := queries[i%len(queries)]
		rows, err := servertest.Query(c, sql)
		if err != nil {
			t.Fatal(err)
		}
		counts := strings.Split(rows[0], "|")
		for _, n := range counts[1:] {
			if n != counts[0] {
				t.Errorf("%s\n%s", sql, rows[0])
			}
		}
	}
	stop.Store(true)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	n, err := servertest.Query(c, "SELECT n FROM ca")
	if err != nil {
		t.Fatal(err)
	}
	if events, _ := strconv.Atoi(n[0]); events < 100 {
		t.Errorf("only %d events came in meanwhile", events)
	}
}
