package plan

import (
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// Query is a bound statement that yields or writes rows.
type Query struct {
	Root Node
	// Output are the columns that the client sees; they are the first columns of
	// the root's rows. What follows is for the session's own use.
	Output []types.Column
	// Origins are where the output columns come from unmodified, in their order;
	// empty for statements that write.
	Origins []Origin
	// StatusShown is true where an output column is the unmodified _status of the
	// result's relation, so that partial rows are labelled (L-7). The status of a
	// row that no event stands behind (an aggregate of no rows, a row that an outer
	// join extended) is NULL, which labels nothing.
	StatusShown bool
	// StatusColumns are the numbers of those output columns.
	StatusColumns []int
	// StreamDerived is true where a row may come from a stream.
	StreamDerived bool
	// Writes is true where a part of its WITH writes, whatever the statement itself is.
	Writes bool
	// Params are the types of $1, $2, ….
	Params []types.Type
	// Slots is how many parameters follow Params for the use of Apply.
	Slots int
	// Access is what the statement needs to be allowed to do.
	Access []Access
	// Relations are those the plan was made from; it is valid while they have
	// these versions.
	Relations []RelationVersion
}

// Origin is a column of a relation. Relation is its number in pg_class, 0 where a
// column is computed; Column counts from 1.
type Origin struct {
	Relation uint32
	Column   int
}

// RelationVersion is one version of a relation.
type RelationVersion struct {
	ID      id.Relation
	Version uint64
}
