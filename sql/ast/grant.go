package ast

// Grant is GRANT and REVOKE of privileges on objects. Relations is empty for objects of
// other kinds than relations.
type Grant struct {
	Pos
	Revoke     bool
	Option     bool     // WITH GRANT OPTION or GRANT OPTION FOR
	Privileges []string // in upper case
	Kind       string   // TABLE, SCHEMA, ... in upper case
	Relations  []ObjectName
	Names      []string // of objects that are no relations
	Roles      []string // "public" is PUBLIC; "current_user" and its kin are words
	By         string   // of GRANTED BY
	Cascade    bool
}

// GrantRole is GRANT and REVOKE of roles.
type GrantRole struct {
	Pos
	Revoke  bool
	Admin   bool // WITH ADMIN OPTION or ADMIN OPTION FOR
	Roles   []string
	Members []string
	By      string // of GRANTED BY
}

// PrivilegeWords are the words for privileges.
var PrivilegeWords = []string{
	"all", "select", "insert", "update", "delete", "truncate", "references", "trigger", "usage", "create", "connect",
	"temporary", "temp", "execute",
}

func (*Grant) node()     {}
func (*GrantRole) node() {}

func (*Grant) statement()     {}
func (*GrantRole) statement() {}

func (p *printer) grant(x *Grant) {
	if x.Revoke {
		p.write("REVOKE ")
		if x.Option {
			p.write("GRANT OPTION FOR ")
		}
	} else {
		p.write("GRANT ")
	}
	p.list(len(x.Privileges), func(i int) { p.write(x.Privileges[i]) })
	p.write(" ON ", x.Kind, " ")
	p.list(len(x.Relations), func(i int) { p.name(x.Relations[i]) })
	p.list(len(x.Names), func(i int) { p.ident(x.Names[i]) })
	p.toOrFrom(x.Revoke, x.Roles)
	if x.Option && !x.Revoke {
		p.write(" WITH GRANT OPTION")
	}
	p.grantedBy(x.By)
	if x.Cascade {
		p.write(" CASCADE")
	}
}

func (p *printer) grantRole(x *GrantRole) {
	if x.Revoke {
		p.write("REVOKE ")
		if x.Admin {
			p.write("ADMIN OPTION FOR ")
		}
	} else {
		p.write("GRANT ")
	}
	p.list(len(x.Roles), func(i int) { p.ident(x.Roles[i]) })
	p.toOrFrom(x.Revoke, x.Members)
	if x.Admin && !x.Revoke {
		p.write(" WITH ADMIN OPTION")
	}
	p.grantedBy(x.By)
}

func (p *printer) toOrFrom(revoke bool, roles []string) {
	if revoke {
		p.write(" FROM ")
	} else {
		p.write(" TO ")
	}
	p.list(len(roles), func(i int) { p.roleWord(roles[i]) })
}

func (p *printer) grantedBy(role string) {
	if role != "" {
		p.write(" GRANTED BY ")
		p.roleWord(role)
	}
}

// roleWord prints a role, or the word that stands for one.
func (p *printer) roleWord(name string) {
	switch name {
	case "current_user", "current_role", "session_user":
		p.write(name)
	default:
		p.ident(name)
	}
}
