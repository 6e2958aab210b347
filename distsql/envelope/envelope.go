// Package envelope says how complete and how fresh a result is, and seals it:
// nothing partial leaves unlabelled (L-7), empty results included.
//
// Coverage belongs to the relation that a result reads, not to the rows that
// happen to be in it. A Result collects the coverage of every relation of one
// statement; Verdict says whether the statement may end, with which warning.
// It is safe for concurrent use and starts no goroutine.
package envelope

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/distsql/coverage"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// PartialResults says what becomes of a partial result.
type PartialResults string

// Values of the setting partial_results.
const (
	PartialError PartialResults = "error" // raise TY001, unless a returned row carries the unmodified _status
	PartialWarn  PartialResults = "warn"  // return the rows after a WARNING
	PartialLabel PartialResults = "label" // return the rows; the application reads _status
)

// Settings of a statement.
type Settings struct {
	PartialResults PartialResults
	MaxStaleness   time.Duration // 0: any
	ReadWait       time.Duration // how long fragments wait for the cut
	Confidence     float64       // of bounds
}

// DefaultSettings are those of a new session.
func DefaultSettings() Settings {
	return Settings{PartialResults: PartialError, ReadWait: time.Second, Confidence: 0.95}
}

// Missing is a partition whose part is not in a result.
type Missing struct {
	Partition id.Partition
	Reason    string
}

// Relation is the coverage of one relation in a statement.
type Relation struct {
	Name     string
	Expected coverage.Set
	Covered  coverage.Set
	Missing  []Missing
	// Trimmed: events that the result may have to count were removed by retention
	// before the view that it reads was created.
	Trimmed bool
	// Parts counts the expected partitions and those that answered in full.
	PartsExpected, PartsDone int
	StalenessMillis          int64
	// Shorter: a partition did not reach the statement's cut.
	Shorter bool
	// Degraded is how many rows failed in the view, of the windows that the result
	// reads, whether or not it has rows of them.
	Degraded int64
	// Inaccurate is how many rows of the view have an error that is larger than its
	// contract allows, among those that the statement reads, whatever it makes of them.
	Inaccurate int64
	// Estimates is how many rows stay estimates although the view says that they are
	// counted again, because that takes more than RecountBytes.
	Estimates, RecountBytes int64
}

// Partial reports whether an expected part is missing. A shorter prefix of a
// partition that answered is stale, not partial.
func (r *Relation) Partial() bool { return len(r.Missing) > 0 || r.Trimmed }

// Share is the _coverage of the relation: 1 only when everything is covered.
func (r *Relation) Share() float64 {
	share := r.Covered.Share(r.Expected)
	switch {
	case share < 1 || !r.Partial():
	case len(r.Missing) > 0: // what is missing holds no record yet
		share = float64(r.PartsDone) / float64(r.PartsExpected)
	default: // how much was trimmed is unknown
		share = 1 - 1e-9
	}
	return share
}

// Result collects the coverage of a statement.
type Result struct {
	mu        sync.Mutex
	relations []*Relation
	combined  map[string]int64 // rows that are inaccurate because states were merged, by view
}

// Add notes the coverage of a relation that the statement reads.
func (r *Result) Add(rel *Relation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.relations = append(r.relations, rel)
}

// Combined notes that rows which the statement made by merging states of a view have an
// error that is larger than the view's contract allows.
func (r *Result) Combined(view string, rows int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.combined == nil {
		r.combined = map[string]int64{}
	}
	r.combined[view] += rows
}

// Relations returns what was noted so far.
func (r *Result) Relations() []*Relation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.relations)
}

// Quality says how good a result is, the worst of what applies to it.
type Quality int

// Qualities, from the best to the worst.
const (
	Good     Quality = iota
	Stale            // shorter than the statement's cut
	Degraded         // rows of its windows failed in the view, or an error is beyond its contract
	Partial          // an expected part is missing
)

func (r *Relation) quality() Quality {
	switch {
	case r.Partial():
		return Partial
	case r.Degraded > 0 || r.Inaccurate > 0:
		return Degraded
	case r.Shorter:
		return Stale
	}
	return Good
}

// Quality returns the worst of the relations.
func (r *Result) Quality() Quality {
	worst := Good
	for _, rel := range r.Relations() {
		worst = max(worst, rel.quality())
	}
	if len(r.combinedViews()) > 0 {
		worst = max(worst, Degraded)
	}
	return worst
}

