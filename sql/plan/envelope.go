package plan

import "github.com/tallydb/tallydb/sql/types"

// FlagInaccurate is the bit of _flags that says that an error is larger than the
// view's max_error; those below are about coverage.
const FlagInaccurate = 1 << 5

// Envelope column numbers, relative to the first one.
const (
	EnvStatus = iota
	EnvCoverage
	EnvError
	EnvStaleness
	EnvFlags
	EnvPartsDone
	EnvPartsExpected
	EnvConfidence
	EnvErrKind
	EnvAsOf
	EnvWatermark
	EnvPane
	EnvRevision
	EnvCut
	EnvColumns // how many there are
)

// EnvelopeColumns returns the system columns that trail every relation that
// comes from a stream. The first four show in SELECT *.
func EnvelopeColumns() []types.Column {
	c := func(name string, oid types.OID, hidden bool) types.Column {
		return types.Column{Name: name, Type: types.Of(oid), Role: types.RoleEnvelope, Hidden: hidden}
	}
	return []types.Column{
		c("_status", types.Text, false),
		c("_coverage", types.Float8, false),
		c("_error", types.Float8, false),
		c("_staleness_ms", types.Int8, false),
		c("_flags", types.Int4, true),
		c("_parts_done", types.Int4, true),
		c("_parts_expected", types.Int4, true),
		c("_confidence", types.Float8, true),
		c("_err_kind", types.Text, true),
		c("_as_of", types.Timestamptz, true),
		c("_watermark", types.Timestamptz, true),
		c("_pane", types.Text, true),
		c("_revision", types.Int4, true),
		c("_cut", types.Text, true),
	}
}

// Statuses of a row, from best to worst; a row has the worst that applies.
const (
	StatusComplete    = "complete"
	StatusProvisional = "provisional"
	StatusStale       = "stale"
	StatusDegraded    = "degraded"
	StatusPartial     = "partial"
)
