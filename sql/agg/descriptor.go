package agg

import (
	"slices"
	"strings"
)

// Descriptor is the published contract of an aggregate function, shown by
// DESCRIBE AGGREGATE, tally_catalog.aggregates and the documentation.
type Descriptor struct {
	Name         string   // SQL name, lower case
	Aliases      []string // other names, e.g. PipelineDB's
	Family       string   // "exact", "hll", "kll", …
	Signature    string   // "approx_quantile(x float8, q float8 [, k int4]) → float8"
	StreamModel  StreamModel
	MergeAlgebra MergeAlgebra
	Parameters   []Parameter
	Guarantee    string // formula in words
	Confidence   string // how the confidence enters
	Citation     string // paper, authors, year
	Memory       string // formula
	PrivacyClass PrivacyClass
	CodecVersion int
	// Subtracting names the aggregate that comes closest and takes deletes, where this
	// one does not: "count(DISTINCT x)".
	Subtracting string
	// OrderedSet says that it is called with WITHIN GROUP (ORDER BY …).
	OrderedSet bool
}

// Argument is one argument of a call, as the signature has it.
type Argument struct {
	Names    []string // that a call may give it by; it has several where it may be one of several things
	Optional bool
}

// Arguments returns the arguments that calls may name: those of functions with
// parameters, which have no counterpart in PostgreSQL.
func (d Descriptor) Arguments() []Argument {
	_, list, _ := strings.Cut(strings.ReplaceAll(d.Signature, "[]", ""), "(")
	list, _, found := strings.Cut(list, ") →")
	if !found || len(d.Parameters) == 0 || d.OrderedSet {
		return nil
	}
	var out []Argument
	optional := false
	for part := range strings.SplitSeq(list, ",") {
		a := Argument{Optional: optional}
		for alternative := range strings.SplitSeq(part, "|") {
			a.Names = append(a.Names, strings.Fields(alternative)[0])
		}
		out = append(out, a)
		optional = optional || strings.Contains(part, "[")
	}
	return out
}

// Parameter returns the parameter of a name.
func (d Descriptor) Parameter(name string) (Parameter, bool) {
	i := slices.IndexFunc(d.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return d.Parameters[i], true
}

// Parameter is a constant argument with its default and limits.
type Parameter struct {
	Name              string
	Default, Min, Max float64
	Whole             bool // only whole numbers
	Meaning           string
}

// StreamModel says which updates a state can take.
type StreamModel string

// Stream models (Muthukrishnan: Data Streams, 2005).
const (
	CashRegister    StreamModel = "cash_register"    // inserts only
	StrictTurnstile StreamModel = "strict_turnstile" // deletes never exceed inserts
	Turnstile       StreamModel = "turnstile"        // any weights
)

// MergeAlgebra says what merging guarantees.
type MergeAlgebra string

// Merge algebras.
const (
	CommutativeMonoid MergeAlgebra = "commutative_monoid" // any order gives the same state
	MergeableSummary  MergeAlgebra = "mergeable_summary"  // any order gives the same guarantee (Agarwal et al., 2012)
	Idempotent        MergeAlgebra = "semilattice"        // and merging twice changes nothing
	OrderedMonoid     MergeAlgebra = "ordered_monoid"     // associative in partition order
	NotMergeable      MergeAlgebra = "none"               // all rows of a group have to be in one partition
)

// PrivacyClass says what a released value can reveal of a contributor.
type PrivacyClass string

// Privacy classes.
const (
	Aggregated  PrivacyClass = "aggregated"   // a function of many rows
	HoldsValues PrivacyClass = "holds_values" // the state or value contains input values
	HoldsHashes PrivacyClass = "holds_hashes" // the state contains keyed hashes of input values
)
