package ast

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Pos
	Name    string
	Options []Option
}

// DropDatabase is DROP DATABASE [IF EXISTS] name [[WITH] (FORCE)].
type DropDatabase struct {
	Pos
	Name     string
	IfExists bool
	Force    bool // ends the sessions that use it
}

// AlterDatabase is ALTER DATABASE name RENAME TO or OWNER TO.
type AlterDatabase struct {
	Pos
	Name    string
	NewName string // empty: the owner changes
	Owner   string
}

// AlterSettings changes what sessions begin with: ALTER DATABASE name SET or RESET, and
// ALTER ROLE name [IN DATABASE name] SET or RESET.
type AlterSettings struct {
	Pos
	OfRole   bool
	Role     string // "" is the current user
	Everyone bool   // ALL in place of a role
	Database string // empty: any
	// Name is the setting, lower case; empty with Reset: all.
	Name   string
	Values []Expr // as those of SetStmt
	Reset  bool
}

func (*CreateDatabase) node() {}
func (*DropDatabase) node()   {}
func (*AlterDatabase) node()  {}
func (*AlterSettings) node()  {}

func (*CreateDatabase) statement() {}
func (*DropDatabase) statement()   {}
func (*AlterDatabase) statement()  {}
func (*AlterSettings) statement()  {}

func (p *printer) database(s Statement) {
	switch x := s.(type) {
	case *CreateDatabase:
		p.write("CREATE DATABASE ")
		p.ident(x.Name)
		for _, o := range x.Options {
			p.write(" ")
			p.ident(o.Name)
			p.write(" = ")
			p.expr(o.Value)
		}
	case *DropDatabase:
		p.write("DROP DATABASE ")
		p.ifExists(x.IfExists)
		p.ident(x.Name)
		if x.Force {
			p.write(" WITH (FORCE)")
		}
	case *AlterDatabase:
		p.write("ALTER DATABASE ")
		p.ident(x.Name)
		if x.NewName != "" {
			p.write(" RENAME TO ")
			p.ident(x.NewName)
		} else {
			p.write(" OWNER TO ")
			p.roleWord(x.Owner)
		}
	case *AlterSettings:
		p.alterSettings(x)
	}
}

func (p *printer) alterSettings(x *AlterSettings) {
	switch {
	case !x.OfRole:
		p.write("ALTER DATABASE ")
		p.ident(x.Database)
	case x.Everyone:
		p.write("ALTER ROLE ALL")
	case x.Role == "":
		p.write("ALTER ROLE CURRENT_USER")
	default:
		p.write("ALTER ROLE ")
		p.ident(x.Role)
	}
	if x.OfRole && x.Database != "" {
		p.write(" IN DATABASE ")
		p.ident(x.Database)
	}
	p.write(" ")
	if x.Reset {
		p.session(&Reset{Name: x.Name})
		return
	}
	p.setStmt(&SetStmt{Name: x.Name, Values: x.Values})
}
