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
