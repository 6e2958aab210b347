package partition

import (
	"testing"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/recordbatch"
	"github.com/tallydb/tallydb/stream/state"
)

// TestRejectsOfOlderVersions: rejects that were written before there was a detail are
// read as those without one.
func TestRejectsOfOlderVersions(t *testing.T) {
	rel := &catalog.Relation{Name: "s", Columns: []types.Column{{Name: "v", Type: types.Of(types.Text)}}, Stream: &catalog.Stream{TimeColumn: -1}}
	schema := plan.SideSchema(plan.SideRejected, rel)
	now := types.NewBatch(schema, 2)
	for i := range 2 {
		for _, c := range now.Cols {
			if c.Type.Kind() == types.KindBytes {
				c.AppendString("x")
			} else {
				c.AppendInt(int64(i))
			}
		}
		now.Rows++
	}
	old := &types.Batch{Rows: now.Rows}
	for i, c := range now.Cols {
		if i != plan.RejectedDetail {
			old.Cols = append(old.Cols, c)
		}
	}
	for name, b := range map[string]*types.Batch{"now": now, "old": old} {
		got, err := decodeSide(state.SideRejected, schema, recordbatch.Encode(nil, b))
		if err != nil || got.Rows != 2 || len(got.Cols) != len(now.Cols) {
			t.Fatalf("%s: %v", name, err)
		}
		for c, v := range got.Cols {
			null := name == "old" && c == plan.RejectedDetail
			if v.Len() != 2 || v.IsNull(1) != null || !null && types.Compare(v.Datum(1), now.Cols[c].Datum(1)) != 0 {
				t.Errorf("%s: column %d is %v", name, c, v.Datum(1))
			}
		}
	}
	if _, err := decodeSide(state.SideRejected, schema, nil); err == nil {
		t.Error("an empty payload is read")
	}
}
