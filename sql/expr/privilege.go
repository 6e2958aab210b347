package expr

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Granter is what a Catalog may know of roles and what they may do. Without it,
// everything is allowed.
type Granter interface {
	// Allowed answers has_table_privilege and its kin; known is false where an object that
	// is given by its number does not exist.
	Allowed(q *PrivilegeQuestion) (yes, known bool, err error)
	// RoleID returns the number of a role.
	RoleID(name string) (uint32, bool)
	// RoleNamed returns the name of a role by its number.
	RoleNamed(id uint32) (string, bool)
}

// PrivilegeQuestion is the question of has_table_privilege and its kin.
type PrivilegeQuestion struct {
	// Object is the kind of object: "table", "sequence", "schema", "database", "column",
	// "any_column" or "role".
	Object string
	Role   types.Datum // name or number; NULL is who asks
	Of     types.Datum // name or number
	Column types.Datum // name or number
	Path   []string    // where names are looked up
	// Wants are the privileges of which one is enough.
	Wants []WantedPrivilege
}

// WantedPrivilege is one of the privileges that a question names.
type WantedPrivilege struct {
	Privilege catalog.Privileges
	Word      string // in upper case
	Option    bool   // WITH GRANT OPTION, or WITH ADMIN OPTION of a role
}

// privilegesOf are the words that a question about an object may name.
var privilegesOf = map[string][]string{
	"table":      {"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "RULE"},
	"sequence":   {"USAGE", "SELECT", "UPDATE"},
	"schema":     {"CREATE", "USAGE"},
	"database":   {"CREATE", "TEMPORARY", "TEMP", "CONNECT"},
	"column":     {"SELECT", "INSERT", "UPDATE", "REFERENCES"},
	"any_column": {"SELECT", "INSERT", "UPDATE", "REFERENCES"},
	"role":       {"USAGE", "MEMBER"},
}

// wanted reads the list of privileges that a question names.
func wanted(object, list string) ([]WantedPrivilege, error) {
	var out []WantedPrivilege
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		word := strings.ToUpper(part)
		word, option := strings.CutSuffix(word, " WITH GRANT OPTION")
		if !option && object == "role" {
			word, option = strings.CutSuffix(word, " WITH ADMIN OPTION")
		}
		if !slices.Contains(privilegesOf[object], word) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: %q", part)
		}
		out = append(out, WantedPrivilege{Privilege: catalog.PrivilegeNamed(word), Word: word, Option: option})
	}
	return out, nil
}

// privilegeFunctions are has_table_privilege and its kin.
func privilegeFunctions() []overload {
	var out []overload
	add := func(object, name string, args ...string) {
		sig := name + "(" + strings.Join(args, ",") + ",text) bool"
		out = append(out, fn(sig, "whether a role has a privilege", hasPrivilege(object, args)).stable())
	}
	for _, object := range []string{"table", "schema", "database", "sequence", "any_column"} {
		for _, of := range []string{"text", "oid"} {
			for _, role := range []string{"", "name", "oid"} {
				add(object, "has_"+object+"_privilege", withRole(role, of)...)
			}
		}
	}
	for _, of := range []string{"text", "oid"} {
		for _, col := range []string{"text", "int2"} {
			for _, role := range []string{"", "name", "oid"} {
				add("column", "has_column_privilege", withRole(role, of, col)...)
			}
		}
	}
	for _, of := range []string{"name", "oid"} {
		for _, role := range []string{"", "name", "oid"} {
			add("role", "pg_has_role", withRole(role, of)...)
		}
	}
	return append(out, aclFunctions()...)
}

func withRole(role string, args ...string) []string {
	if role == "" {
		return args
	}
	return append([]string{role}, args...)
}

// hasPrivilege answers a question whose arguments are of these types, and the privileges.
func hasPrivilege(object string, args []string) rowFunc {
	return func(ec *Context, a []types.Datum) (types.Datum, error) {
		q := &PrivilegeQuestion{Object: object, Role: types.NullOf(types.Of(types.Name)), Path: ec.SearchPath}
		given := a[:len(args)]
		if object == "column" {
			q.Column, given = given[len(given)-1], given[:len(given)-1]
		}
		q.Of = given[len(given)-1]
		if len(given) > 1 {
			q.Role = given[0]
		}
		var err error
		if q.Wants, err = wanted(object, str(a[len(args)])); err != nil {
			return types.Datum{}, err
		}
		g, ok := ec.Catalog.(Granter)
		if !ok {
			return types.BoolDatum(true), nil
		}
		yes, known, err := g.Allowed(q)
		if err != nil || !known {
			return types.NullOf(types.Of(types.Bool)), err
		}
		return types.BoolDatum(yes), nil
	}
}

