package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// Fold is a partial aggregation over the rows of a stream: the program that a
// partition runs, row by row for a continuous view or over the retained log for
// an ad-hoc query. Its result is one state per (window, group), merged at the
// root with the states of other partitions.
//
// All expressions are over the stream's data columns, in their order.
type Fold struct {
	Stream *catalog.Relation
	Filter expr.Expr // rows for which it is true; nil admits all
	Window WindowSpec
	Keys   []expr.Expr // GROUP BY values besides the window
	Aggs   []FoldAgg
	States []FoldState // what is kept; several Aggs may share one
}

// WindowSpec says how event time is cut into windows.
type WindowSpec struct {
	Kind       WindowKind
	TimeColumn int // stream column of the event time
	Size       eventtime.Duration
	Offset     eventtime.Duration
}

// WindowKind is the kind of window assigner.
type WindowKind uint8

// Kinds of windows.
const (
	NoWindow WindowKind = iota // one running total
	Tumbling
)

// FoldAgg is one aggregate column of a fold: a state and what is made of it.
type FoldAgg struct {
	Name  string // of the function, for EXPLAIN
	State int    // index into Fold.States
	Final agg.Finaliser
	// Shadow is the exact twin of an approximate aggregate, if it has one.
	Shadow *agg.Shadow
}

// FoldState is one kept state: its spec, and the expressions that feed it.
type FoldState struct {
	Spec   agg.StateSpec
	Inputs []expr.Expr
	Filter expr.Expr // FILTER (WHERE …); nil admits all
}

// Shadows returns the fold that computes some aggregates of f, by their numbers, as
// their exact twins do. All of them have one.
func (f *Fold) Shadows(aggs []int) *Fold {
	out := *f
	out.Aggs, out.States = nil, nil
	for n, i := range aggs {
		a := f.Aggs[i]
		st := f.States[a.State]
		st.Spec = a.Shadow.State
		out.States = append(out.States, st)
		out.Aggs = append(out.Aggs, FoldAgg{Name: a.Name, State: n, Final: a.Shadow.Final})
	}
	return &out
}

// Partitioned reports whether every group lies in one partition: GROUP BY contains
// the columns of the stream's partition key, and partitions were never changed. Groups
// that Scattered speaks of are excepted.
func (f *Fold) Partitioned() bool {
	key := f.Stream.Stream.Options.PartitionKey
	if len(key) == 0 || len(f.Stream.Stream.Epochs) > 1 {
		return false
	}
	for _, column := range key {
		if !slices.ContainsFunc(f.Keys, func(k expr.Expr) bool { c, ok := ColumnIndex(k); return ok && c == column }) {
			return false
		}
	}
	return true
}

// Scattered returns the number of the key whose NULL makes a group lie in several
// partitions: events without a partition key are routed by their dedup key. It is -1 if
// there is none.
func (f *Fold) Scattered() int {
	o := f.Stream.Stream.Options
	if len(o.PartitionKey) != 1 || len(o.DedupKey) == 0 || slices.Equal(o.PartitionKey, o.DedupKey) || f.Stream.Columns[o.PartitionKey[0]].NotNull {
		return -1
	}
	return slices.IndexFunc(f.Keys, func(k expr.Expr) bool { c, ok := ColumnIndex(k); return ok && c == o.PartitionKey[0] })
}

// SplitKeyFilter splits a filter over the columns of Layout() up to the keys into
// what reads windows only and the rest; nil admits all.
func (f *Fold) SplitKeyFilter(filter expr.Expr) (windows, rest expr.Expr) {
	first := 0
	if f.Window.Kind != NoWindow {
		first = 2 // start and end
	}
	var ofWindows, others []expr.Expr
	for _, e := range Conjuncts(filter) {
		keys := false
		for c := range Columns(e) {
			keys = keys || c >= first
		}
		if keys || !pure(e) {
			others = append(others, e)
		} else {
			ofWindows = append(ofWindows, e)
		}
	}
	return And(ofWindows), And(others)
}

// Fingerprint identifies what the fold computes: equal fingerprints mean states
// that may merge (together with the seed, L-5).
func (f *Fold) Fingerprint() string {
	h := sha256.Sum256([]byte(f.canonical()))
	return hex.EncodeToString(h[:16])
}

func (f *Fold) canonical() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fold v1 stream=%d", f.Stream.ID)
	if f.Filter != nil {
		fmt.Fprintf(&b, " filter=%s", f.Filter)
	}
	fmt.Fprintf(&b, " window=%d/%d/%d/%d", f.Window.Kind, f.Window.TimeColumn, f.Window.Size, f.Window.Offset)
	for _, k := range f.Keys {
		fmt.Fprintf(&b, " key=%s:%d", k, k.Type().OID)
	}
	for i, s := range f.States {
		fmt.Fprintf(&b, " state%d=%s%s", i, s.Spec.Identity(), inputsText(s))
	}
	return b.String()
}

func inputsText(s FoldState) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, in := range s.Inputs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(in.String())
	}
	b.WriteByte(')')
	if s.Filter != nil {
		fmt.Fprintf(&b, " filter %s", s.Filter)
	}
	return b.String()
}

// OutputLayout says where a FoldScan's columns are. The order is: window start
// and end (if windowed), keys, aggregate values; then, hidden, for each
// approximate aggregate its lo, hi and state; then the envelope columns.
type OutputLayout struct {
	WindowStart, WindowEnd int   // -1 without windows
	Keys                   int   // first key
	Aggs                   int   // first aggregate value
	Lo, Hi, State          []int // per aggregate; -1 where it is exact
	Envelope               int   // first envelope column
	Schema                 *types.Schema
}

// Layout computes the output columns of a scan of this fold.
func (f *Fold) Layout() OutputLayout {
	l := OutputLayout{WindowStart: -1, WindowEnd: -1, Schema: &types.Schema{}}
	add := func(c types.Column) int {
		l.Schema.Columns = append(l.Schema.Columns, c)
		return len(l.Schema.Columns) - 1
	}
	if f.Window.Kind != NoWindow {
		t := f.Stream.Columns[f.Window.TimeColumn].Type
		l.WindowStart = add(types.Column{Name: "window_start", Type: t, NotNull: true})
		l.WindowEnd = add(types.Column{Name: "window_end", Type: t, NotNull: true})
	}
	l.Keys = len(l.Schema.Columns)
	for i, k := range f.Keys {
		add(types.Column{Name: fmt.Sprintf("key%d", i), Type: k.Type()})
	}
	l.Aggs = len(l.Schema.Columns)
	for i, a := range f.Aggs {
		add(types.Column{Name: fmt.Sprintf("agg%d", i), Type: a.Final.Type()})
	}
	for i, a := range f.Aggs {
		if !a.Final.Approximate() {
			l.Lo, l.Hi, l.State = append(l.Lo, -1), append(l.Hi, -1), append(l.State, -1)
			continue
		}
		hidden := func(suffix string, t types.Type, r types.Role) int {
			return add(types.Column{Name: fmt.Sprintf("agg%d%s", i, suffix), Type: t, Role: r, Hidden: true})
		}
		l.Lo = append(l.Lo, hidden("_lo", a.Final.Type(), types.RoleBound))
		l.Hi = append(l.Hi, hidden("_hi", a.Final.Type(), types.RoleBound))
		l.State = append(l.State, hidden("__state", types.Of(types.Sketch), types.RoleState))
	}
	l.Envelope = len(l.Schema.Columns)
	l.Schema.Columns = append(l.Schema.Columns, EnvelopeColumns()...)
	return l
}
