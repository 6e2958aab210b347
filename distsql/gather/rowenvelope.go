package gather

import (
	"fmt"
	"math"
	"strings"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// rowEnvelope makes the envelope columns of a relation's rows.
type rowEnvelope struct {
	gate *gate
	rows int
	// end returns the end of a row's window; Max for rows without one.
	end func(row int) eventtime.Time
	// closes returns the watermark at which a row is final; Max for rows that
	// never are, which are complete when covered.
	closes     func(row int) eventtime.Time
	windowed   bool
	outdated   bool // further behind than the view's max_staleness
	degraded   func(row int) bool
	trimmed    func(row int) bool // events of the row's window may have been trimmed unseen
	errors     []*types.Vector    // declared errors of the approximate columns
	kind       agg.ErrorKind
	exact      func(row int) bool // the row was counted again, and has no error; nil: none has
	confidence float64
}

// Flags of _flags, by bit.
const (
	flagMissing  = 1 << iota // an expected partition is missing
	flagShorter              // a partition did not reach the cut
	flagDegraded             // rows of the window failed in the view's __errors
	flagOpen                 // the watermark has not passed the window's end and lateness
	flagTrimmed              // history before the view's birth was trimmed
)

func (e *rowEnvelope) final(row int) bool {
	return e.windowed && e.gate.watermark.Passed(e.closes(row))
}

// flags returns what qualifies a row.
func (e *rowEnvelope) flags(row int) int64 {
	var f int64
	if len(e.gate.coverage.Missing) > 0 {
		f |= flagMissing
	}
	if e.trimmed != nil && e.trimmed(row) {
		f |= flagTrimmed
	}
	if e.outdated && !e.final(row) {
		f |= flagShorter
	}
	if e.windowed && !e.final(row) {
		f |= flagOpen
	}
	if e.gate.coverage.Shorter {
		f |= flagShorter
	}
	if e.degraded != nil && e.degraded(row) {
		f |= flagDegraded
	}
	return f
}

// status returns the worst that applies.
func status(flags int64) string {
	switch {
	case flags&(flagMissing|flagTrimmed) != 0:
		return plan.StatusPartial
	case flags&flagDegraded != 0:
		return plan.StatusDegraded
	case flags&flagShorter != 0:
		return plan.StatusStale
	case flags&flagOpen != 0:
		return plan.StatusProvisional
	default:
		return plan.StatusComplete
	}
}

// column makes one envelope column.
func (e *rowEnvelope) column(which int) *types.Vector {
	t := plan.EnvelopeColumns()[which].Type
	v := types.NewVector(t, e.rows)
	c := e.gate.coverage
	switch which {
	case plan.EnvStatus:
		for i := range e.rows {
			v.AppendString(status(e.flags(i)))
		}
	case plan.EnvCoverage:
		return types.Repeat(types.FloatDatum(c.Share()), e.rows)
	case plan.EnvError:
		e.errorColumn(v)
	case plan.EnvStaleness:
		for i := range e.rows {
			if e.final(i) && !c.Partial() && !c.Shorter {
				v.AppendInt(0)
			} else {
				v.AppendInt(c.StalenessMillis)
			}
		}
	case plan.EnvFlags:
		for i := range e.rows {
			v.AppendInt(e.flags(i))
		}
	case plan.EnvPartsDone:
		return types.Repeat(types.IntDatum(types.Int4, int64(c.PartsDone)), e.rows)
	case plan.EnvPartsExpected:
		return types.Repeat(types.IntDatum(types.Int4, int64(c.PartsExpected)), e.rows)
	case plan.EnvConfidence:
		return types.Repeat(types.FloatDatum(e.confidence), e.rows)
	case plan.EnvErrKind:
		for i := range e.rows {
			if e.exact != nil && e.exact(i) {
				v.AppendString(string(agg.Exact))
			} else {
				v.AppendString(string(e.kind))
			}
		}
	case plan.EnvAsOf:
		at := eventtime.FromUnixMicro(e.gate.s.pinned.UnixMicro()).Add(-eventtime.Duration(c.StalenessMillis) * eventtime.Millisecond)
		return types.Repeat(types.IntDatum(types.Timestamptz, int64(at)), e.rows)
	case plan.EnvWatermark:
		e.watermarkColumn(v)
	case plan.EnvPane:
		e.paneColumn(v)
	case plan.EnvRevision:
		return types.Repeat(types.IntDatum(types.Int4, 0), e.rows)
	case plan.EnvCut:
		return types.Repeat(types.TextDatum(e.gate.cutText()), e.rows)
	}
	return v
}

// errorColumn is the largest declared error among the row's approximate columns;
// NULL if one is unknown (L-8).
func (e *rowEnvelope) errorColumn(v *types.Vector) {
	for i := range e.rows {
		largest, unknown := 0.0, false
		for _, x := range e.errors {
			unknown = unknown || x.IsNull(i)
			largest = math.Max(largest, x.Floats[i])
		}
		if unknown {
			v.AppendNull()
		} else {
			v.AppendFloat(largest)
		}
	}
}

func (e *rowEnvelope) watermarkColumn(v *types.Vector) {
	for range e.rows {
		if eventtime.Time(e.gate.watermark).Finite() {
			v.AppendInt(int64(e.gate.watermark))
		} else {
			v.AppendNull()
		}
	}
}

func (e *rowEnvelope) paneColumn(v *types.Vector) {
	for i := range e.rows {
		switch {
		case !e.windowed:
			v.AppendNull()
		case e.gate.watermark.Passed(e.end(i)):
			v.AppendString("on_time")
		default:
			v.AppendString("early")
		}
	}
}

// cutText is the cut that the rows reflect: partition:offset, comma separated.
func (g *gate) cutText() string {
	parts := make([]string, len(g.reaches))
	for i, r := range g.reaches {
		parts[i] = fmt.Sprintf("%d:%d", r.Partition, min(r.Applied, g.s.cuts[g.rel.ID][r.Partition]))
	}
	return strings.Join(parts, ",")
}

// worstKind returns the weakest promise among the needed approximate aggregates.
func worstKind(f *plan.Fold, needed []bool) agg.ErrorKind {
	order := []agg.ErrorKind{agg.Exact, agg.WorstCase, agg.Probabilistic, agg.Asymptotic, agg.Heuristic, agg.NoBound}
	worst := 0
	for i, a := range f.Aggs {
		if (needed == nil || needed[i]) && a.Final.Approximate() {
			for n, k := range order {
				if k == a.Final.Kind() {
					worst = max(worst, n)
				}
			}
		}
	}
	return order[worst]
}
