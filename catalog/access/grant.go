package access

import (
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Change is one GRANT or REVOKE about one object.
type Change struct {
	Revoke     bool
	Privileges catalog.Privileges
	// Option is WITH GRANT OPTION or GRANT OPTION FOR.
	Option   bool
	Grantees []string // "" is PUBLIC
	Cascade  bool
}

// Grantor returns who a change by a role is made as: the owner, where the role has its
// rights, or else of the roles whose rights it has the one that may grant most. may are
// those of the privileges that it may grant.
func (r *Roles) Grantor(role string, o Object, privileges catalog.Privileges) (grantor string, may catalog.Privileges) {
	owner := r.Owner(o.Owner)
	if r.HasRightsOf(role, owner) {
		return owner, privileges
	}
	acl, grantor := r.list(o), role
	for _, other := range r.closure(role, true) {
		var options catalog.Privileges
		for _, g := range acl {
			if g.Grantee == other {
				options |= g.Options & privileges
			}
		}
		if options.Has(privileges) {
			return other, options
		}
		if count(options) > count(may) {
			grantor, may = other, options
		}
	}
	return grantor, may
}

func count(p catalog.Privileges) int { return len(p.Names()) }

// Apply returns the ACL of an object after a change that a grantor makes.
func (r *Roles) Apply(o Object, grantor string, c Change) (catalog.ACL, error) {
	acl := slices.Clone(r.list(o))
	owner := r.Owner(o.Owner)
	for _, grantee := range c.Grantees {
		if grantee == "" && c.Option && !c.Revoke {
			return nil, sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
		}
		x := catalog.Grant{Grantee: grantee, Grantor: grantor}
		if !c.Revoke || !c.Option {
			x.Privileges = c.Privileges
		}
		if c.Revoke || c.Option {
			x.Options = c.Privileges
		}
		if !c.Revoke && c.Option {
			if err := notBack(acl, grantee, grantor, owner, x.Options); err != nil {
				return nil, err
			}
		}
		var err error
		if acl, err = r.update(acl, owner, x, c.Revoke, c.Cascade); err != nil {
			return nil, err
		}
	}
	return acl, nil
}

// update adds a grant to an ACL or takes it from there, with what was granted by it.
func (r *Roles) update(acl catalog.ACL, owner string, x catalog.Grant, revoke, cascade bool) (catalog.ACL, error) {
	i := slices.IndexFunc(acl, func(g catalog.Grant) bool { return g.Grantee == x.Grantee && g.Grantor == x.Grantor })
	if i < 0 {
		if revoke {
			return acl, nil
		}
		return append(acl, x), nil
	}
	g := acl[i]
	lost := catalog.Privileges(0)
	if revoke {
		lost = g.Options & x.Options
		g.Privileges, g.Options = g.Privileges&^x.Privileges, g.Options&^x.Options
	} else {
		g.Privileges, g.Options = g.Privileges|x.Privileges, g.Options|x.Options
	}
	acl = slices.Clone(acl)
	if acl[i] = g; g.Privileges|g.Options == 0 {
		acl = slices.Delete(acl, i, i+1)
	}
	if lost == 0 || g.Grantee == owner { // the owner may always grant
		return acl, nil
	}
	return r.revokeGranted(acl, owner, g.Grantee, lost, cascade)
}

// revokeGranted takes away what a role granted that may not grant it any more.
func (r *Roles) revokeGranted(acl catalog.ACL, owner, grantor string, lost catalog.Privileges, cascade bool) (catalog.ACL, error) {
	for _, g := range acl { // it may have the option from another one
		if g.Grantee == grantor {
			lost &^= g.Options
		}
	}
	for {
		i := slices.IndexFunc(acl, func(g catalog.Grant) bool { return g.Grantor == grantor && g.Privileges&lost != 0 })
		if i < 0 {
			return acl, nil
		}
		if !cascade {
			return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "dependent privileges exist").WithHint("Use CASCADE to revoke them too.")
		}
		var err error
		acl, err = r.update(acl, owner, catalog.Grant{Grantee: acl[i].Grantee, Grantor: grantor, Privileges: lost, Options: lost}, true, true)
		if err != nil {
			return nil, err
		}
	}
}

// notBack refuses options that would come back to who they were granted by.
func notBack(acl catalog.ACL, grantee, grantor, owner string, options catalog.Privileges) error {
	if grantor == owner { // it has them of nobody
		return nil
	}
	without := slices.Clone(acl)
	for { // all that the grantee may grant, and has granted
		i := slices.IndexFunc(without, func(g catalog.Grant) bool { return g.Grantee == grantee && g.Options != 0 })
		if i < 0 {
			break
		}
		without = cut(without, i, owner)
	}
	var own catalog.Privileges
	for _, g := range without {
		if g.Grantee == grantor {
			own |= g.Options
		}
	}
	if !own.Has(options) {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "grant options cannot be granted back to your own grantor")
	}
	return nil
}

// cut takes a grant from an ACL, and what its grantee granted without another right to.
func cut(acl catalog.ACL, i int, owner string) catalog.ACL {
	g := acl[i]
	acl = slices.Delete(acl, i, i+1)
	lost := g.Options
	for _, other := range acl {
		if other.Grantee == g.Grantee {
			lost &^= other.Options
		}
	}
	if g.Grantee == owner {
		return acl
	}
	for {
		i := slices.IndexFunc(acl, func(x catalog.Grant) bool { return x.Grantor == g.Grantee && x.Options&lost != 0 })
		if i < 0 {
			return acl
		}
		acl = cut(acl, i, owner)
	}
}

// NewOwner returns an ACL after another role became the owner, who then has what the old
// one had and granted.
func NewOwner(acl catalog.ACL, from, to string) catalog.ACL {
	if acl == nil {
		return nil
	}
	out := catalog.ACL{}
	for _, g := range acl {
		if g.Grantee == from {
			g.Grantee = to
		}
		if g.Grantor == from {
			g.Grantor = to
		}
		same := func(x catalog.Grant) bool { return x.Grantee == g.Grantee && x.Grantor == g.Grantor }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Privileges, out[i].Options = out[i].Privileges|g.Privileges, out[i].Options|g.Options
			continue
		}
		out = append(out, g)
	}
	return out
}

// Names reports whether a role is a grantee or a grantor in an ACL.
func Names(acl catalog.ACL, role string) bool {
	return slices.ContainsFunc(acl, func(g catalog.Grant) bool { return g.Grantee == role || g.Grantor == role })
}