// combinedViews returns the views of which rows are inaccurate because states were
// merged.
func (r *Result) combinedViews() []*Relation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.combined) == 0 {
		return nil
	}
	var out []*Relation
	for _, view := range slices.Sorted(maps.Keys(r.combined)) {
		out = append(out, &Relation{Name: view, Inaccurate: r.combined[view]})
	}
	return out
}

// Said is what the rows that a statement returned so far say of themselves.
type Said struct {
	Shown bool    // the result has an unmodified _status
	Worst Quality // that a row says in it
	Ended bool    // there are no more rows
}

// Verdict decides what a statement does with its result so far, by its coverage
// and what its rows say. Warnings come before the rows where those have no _status,
// and at the end where no row says what is wrong with the relation that it should
// have come from; a failure replaces the end of the statement.
func (r *Result) Verdict(s Settings, said Said) (warnings []*sqlerr.Error, failure *sqlerr.Error) {
	for _, rel := range append(r.Relations(), r.combinedViews()...) {
		if rel.Estimates > 0 {
			warnings = append(warnings, sqlerr.New(sqlerr.Warning, "%d rows of %q stay estimates: to count them again takes more than the %d MiB of a statement", rel.Estimates, rel.Name, rel.RecountBytes>>20).
				WithHint("Read fewer groups at a time, or start the server with more --statement-memory."))
		}
		e := partialError(rel)
		switch {
		case e == nil && s.PartialResults == PartialLabel:
		case e == nil:
			if !said.Shown || said.Ended && said.Worst < rel.quality() {
				warnings = append(warnings, qualityWarnings(rel)...)
			}
		case s.PartialResults == PartialWarn:
			warnings = append(warnings, e)
		case s.PartialResults == PartialLabel || said.Worst == Partial:
		default:
			return nil, e
		}
		if s.MaxStaleness > 0 && rel.StalenessMillis > s.MaxStaleness.Milliseconds() {
			e := sqlerr.New(sqlerr.StaleResult, "result from %q is %d ms behind, max_staleness is %d ms", rel.Name, rel.StalenessMillis, s.MaxStaleness.Milliseconds()).
				WithHint("Retry, or raise max_staleness.")
			switch {
			case s.PartialResults == PartialWarn:
				warnings = append(warnings, e)
			case s.PartialResults == PartialLabel || said.Worst == Partial:
			default:
				return warnings, e
			}
		}
	}
	return warnings, nil
}

// qualityWarnings say of a relation that is all there what is wrong with it.
func qualityWarnings(rel *Relation) (out []*sqlerr.Error) {
	if rel.Degraded > 0 {
		out = append(out, sqlerr.New(sqlerr.Warning, "result from %q is degraded: %d rows failed in the view", rel.Name, rel.Degraded).
			WithHint("They are in %s__errors. Select _status to see which rows of the result lack them.", rel.Name))
	}
	if rel.Inaccurate > 0 {
		out = append(out, sqlerr.New(sqlerr.Warning, "result from %q is degraded: the error of %d rows is beyond the view's max_error", rel.Name, rel.Inaccurate).
			WithHint("Select _status or _error to see which; their values are NULL if the view says on_bound_exceeded = 'null'."))
	}
	if len(out) == 0 && rel.Shorter {
		out = append(out, sqlerr.New(sqlerr.Warning, "result from %q is stale: it is %d ms behind what was accepted when the statement began", rel.Name, rel.StalenessMillis).
			WithHint("Raise read_wait to wait longer, or select _status."))
	}
	return out
}

// partialError says what is missing from a relation, nil if nothing is.
func partialError(rel *Relation) *sqlerr.Error {
	if !rel.Partial() {
		return nil
	}
	if len(rel.Missing) == 0 {
		return sqlerr.New(sqlerr.PartialResult, "result from %q is partial: retention removed events before the view was created", rel.Name).
			WithHint("Read windows that begin later, select _status to receive labelled rows, or SET partial_results = 'warn' or 'label'.")
	}
	parts := make([]string, len(rel.Missing))
	for i, m := range rel.Missing {
		parts[i] = fmt.Sprintf("partition %d (%s)", m.Partition, m.Reason)
	}
	return sqlerr.New(sqlerr.PartialResult, "result from %q is partial: %d of %d partitions answered", rel.Name, rel.PartsDone, rel.PartsExpected).
		WithDetail("Missing: %s.", strings.Join(parts, ", ")).
		WithHint("Select _status to receive labelled rows, or SET partial_results = 'warn' or 'label'.")
}
