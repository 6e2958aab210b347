package session

import (
	"testing"
	"time"

	"github.com/tallydb/tallydb/stream/ingest"
	"github.com/tallydb/tallydb/stream/rows"
)

func TestOutcomeText(t *testing.T) {
	for want, r := range map[string]ingest.Result{
		"": {Durable: 5, Outcome: rows.Outcome{Admitted: 5}, Applied: true},
		"s: of 5 rows, 1 duplicate not counted again":                                                            {Durable: 5, Outcome: rows.Outcome{Admitted: 4, Duplicates: 1}, Applied: true},
		"s: of 5 rows, 1 rejected (see s__rejected), 2 duplicates not counted again":                             {Durable: 5, Outcome: rows.Outcome{Admitted: 2, Duplicates: 2, Rejected: 1}, Applied: true},
		"s: of 10 rows, 5 taken, 5 rejected (see s__rejected); of those taken, 1 late for a view (see s__late)":  {Durable: 5, Rejected: 5, Outcome: rows.Outcome{Admitted: 5, Late: 1}, Applied: true},
		"s: of 200000 rows, 70000 duplicates not counted again, 130000 not applied yet":                          {Durable: 200_000, Outcome: rows.Outcome{Duplicates: 70_000}},
		"s: of 30000 rows, 20000 taken, 10000 rejected (see s__rejected); of those taken, 20000 not applied yet": {Durable: 20_000, Rejected: 10_000},
	} {
		if got := outcomeText("s", r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
	if few, many, most := outcomeWait(1000), outcomeWait(210_000), outcomeWait(1<<40); few != 4*time.Millisecond || many != 2004*time.Millisecond || most != 5*time.Second {
		t.Errorf("waits of %v, %v, %v", few, many, most)
	}
}
