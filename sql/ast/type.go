package ast

// CreateEnum is CREATE TYPE name AS ENUM (labels).
type CreateEnum struct {
	Pos
	Name   ObjectName
	Labels []string
}

// TypeAction is what ALTER TYPE and ALTER DOMAIN do.
type TypeAction uint8

// What ALTER TYPE can do.
const (
	AddLabel TypeAction = iota + 1
	RenameLabel
	RenameType
	MoveType
	OwnType
)

// AlterType is ALTER TYPE name ADD VALUE [IF NOT EXISTS] label [BEFORE|AFTER label] |
// RENAME VALUE label TO label | RENAME TO name | SET SCHEMA name | OWNER TO name.
type AlterType struct {
	Pos
	Kind   ObjectKind // TypeObject or DomainObject
	Name   ObjectName
	Action TypeAction
	// IfNotExists, Label and the label that it goes BEFORE or, if After, AFTER are of
	// AddLabel; Label becomes NewName in RenameLabel.
	IfNotExists bool
	Label       string
	Neighbour   *string
	After       bool
	NewName     string
}

func (*CreateEnum) node() {}
func (*AlterType) node()  {}

func (*CreateEnum) statement() {}
func (*AlterType) statement()  {}

// CreateDomain is CREATE DOMAIN name [AS] type [COLLATE name] [constraints].
type CreateDomain struct {
	Pos
	Name      ObjectName
	Type      *TypeName
	Collation *ObjectName
	Parts     []DomainPart
}

// DomainPart is DEFAULT expression | NOT NULL | NULL | [CONSTRAINT name] CHECK
// (expression), in CREATE DOMAIN or as a change of ALTER DOMAIN.
type DomainPart struct {
	Pos
	Kind     DomainPartKind
	Name     string // of the constraint; "" is none
	Expr     Expr   // of DomainDefault and DomainCheck
	NotValid bool
}

// DomainPartKind is a kind of DomainPart.
type DomainPartKind uint8

// The kinds of parts of domains.
const (
	DomainDefault DomainPartKind = iota + 1
	DomainNotNull
	DomainNull
	DomainCheck
)

// AlterDomain is ALTER DOMAIN name SET DEFAULT expression | DROP DEFAULT | SET NOT NULL |
// DROP NOT NULL | ADD constraint | DROP CONSTRAINT [IF EXISTS] name | RENAME CONSTRAINT
// name TO name | VALIDATE CONSTRAINT name. What it shares with ALTER TYPE is an AlterType.
type AlterDomain struct {
	Pos
	Name ObjectName
	// Action is SetDefault, DropDefault, SetNotNull, DropNotNull, AddConstraint,
	// DropConstraint, RenameConstraint or ValidateConstraint.
	Action     AlterAction
	Expr       Expr        // of SetDefault
	Part       *DomainPart // of AddConstraint
	IfExists   bool
	Constraint string
	NewName    string
}

func (*CreateDomain) node() {}
func (*AlterDomain) node()  {}

func (*CreateDomain) statement() {}
func (*AlterDomain) statement()  {}