// aclFunctions make ACLs.
func aclFunctions() []overload {
	return []overload{
		fn(`acldefault("char",oid) _aclitem`, "privileges on an object of which none are granted", func(ec *Context, a []types.Datum) (types.Datum, error) {
			kinds := map[byte]access.Kind{'r': access.Table, 's': access.Sequence, 'n': access.Schema, 'd': access.Database}
			kind, ok := kinds[byte(a[0].Int)]
			if !ok {
				return types.NullOf(types.Of(types.AclItemArray)), nil
			}
			return aclArray(access.Items(access.Default(kind, ec.roleNamed(a[1].Int)))), nil
		}).stable(),
		fn("makeaclitem(oid,oid,text,bool) aclitem", "grant of a privilege", func(ec *Context, a []types.Datum) (types.Datum, error) {
			p := catalog.PrivilegeNamed(strings.ToUpper(strings.TrimSpace(str(a[2]))))
			if p == 0 {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: %q", str(a[2]))
			}
			g := catalog.Grant{Grantee: ec.roleNamed(a[0].Int), Grantor: ec.roleNamed(a[1].Int), Privileges: p}
			if a[3].Int != 0 {
				g.Options = p
			}
			return types.Datum{Type: types.Of(types.AclItem), Bytes: []byte(access.Item(g))}, nil
		}).stable(),
	}
}

// roleNamed returns the name of a role, its number where there is none; 0 is PUBLIC.
func (ec *Context) roleNamed(id int64) string {
	if id == 0 {
		return ""
	}
	if g, ok := ec.Catalog.(Granter); ok {
		if name, ok := g.RoleNamed(uint32(id)); ok {
			return name
		}
	}
	return types.FormatDatum(types.IntDatum(types.Int8, id), &types.TextOptions{})
}

func aclArray(items []string) types.Datum {
	out := make([]types.Datum, len(items))
	for i, s := range items {
		out[i] = types.Datum{Type: types.Of(types.AclItem), Bytes: []byte(s)}
	}
	return types.NewArray(types.Of(types.AclItem), out).Datum()
}

// aclSets take ACLs apart.
func aclSets() []*SetFunction {
	columns := []types.Column{
		{Name: "grantor", Type: types.Of(types.Oid)},
		{Name: "grantee", Type: types.Of(types.Oid)},
		{Name: "privilege_type", Type: types.Of(types.Text)},
		{Name: "is_grantable", Type: types.Of(types.Bool)},
	}
	return []*SetFunction{{
		Name: "aclexplode", Args: []types.OID{types.AclItemArray}, Columns: columns, Description: "the privileges of an ACL",
		Rows: func(ec *Context, a []types.Datum) (RowStep, error) {
			var rows [][]types.Datum
			array, err := types.ArrayDatum(a[0])
			if err != nil {
				return nil, err
			}
			for _, item := range array.Items {
				g, ok := access.ParseItem(str(item))
				if !ok {
					continue
				}
				for _, name := range g.Privileges.Names() {
					rows = append(rows, []types.Datum{
						types.IntDatum(types.Oid, ec.roleID(g.Grantor)), types.IntDatum(types.Oid, ec.roleID(g.Grantee)),
						types.TextDatum(name), types.BoolDatum(g.Options.Has(catalog.PrivilegeNamed(name))),
					})
				}
			}
			return oneByOne(len(rows), func(i int, out []*types.Vector) {
				for k, d := range rows[i] {
					out[k].AppendDatum(d)
				}
			}), nil
		},
	}}
}

// roleID returns the number of a role; 0 for PUBLIC and where there is none.
func (ec *Context) roleID(name string) int64 {
	if g, ok := ec.Catalog.(Granter); ok && name != "" {
		id, _ := g.RoleID(name)
		return int64(id)
	}
	return 0
}
