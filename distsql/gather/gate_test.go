package gather

import (
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/distsql/exchange"
	"github.com/tallydb/tallydb/distsql/fragment"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// fresh is a transport that knows of no staleness.
type fresh struct{ exchange.Transport }

func (fresh) StalenessMicros(*catalog.Relation, id.Partition, id.Offset, int64) int64 { return 0 }

const identity = "fold/seed"

// testGate expects partitions 0 and 1 from their births 5 and 0 to the cut 10.
func testGate() (*gate, *Counters) {
	stream := &catalog.Relation{ID: 7, Name: "s", Stream: &catalog.Stream{Epochs: []catalog.RoutingEpoch{{Epoch: 3, Partitions: []id.Partition{0, 1}}}}}
	counters := &Counters{}
	s := &Statement{
		transport: fresh{}, now: time.Now, counters: counters, result: &envelope.Result{},
		cuts: map[id.Relation]map[id.Partition]id.Offset{7: {0: 10, 1: 10}},
	}
	return s.newGate(stream, "v", []id.Partition{0, 1}, map[id.Partition]id.Offset{0: 5}), counters
}

func covering(p id.Partition, epoch id.Epoch, from, to id.Offset) fragment.Reach {
	return fragment.Reach{
		Partition: p, Applied: to, Watermark: 100,
		Covered: coverage.Of(coverage.Range{Epoch: epoch, Partition: p, From: from, To: to}),
	}
}

// TestL5OnlyEqualIdentityAndDisjointCoverageMerge: everything else is refused,
// counted, named as missing, and holds the watermark back.
func TestL5OnlyEqualIdentityAndDisjointCoverageMerge(t *testing.T) {
	for name, c := range map[string]struct {
		reach    fragment.Reach
		identity string
	}{
		"another identity":        {covering(1, 3, 0, 10), "fold/other seed"},
		"no identity":             {covering(1, 3, 0, 10), ""},
		"counted twice":           {covering(0, 3, 5, 10), identity},
		"overlapping by one":      {covering(0, 3, 9, 10), identity},
		"an unexpected partition": {covering(2, 3, 0, 10), identity},
		"another epoch":           {covering(1, 4, 0, 10), identity},
		"beyond the cut":          {covering(1, 3, 0, 11), identity},
		"before the birth":        {covering(0, 3, 4, 5), identity},
	} {
		t.Run(name, func(t *testing.T) {
			g, counters := testGate()
			if !g.admit(covering(0, 3, 5, 10), identity, identity) {
				t.Fatal("the first partial was refused")
			}
			before := g.coverage.Covered
			if g.admit(c.reach, c.identity, identity) {
				t.Error("the partial was let through")
			}
			if n := counters.Refused.Load(); n != 1 {
				t.Errorf("%d refusals counted, want 1", n)
			}
			g.close()
			rel := g.coverage
			if !rel.Partial() || len(rel.Missing) != 1 || rel.Missing[0].Partition != c.reach.Partition {
				t.Errorf("missing %v, want partition %d", rel.Missing, c.reach.Partition)
			}
			if rel.Covered.String() != before.String() || rel.Share() >= 1 {
				t.Errorf("covers %s (%v), want %s and less than all", rel.Covered, rel.Share(), before)
			}
			if g.watermark != eventtime.Watermark(eventtime.Min) {
				t.Errorf("watermark %d although a part is missing", g.watermark)
			}
		})
	}
}

// TestL5MergeIsCommutative: the order in which partials come does not matter.
func TestL5MergeIsCommutative(t *testing.T) {
	parts := []fragment.Reach{covering(0, 3, 5, 10), covering(1, 3, 0, 8)}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		g, _ := testGate()
		for _, i := range order {
			if !g.admit(parts[i], identity, identity) {
				t.Fatalf("order %v: partial %d was refused", order, i)
			}
		}
		g.close()
		rel := g.coverage
		if rel.Partial() || !g.shorter || rel.PartsDone != 2 || g.watermark != 100 {
			t.Errorf("order %v: partial %v, shorter %v, %d parts, watermark %d", order, rel.Partial(), g.shorter, rel.PartsDone, g.watermark)
		}
	}
}
