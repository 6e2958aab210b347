package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// Type is a type that a user defined.
type Type struct {
	OID     types.OID
	Version uint64 // grows with every DDL on this type
	Schema  string
	Name    string
	Array   string // name of the type of its arrays
	Owner   string
	Created time.Time
	Comment string `json:",omitempty"`
	// Labels are those of an enum, in their order.
	Labels []EnumLabel `json:",omitempty"`
	Domain *Domain     `json:",omitempty"` // nil: the type is an enum
}

// Domain is a type with constraints.
type Domain struct {
	// Of is the type of the values; where the domain is over another, that domain.
	Of      types.Type
	NotNull bool          `json:",omitempty"`
	Default string        `json:",omitempty"` // SQL text; "" is none
	Checks  []DomainCheck `json:",omitempty"` // the oldest first
}

// DomainCheck is a CHECK constraint of a domain.
type DomainCheck struct {
	ID       id.Relation
	Name     string
	SQL      string // the condition on VALUE
	NotValid bool   `json:",omitempty"` // values of before it were not checked
	Comment  string `json:",omitempty"`
}

// Values returns the type of a domain's values, marked as the domain.
func (t *Type) Values() types.Type { return t.Domain.Of.InDomain(t.OID) }

// Check returns the place of a constraint of a domain, or -1.
func (d *Domain) Check(name string) int {
	return slices.IndexFunc(d.Checks, func(c DomainCheck) bool { return c.Name == name })
}

// EnumLabel is a label of an enum.
type EnumLabel struct {
	ID       id.Relation // what pg_enum calls it
	Position int64       // the value, see types.EnumLabel
	Text     string
	Unsafe   bool `json:"-"` // added by a transaction that has not committed it
}

// Label returns the place of a label, or -1.
func (t *Type) Label(text string) int {
	return slices.IndexFunc(t.Labels, func(l EnumLabel) bool { return l.Text == text })
}

// Shown returns the type's name for messages.
func (t *Type) Shown() string {
	if t.Schema == PublicSchema {
		return quoted(t.Name)
	}
	return quoted(t.Schema) + "." + quoted(t.Name)
}

// quoted puts a name in quotes if it is not one that is written without.
func quoted(name string) string {
	plain := name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
	}) < 0 && (name[0] < '0' || name[0] > '9')
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Enum returns what the text form of an enum's values needs.
func (t *Type) Enum() *types.Enum {
	e := &types.Enum{OID: t.OID, Name: t.Name, Array: t.Array, Shown: t.Shown()}
	for _, l := range t.Labels {
		value := types.EnumLabel{Position: l.Position, Text: l.Text}
		if l.Unsafe {
			e.Unsafe = append(e.Unsafe, value)
		} else {
			e.Labels = append(e.Labels, value)
		}
	}
	return e
}

// TypeByName returns a type of a schema by its name or that of its arrays, or nil.
func (s *Snapshot) TypeByName(schema, name string) (t *Type, array bool) {
	schema = s.Named(schema)
	for _, t := range s.Types {
		switch {
		case t.Schema != schema:
		case t.Name == name:
			return t, false
		case t.Array == name && t.Array != "":
			return t, true
		}
	}
	return nil, false
}

// TypeByOID returns a type by its number or that of its arrays, or nil.
func (s *Snapshot) TypeByOID(o types.OID) *Type {
	for _, t := range s.Types {
		if t.OID == o&^1 {
			return t
		}
	}
	return nil
}

// SortTypes puts types into the order that a snapshot has them in: by schema and name.
func SortTypes(list []*Type) {
	slices.SortFunc(list, func(a, b *Type) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name))
	})
}
