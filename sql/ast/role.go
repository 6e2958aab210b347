package ast

import (
	"strconv"
	"strings"
)

// RoleOptions are the attributes that CREATE ROLE and ALTER ROLE give.
type RoleOptions struct {
	// Flags are the attributes that are on or off, by their words: "login",
	// "superuser", "createdb", "createrole", "inherit", "replication", "bypassrls".
	Flags map[string]bool
	// Password is nil where nothing is said of it.
	Password *RolePassword
	// ValidUntil is a timestamp, nil where nothing is said.
	ValidUntil *string
	// ConnectionLimit is nil where nothing is said.
	ConnectionLimit *int64
}

// RolePassword is PASSWORD 'text' or PASSWORD NULL.
type RolePassword struct {
	Text string
	Null bool
}

// CreateRole is CREATE ROLE, CREATE USER or CREATE GROUP; the words only differ in
// whether LOGIN is meant.
type CreateRole struct {
	Pos
	Name    string
	Options RoleOptions
}

// AlterRole is ALTER ROLE or ALTER USER.
type AlterRole struct {
	Pos
	Name    string // "" is the current user
	Options RoleOptions
}

// DropRole is DROP ROLE, DROP USER or DROP GROUP.
type DropRole struct {
	Pos
	IfExists bool
	Names    []Identifier
}

func (*CreateRole) node() {}
func (*AlterRole) node()  {}
func (*DropRole) node()   {}

func (*CreateRole) statement() {}
func (*AlterRole) statement()  {}
func (*DropRole) statement()   {}

// RoleFlags are the words of RoleOptions.Flags in the order in which they are shown.
var RoleFlags = []string{"superuser", "createdb", "createrole", "inherit", "login", "replication", "bypassrls"}

// role prints a statement about roles. Passwords are not shown.
func (p *printer) role(s Statement) {
	switch x := s.(type) {
	case *CreateRole:
		p.write("CREATE ROLE ")
		p.ident(x.Name)
		p.roleOptions(x.Options)
	case *AlterRole:
		p.write("ALTER ROLE ")
		if x.Name == "" {
			p.write("CURRENT_USER")
		} else {
			p.ident(x.Name)
		}
		p.roleOptions(x.Options)
	case *DropRole:
		p.write("DROP ROLE ")
		if x.IfExists {
			p.write("IF EXISTS ")
		}
		for i, n := range x.Names {
			if i > 0 {
				p.write(", ")
			}
			p.ident(n.Name)
		}
	}
}

func (p *printer) roleOptions(o RoleOptions) {
	for _, f := range RoleFlags {
		if on, ok := o.Flags[f]; ok {
			p.write(map[bool]string{true: " ", false: " NO"}[on], strings.ToUpper(f))
		}
	}
	if o.ConnectionLimit != nil {
		p.write(" CONNECTION LIMIT ", strconv.FormatInt(*o.ConnectionLimit, 10))
	}
	switch {
	case o.Password == nil:
	case o.Password.Null:
		p.write(" PASSWORD NULL")
	default:
		p.write(" PASSWORD '********'")
	}
	if o.ValidUntil != nil {
		p.write(" VALID UNTIL ", QuoteString(*o.ValidUntil))
	}
}
