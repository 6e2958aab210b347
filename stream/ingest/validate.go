package ingest

import (
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxWeight is how often an event counts at most, so that it takes a few thousand million of
// the largest ones until the sum of the weights of a group is out of range.
const maxWeight = math.MaxInt32

// validate checks the rules of the stream and returns the rows that keep them.
func (a *Appender) validate(b *types.Batch) (*types.Batch, error) {
	var bad map[int]*sqlerr.Error
	note := func(row int, err *sqlerr.Error) {
		if bad == nil {
			bad = map[int]*sqlerr.Error{}
		}
		if bad[row] == nil {
			bad[row] = err
		}
	}
	rel := a.stream.Relation
	for c := range rel.Columns {
		if reason := a.requirement(c); reason != "" && b.Cols[c].Nulls.Any() {
			for i := range b.Rows {
				if b.Cols[c].IsNull(i) {
					note(i, sqlerr.New(sqlerr.NotNullViolation, "null value in column %q of stream %q violates %s", rel.Columns[c].Name, rel.Name, reason))
				}
			}
		}
	}
	if t := rel.Stream.TimeColumn; t >= 0 {
		for i, x := range b.Cols[t].Ints {
			if x == math.MaxInt64 || x == math.MinInt64 {
				note(i, sqlerr.New(sqlerr.DatetimeFieldOverflow, "event time in column %q of stream %q must be finite", rel.Columns[t].Name, rel.Name))
			}
		}
	}
	if w := rel.Stream.WeightColumn(); w >= 0 {
		for i, x := range b.Cols[w].Ints {
			if x > maxWeight || x < -maxWeight {
				note(i, sqlerr.New(sqlerr.NumericValueOutOfRange, "weight %d in column %q of stream %q is out of range: an event counts %d times at most", x, rel.Columns[w].Name, rel.Name, maxWeight))
			}
		}
	}
	if bad == nil {
		return b, nil
	}
	good := make([]int32, 0, b.Rows)
	for i := range b.Rows {
		err := bad[i]
		if err == nil {
			good = append(good, int32(i))
			continue
		}
		if !rel.Stream.Options.RejectBadRows {
			return nil, err.WithHint("Fix the row, or create the stream with on_bad_row = 'reject' to set such rows aside.")
		}
		a.addReject(err.Message, "", b, i)
	}
	return b.Gather(good), nil
}

// requirement says why a column may not be NULL; empty if it may.
func (a *Appender) requirement(column int) string {
	s := a.stream.Relation.Stream
	switch {
	case column == s.TimeColumn:
		return "its role as event time"
	case len(s.Options.DedupKey) == 1 && s.Options.DedupKey[0] == column:
		return "its role as deduplication key"
	case a.stream.Relation.Columns[column].NotNull:
		return "not-null constraint"
	default:
		return ""
	}
}
