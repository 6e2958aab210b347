package access_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
)

var roles = access.NewRoles([]access.Role{
	{Name: "owner", ID: 101, Inherit: true},
	{Name: "a", ID: 102, Inherit: true},
	{Name: "b", ID: 103, Inherit: true},
	{Name: "member", ID: 104, Inherit: true, Memberships: []access.Membership{{Of: "a", Grantor: "owner"}}},
	{Name: "aloof", ID: 105, Memberships: []access.Membership{{Of: "a", Grantor: "owner", Admin: true}}},
	{Name: "deputy", ID: 106, Inherit: true, Memberships: []access.Membership{{Of: "owner", Grantor: "owner"}}},
	{Name: "boss", ID: 107, Superuser: true, Inherit: true},
	{Name: "nested", ID: 108, Inherit: true, Memberships: []access.Membership{{Of: "aloof"}, {Of: "member"}}},
})

func table(acl catalog.ACL) access.Object {
	return access.Object{Kind: access.Table, Owner: "owner", ACL: acl}
}

func TestWhoMayWhat(t *testing.T) {
	granted := table(catalog.ACL{
		{Grantee: "owner", Grantor: "owner", Privileges: catalog.MayInsert},
		{Grantee: "a", Grantor: "owner", Privileges: catalog.MaySelect, Options: catalog.MaySelect},
		{Grantor: "owner", Privileges: catalog.MayReference},
	})
	for _, x := range []struct {
		role         string
		o            access.Object
		want         catalog.Privileges
		may, options catalog.Privileges
	}{
		{"owner", table(nil), catalog.TablePrivileges, catalog.TablePrivileges, catalog.TablePrivileges},
		{"a", table(nil), catalog.TablePrivileges, 0, 0},
		{"", table(nil), catalog.TablePrivileges, 0, 0},
		{"nobody", table(nil), catalog.TablePrivileges, 0, 0},
		{"boss", table(catalog.ACL{}), catalog.TablePrivileges, catalog.TablePrivileges, catalog.TablePrivileges},
		{"owner", table(catalog.ACL{}), catalog.MaySelect, 0, catalog.MaySelect},
		{"owner", granted, catalog.MaySelect | catalog.MayInsert, catalog.MayInsert, catalog.MaySelect | catalog.MayInsert},
		{"a", granted, catalog.MaySelect | catalog.MayUpdate | catalog.MayReference, catalog.MaySelect | catalog.MayReference, catalog.MaySelect},
		{"member", granted, catalog.MaySelect | catalog.MayReference, catalog.MaySelect | catalog.MayReference, catalog.MaySelect},
		{"aloof", granted, catalog.MaySelect | catalog.MayReference, catalog.MayReference, 0},
		{"nested", granted, catalog.MaySelect, catalog.MaySelect, catalog.MaySelect},
		{"deputy", granted, catalog.MayInsert | catalog.MaySelect, catalog.MayInsert, catalog.MayInsert | catalog.MaySelect},
		{"", granted, catalog.MaySelect | catalog.MayReference, catalog.MayReference, 0},
		{"nobody", granted, catalog.MaySelect | catalog.MayReference, catalog.MayReference, 0},
		{catalog.BootstrapRole, access.Object{Kind: access.Table, Owner: "gone", ACL: catalog.ACL{}}, catalog.MaySelect, catalog.MaySelect, catalog.MaySelect},
		{"a", access.Object{Kind: access.Database, Owner: "owner"}, catalog.MayConnect | catalog.MayCreate, catalog.MayConnect, 0},
	} {
		if got := roles.Allowed(x.role, x.o, x.want); got != x.may {
			t.Errorf("%q may %s of %v, want %s", x.role, got, x.o.ACL, x.may)
		}
		if got := roles.Grantable(x.role, x.o, x.want); got != x.options {
			t.Errorf("%q may grant %s of %v, want %s", x.role, got, x.o.ACL, x.options)
		}
	}
}

func TestMemberships(t *testing.T) {
	for _, x := range []struct {
		role, other           string
		rights, member, admin bool
	}{
		{"member", "a", true, true, false},
		{"aloof", "a", false, true, true},
		{"nested", "a", true, true, true},
		{"nested", "aloof", true, true, false},
		{"a", "member", false, false, false},
		{"boss", "a", true, true, true},
		{"nobody", "a", false, false, false},
		{"deputy", "owner", true, true, false},
	} {
		if got := roles.HasRightsOf(x.role, x.other); got != x.rights {
			t.Errorf("%s has the rights of %s: %v", x.role, x.other, got)
		}
		if got := roles.IsMember(x.role, x.other); got != x.member {
			t.Errorf("%s is a member of %s: %v", x.role, x.other, got)
		}
		if got := roles.IsAdmin(x.role, x.other); got != x.admin {
			t.Errorf("%s may grant %s: %v", x.role, x.other, got)
		}
	}
}

