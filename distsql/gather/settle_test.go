package gather

import (
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// TestL6BehindIsCompleteOnlyWhereNothingCanCome: of a partition that did not reach
// the cut, rows are complete only if no window that the scan reads can still change
// or appear; otherwise even those of closed windows are stale, because a row that
// should be beside them may be missing.
func TestL6BehindIsCompleteOnlyWhereNothingCanCome(t *testing.T) {
	const minute, watermark = 60_000_000, 10 * 60_000_000
	view := &catalog.Relation{ContinuousView: &catalog.ContinuousView{AllowedLateness: minute}}
	tumble := plan.WindowSpec{Kind: plan.Tumbling, Size: minute}
	for name, c := range map[string]struct {
		window   plan.WindowSpec
		to       eventtime.Time
		complete bool
	}{
		"windows that have closed":        {tumble, watermark - 2*minute, true},
		"up to one in its lateness":       {tumble, watermark - minute - 1, false},
		"all windows":                     {tumble, eventtime.Max, false},
		"a total, which is never closed":  {plan.WindowSpec{}, eventtime.Min, false},
		"a total, whatever the bounds be": {plan.WindowSpec{}, eventtime.Max, false},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := testGate()
			behind := covering(0, 3, 5, 7)
			behind.Watermark = eventtime.Watermark(watermark)
			reached := covering(1, 3, 0, 10)
			reached.Watermark = eventtime.Watermark(watermark)
			if !g.admit(behind, identity, identity) || !g.admit(reached, identity, identity) {
				t.Fatal("refused")
			}
			g.coverage.StalenessMillis = 5
			m := &merger{gate: g, folding: &folding{
				scan: &plan.FoldScan{View: view, Fold: &plan.Fold{Window: c.window}}, req: fragment.FoldRequest{WindowTo: c.to},
			}}
			m.settle()
			row := &rowEnvelope{gate: g, rows: 1, windowed: true, closes: func(int) eventtime.Time { return 0 }, end: func(int) eventtime.Time { return 0 }}
			want := plan.StatusStale
			if c.complete {
				want = plan.StatusComplete
			}
			if got := status(row.flags(0)); got != want {
				t.Errorf("a row of a closed window is %s, want %s", got, want)
			}
			share, staleness := row.column(plan.EnvCoverage).Floats[0], row.column(plan.EnvStaleness).Ints[0]
			if (share == 1) != c.complete || (staleness == 0) != c.complete || g.coverage.Shorter == c.complete {
				t.Errorf("coverage %v, %d ms behind, shorter %v", share, staleness, g.coverage.Shorter)
			}
		})
	}
}
