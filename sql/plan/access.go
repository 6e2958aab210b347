package plan

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
)

// Access is what a statement needs to be allowed to do with a relation. It is looked at
// whenever the statement runs, for roles and what they may do change without a new plan.
type Access struct {
	Relation id.Relation
	Want     catalog.Privileges // all of them; none where it only depends on the relation
	// As is the owner of the view through which the relation is used, whose rights count;
	// empty: those of who runs the statement.
	As string
	// System is a relation of the system catalogs that only superusers read, in place of
	// Relation.
	System *VirtualTable
}
