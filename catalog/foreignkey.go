package catalog

import (
	"cmp"
	"slices"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// ReferentialAction is what becomes of the rows that reference a row which is deleted
// or gets another key. The values are those of pg_constraint.
type ReferentialAction string

// The referential actions.
const (
	NoAction   ReferentialAction = "a"
	Restrict   ReferentialAction = "r"
	Cascade    ReferentialAction = "c"
	SetNull    ReferentialAction = "n"
	SetDefault ReferentialAction = "d"
)

// ForeignKey is a FOREIGN KEY constraint, kept with the table that references. It
// names the referenced columns by their places in a unique index, so that it stays
// right when the referenced table's columns move.
type ForeignKey struct {
	ID         id.Relation
	Name       string
	Columns    []int        // that reference
	Target     id.Relation  // the table that is referenced
	Index      id.Relation  // unique, of Target
	Places     []int        // of each of Columns among the columns of the index
	KeyTypes   []types.Type // that values of Columns are compared in
	MatchFull  bool         `json:",omitempty"`
	OnUpdate   ReferentialAction
	OnDelete   ReferentialAction
	SetColumns []int `json:",omitempty"` // that ON DELETE SET NULL|DEFAULT sets; none: all
	Deferrable bool  `json:",omitempty"`
	Deferred   bool  `json:",omitempty"` // INITIALLY DEFERRED
	NotValid   bool  `json:",omitempty"` // rows of before it were not checked
}

// Reference is a foreign key with the tables that it joins.
type Reference struct {
	Key      *ForeignKey
	From, To *Relation
	Index    Index // of To
}

// Columns returns the referenced columns, in the order of Key.Columns.
func (r *Reference) Columns() []int {
	out := make([]int, len(r.Key.Places))
	for i, p := range r.Key.Places {
		out[i] = r.Index.Columns[p]
	}
	return out
}

// Index returns an index of a table by its number, or nil.
func (r *Relation) Index(number id.Relation) *Index {
	for _, x := range r.Indexes() {
		if x.ID == number {
			return &x
		}
	}
	return nil
}

// References returns the foreign keys of a table.
func (s *Snapshot) References(table *Relation) []Reference {
	if table.Table == nil {
		return nil
	}
	var out []Reference
	for i := range table.Table.ForeignKeys {
		key := &table.Table.ForeignKeys[i]
		to := s.byID[key.Target]
		if key.Target == table.ID {
			to = table // which may be a version that is not in the snapshot yet
		}
		if to == nil {
			continue
		}
		if x := to.Index(key.Index); x != nil {
			out = append(out, Reference{Key: key, From: table, To: to, Index: *x})
		}
	}
	return out
}

// ReferencedBy returns the foreign keys that reference a table, the oldest first.
func (s *Snapshot) ReferencedBy(table id.Relation) []Reference {
	var out []Reference
	for _, from := range s.referencing[table] {
		for _, r := range s.References(from) {
			if r.To.ID == table {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b Reference) int { return cmp.Compare(a.Key.ID, b.Key.ID) })
	return out
}

// noteReferences fills s.referencing.
func (s *Snapshot) noteReferences(r *Relation) {
	if r.Table == nil {
		return
	}
	for i := range r.Table.ForeignKeys {
		target := r.Table.ForeignKeys[i].Target
		if !slices.Contains(s.referencing[target], r) {
			s.referencing[target] = append(s.referencing[target], r)
		}
	}
}
