package access

import (
	"github.com/tallydb/tallydb/catalog"
)

// Kind of an object, by what its privileges are.
type Kind uint8

// Kinds of objects.
const (
	Table Kind = iota // and all else that has rows
	Sequence
	Schema
	Database
)

// All returns the privileges that there are of a kind.
func (k Kind) All() catalog.Privileges {
	return [...]catalog.Privileges{catalog.TablePrivileges, catalog.SequencePrivileges, catalog.SchemaPrivileges, catalog.DatabasePrivileges}[k]
}

// Object is what may be done something with.
type Object struct {
	Kind  Kind
	Owner string // as it is noted
	ACL   catalog.ACL
}

// OfRelation returns a relation as an object.
func OfRelation(r *catalog.Relation) Object {
	kind := Table
	if r.Kind == catalog.KindSequence {
		kind = Sequence
	}
	return Object{Kind: kind, Owner: r.Owner, ACL: r.ACL}
}

// OfSchema returns a schema as an object.
func OfSchema(s *catalog.Schema) Object { return Object{Kind: Schema, Owner: s.Owner, ACL: s.ACL} }

// OfDatabase returns the database of a snapshot as an object.
func OfDatabase(s *catalog.Snapshot) Object {
	return Object{Kind: Database, Owner: s.Owner, ACL: s.ACL}
}

// Default returns the ACL of an object of which none is noted.
func Default(kind Kind, owner string) catalog.ACL {
	own := catalog.Grant{Grantee: owner, Grantor: owner, Privileges: kind.All()}
	if kind == Database {
		return catalog.ACL{{Grantor: owner, Privileges: catalog.MayCreateTemporary | catalog.MayConnect}, own}
	}
	return catalog.ACL{own}
}

// list returns the ACL of an object, the default one where none is noted.
func (r *Roles) list(o Object) catalog.ACL {
	if o.ACL == nil {
		return Default(o.Kind, r.Owner(o.Owner))
	}
	return o.ACL
}

// Owns reports whether a role has the rights of an object's owner.
func (r *Roles) Owns(role string, o Object) bool { return r.HasRightsOf(role, r.Owner(o.Owner)) }

// Allowed returns those of the wanted privileges that a role has.
func (r *Roles) Allowed(role string, o Object, want catalog.Privileges) catalog.Privileges {
	if r.Superuser(role) {
		return want
	}
	return r.sum(role, r.list(o), want, func(g *catalog.Grant) catalog.Privileges { return g.Privileges })
}

// Grantable returns those of the wanted privileges that a role may grant to others. The
// owner may grant all, also those that it has taken from itself.
func (r *Roles) Grantable(role string, o Object, want catalog.Privileges) catalog.Privileges {
	if r.Owns(role, o) {
		return want
	}
	return r.sum(role, r.list(o), want, func(g *catalog.Grant) catalog.Privileges { return g.Options })
}

// AnyOf reports whether a role has one of some privileges, or may grant one.
func (r *Roles) AnyOf(role string, o Object, of catalog.Privileges) bool {
	return r.Allowed(role, o, of)|r.Grantable(role, o, of) != 0
}

// sum adds up what an ACL gives to a role and those whose rights it has.
func (r *Roles) sum(role string, acl catalog.ACL, want catalog.Privileges, gives func(*catalog.Grant) catalog.Privileges) catalog.Privileges {
	var got catalog.Privileges
	for i := range acl {
		g := &acl[i]
		if add := gives(g) & want &^ got; add != 0 && (g.Grantee == "" || g.Grantee == role) {
			got |= add
		}
	}
	if got == want {
		return got
	}
	for i := range acl { // searching through memberships is dearer
		g := &acl[i]
		if add := gives(g) & want &^ got; add != 0 && g.Grantee != "" && r.HasRightsOf(role, g.Grantee) {
			got |= add
		}
	}
	return got
}
