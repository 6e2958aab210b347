package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/expr"
)

// Rules are what every row of a table keeps, and what writing it brings with it in
// other tables.
type Rules struct {
	Table        *catalog.Relation
	Checks       []Check
	References   []*Reference // its foreign keys
	ReferencedBy []*Reference // those of others, and its own, to it
}

// Check is a condition that no written row may make false.
type Check struct {
	Name string
	Cond expr.Expr // over the columns of the target
}

// Reference is a foreign key, bound for a statement that writes one of its tables.
type Reference struct {
	catalog.Reference
	// From are the rules of the referencing table, where a referential action may
	// write it.
	FromRules *Rules
	// Nulls and Defaults are what Key.Columns get where an action sets them so.
	Nulls, Defaults []expr.Expr
	// Updated are Key.Columns as a referenced row has them, over the columns of To,
	// where an update cascades.
	Updated []expr.Expr
}

// Linked reports whether writing the table concerns other rows.
func (r *Rules) Linked() bool { return len(r.References) > 0 || len(r.ReferencedBy) > 0 }
