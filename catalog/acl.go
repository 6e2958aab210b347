package catalog

import (
	"fmt"
	"strings"
)

// Privileges is a set of what may be done with an object.
type Privileges uint16

// The privileges, in PostgreSQL's order.
const (
	MayInsert Privileges = 1 << iota
	MaySelect
	MayUpdate
	MayDelete
	MayTruncate
	MayReference
	MayTrigger
	MayExecute
	MayUse
	MayCreate
	MayCreateTemporary
	MayConnect

	noMore
)

// Privileges of all that there are of a kind of object.
const (
	TablePrivileges    = MayInsert | MaySelect | MayUpdate | MayDelete | MayTruncate | MayReference | MayTrigger
	SequencePrivileges = MaySelect | MayUpdate | MayUse
	SchemaPrivileges   = MayUse | MayCreate
	DatabasePrivileges = MayCreate | MayCreateTemporary | MayConnect
	EveryPrivilege     = noMore - 1
)

// privilegeLetters are those of an aclitem, in the order of the privileges.
const privilegeLetters = "arwdDxtXUCTc"

var privilegeNames = []string{
	"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT",
}

// PrivilegeNamed returns the privilege of a word in upper case; 0 if there is none.
func PrivilegeNamed(name string) Privileges {
	for i, n := range privilegeNames {
		if n == name || name == "TEMP" && n == "TEMPORARY" {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether all of some privileges are in the set.
func (p Privileges) Has(all Privileges) bool { return p&all == all }

// Names returns the words of the privileges, in order.
func (p Privileges) Names() []string {
	var out []string
	for i, n := range privilegeNames {
		if p.Has(1 << i) {
			out = append(out, n)
		}
	}
	return out
}

// String returns the words of the privileges, as an error says them.
func (p Privileges) String() string { return strings.Join(p.Names(), ", ") }

// Letters returns the letters of the privileges, each with a star behind it that is
// among the options.
func (p Privileges) Letters(options Privileges) string {
	var out strings.Builder
	for i := range privilegeNames {
		if p.Has(1 << i) {
			out.WriteByte(privilegeLetters[i])
			if options.Has(1 << i) {
				out.WriteByte('*')
			}
		}
	}
	return out.String()
}

// MarshalText implements encoding.TextMarshaler: the letters of an aclitem.
func (p Privileges) MarshalText() ([]byte, error) { return []byte(p.Letters(0)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Privileges) UnmarshalText(text []byte) error {
	*p = 0
	for _, c := range text {
		i := strings.IndexByte(privilegeLetters, c)
		if i < 0 {
			return fmt.Errorf("privilege %q is not known", c)
		}
		*p |= 1 << i
	}
	return nil
}

// Grant is what one role has granted to another, or to all.
type Grant struct {
	Grantee    string // a role; "" is PUBLIC: every role
	Grantor    string
	Privileges Privileges
	Options    Privileges `json:",omitzero"` // those that the grantee may grant to others
}

// ACL is who may do what with an object. A nil one says nothing: the owner may do all,
// and others what they may by default. An ACL is never changed in place.
type ACL []Grant

// openACL grants everything to everyone, as it was before there were privileges.
func openACL(owner string, all Privileges) ACL {
	return ACL{{Grantor: owner, Privileges: all}, {Grantee: owner, Grantor: owner, Privileges: all}}
}

// BootstrapRole owns what no other role owns, and exists without having been created. It
// is a superuser.
const BootstrapRole = "tally"

// AllPrivileges are those that there are of a relation.
func (r *Relation) AllPrivileges() Privileges {
	if r.Kind == KindSequence {
		return SequencePrivileges
	}
	return TablePrivileges
}

// Open lets every role do everything with a relation that was made before there were
// privileges. It belongs to a role.
func (r *Relation) Open(owner string) { r.Owner, r.ACL = owner, openACL(owner, r.AllPrivileges()) }

// Open lets every role do everything in a schema that was made before there were
// privileges. It belongs to a role.
func (s *Schema) Open(owner string) { s.Owner, s.ACL = owner, openACL(owner, SchemaPrivileges) }

// OpenDatabase is the ACL of a database that was made before there were privileges.
func OpenDatabase() ACL { return openACL(BootstrapRole, DatabasePrivileges) }

// NewPublic is the schema public of a new database, to whose owner it belongs: everyone
// may use what is in it, and the owner create there.
func NewPublic(owner string) Schema {
	return Schema{Name: PublicSchema, Owner: owner, ACL: ACL{
		{Grantee: owner, Grantor: owner, Privileges: SchemaPrivileges}, {Grantor: owner, Privileges: MayUse},
	}}
}
