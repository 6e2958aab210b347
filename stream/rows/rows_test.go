package rows

import (
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

// TestWhoReadsReleasedRowsIsFound: with Scribble, what a holder kept after its
// release reads as something else at once, not only when the memory is used again.
func TestWhoReadsReleasedRowsIsFound(t *testing.T) {
	p := NewPool(&types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.Text)}}})
	p.Scribble = true
	r := p.Get()
	r.Batch.Cols[0].AppendString("kept")
	r.Retain()
	kept := r.Batch.Cols[0].Bytes(0)
	r.Release()
	if string(kept) != "kept" {
		t.Errorf("rows that are still held read %q, want %q", kept, "kept")
	}
	r.Release()
	if string(kept) != "####" {
		t.Errorf("rows that were given back read %q, want %q", kept, "####")
	}
}

func TestReleasingTooOftenPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the second release passed, want a panic")
		}
	}()
	r := NewPool(&types.Schema{}).Get()
	r.Release()
	r.Release()
}
