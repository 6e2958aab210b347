package partition

import "testing"

// TestL11PartitionsShareTheNodesMemory: whatever comes and goes, the shares of those
// that are there add up to no more than the budget.
func TestL11PartitionsShareTheNodesMemory(t *testing.T) {
	b := NewBudget(1 << 30)
	there := int64(0)
	for i := range 200 {
		if i%3 == 2 {
			b.leave()
			there--
		} else {
			b.join()
			there++
		}
		if got := b.Share(); got*there > 1<<30 || got < (1<<30)/there-1 {
			t.Fatalf("%d partitions have %d bytes each", there, got)
		}
	}
}