// TestGrantsHaveGrounds: whatever is granted and revoked, by whomever may, each grant is
// by the owner or rests on options that lead back to the owner; and the ACL that was
// changed stays as it was.
func TestGrantsHaveGrounds(t *testing.T) {
	names := []string{"owner", "a", "b", "member", "deputy", ""}
	some := rapid.Map(rapid.Uint16Range(1, uint16(catalog.TablePrivileges)), func(n uint16) catalog.Privileges { return catalog.Privileges(n) & catalog.TablePrivileges })
	rapid.Check(t, func(t *rapid.T) {
		o := table(nil)
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			c := access.Change{
				Revoke: rapid.Bool().Draw(t, "revoke"), Option: rapid.Bool().Draw(t, "option"), Cascade: rapid.Bool().Draw(t, "cascade"),
				Grantees: []string{rapid.SampledFrom(names).Draw(t, "grantee")},
			}
			grantor, may := roles.Grantor(rapid.SampledFrom(names[:5]).Draw(t, "by"), o, some.Draw(t, "privileges"))
			if c.Privileges = may; may == 0 {
				continue
			}
			before := slices.Clone(o.ACL)
			acl, err := roles.Apply(o, grantor, c)
			if !slices.Equal(before, o.ACL) {
				t.Fatalf("%+v changed its argument", c)
			}
			if err != nil {
				continue
			}
			o.ACL = acl
			if bad := groundless(acl); bad != nil {
				t.Fatalf("after %+v by %s: %v has no ground in %v", c, grantor, *bad, access.Items(acl))
			}
			if c.Revoke && !c.Option && slices.ContainsFunc(acl, func(g catalog.Grant) bool {
				return g.Grantee == c.Grantees[0] && g.Grantor == grantor && g.Privileges&c.Privileges != 0
			}) {
				t.Fatalf("%+v by %s left %v", c, grantor, access.Items(acl))
			}
		}
	})
}

// groundless returns a grant whose grantor could not have made it: what can be granted is
// worked out from the owner on, as far as it goes.
func groundless(acl catalog.ACL) *catalog.Grant {
	options := map[string]catalog.Privileges{"owner": catalog.TablePrivileges}
	for grows := true; grows; {
		grows = false
		for _, g := range acl {
			if add := g.Options & options[g.Grantor] &^ options[g.Grantee]; add != 0 && g.Grantee != "" {
				options[g.Grantee] |= add
				grows = true
			}
		}
	}
	for _, g := range acl {
		if !options[g.Grantor].Has(g.Privileges | g.Options) {
			return &g
		}
	}
	return nil
}

func TestItems(t *testing.T) {
	for text, want := range map[string]catalog.Grant{
		"=r/owner":        {Grantor: "owner", Privileges: catalog.MaySelect},
		"a=ar*w/owner":    {Grantee: "a", Grantor: "owner", Privileges: catalog.MayInsert | catalog.MaySelect | catalog.MayUpdate, Options: catalog.MaySelect},
		`"a b"=U/"x""y"`:  {Grantee: "a b", Grantor: `x"y`, Privileges: catalog.MayUse},
		"Tiếng=X/postgre": {Grantee: "Tiếng", Grantor: "postgre", Privileges: catalog.MayExecute},
	} {
		got, ok := access.ParseItem(text)
		if !ok || got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
		if back := access.Item(want); back != text {
			t.Errorf("%+v: %s, want %s", want, back, text)
		}
	}
	for _, text := range []string{"", "a", "a=r", "a=?/b", "a=*/b", `"a=r/b`, "a=r/b/c", "=r/"} {
		if g, ok := access.ParseItem(text); ok && text != "=r/" {
			t.Errorf("%q: %+v", text, g)
		}
	}
}

func TestNewOwner(t *testing.T) {
	acl := catalog.ACL{
		{Grantee: "owner", Grantor: "owner", Privileges: catalog.MaySelect},
		{Grantee: "a", Grantor: "owner", Privileges: catalog.MayInsert},
		{Grantee: "b", Grantor: "a", Privileges: catalog.MayInsert},
	}
	got := access.Items(access.NewOwner(acl, "owner", "a"))
	if want := []string{"a=ar/a", "b=a/a"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if access.NewOwner(nil, "owner", "a") != nil {
		t.Error("what is not said is said")
	}
}

// FuzzParseItem: what is read as an item is written so that it is read as the same.
func FuzzParseItem(f *testing.F) {
	for _, s := range []string{"=r/owner", "a=ar*w/owner", `"a b"=U/"x""y"`, "a=/b", `""=r/""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, ok := access.ParseItem(text)
		if !ok {
			return
		}
		if again, ok := access.ParseItem(access.Item(g)); !ok || again != g {
			t.Errorf("%q is %+v, which is written as %q and read as %+v", text, g, access.Item(g), again)
		}
	})
}
