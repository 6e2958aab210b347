package ast

// SetScope tells how long a setting lasts.
type SetScope uint8

// Scopes of SET.
const (
	ScopeSession SetScope = iota
	ScopeLocal
)

// SetStmt is SET [SESSION|LOCAL] name = values. SET TIME ZONE z sets "timezone", SET
// NAMES e sets "client_encoding", SET SCHEMA s sets "search_path". Values are literals
// (bare words are strings); nil with Default set means SET ... TO DEFAULT.
type SetStmt struct {
	Pos
	Scope   SetScope
	Name    string
	Values  []Expr
	Default bool
}

// SetConstraints is SET CONSTRAINTS names|ALL DEFERRED|IMMEDIATE.
type SetConstraints struct {
	Pos
	Names    []ObjectName // none: all
	Deferred bool
}

func (*SetConstraints) node()      {}
func (*SetConstraints) statement() {}

// SetTransaction is SET TRANSACTION modes, or with Session SET SESSION CHARACTERISTICS AS
// TRANSACTION modes.
type SetTransaction struct {
	Pos
	Session bool
	Modes   TransactionModes
}

// Reset is RESET name; Name is "" for RESET ALL.
type Reset struct {
	Pos
	Name string
}

// ShowKind is what SHOW asks for.
type ShowKind uint8

// What SHOW can ask for.
const (
	ShowSetting ShowKind = iota + 1
	ShowAll
	ShowStreams
	ShowViews
	ShowTables
	ShowSinks
	ShowPartitions
	ShowGuarantees
	ShowAggregate
)

// Show is SHOW setting, SHOW ALL, SHOW STREAMS|VIEWS|TABLES|SINKS, SHOW PARTITIONS FOR
// stream, SHOW GUARANTEES FOR view, DESCRIBE AGGREGATE function.
type Show struct {
	Pos
	Kind ShowKind
	// Setting is the name of the setting, with dots.
	Setting string
	// For is the relation of GUARANTEES and PARTITIONS, the function of AGGREGATE; nil
	// where none is named.
	For *ObjectName
}

// Discard is DISCARD ALL|PLANS|SEQUENCES|TEMP; What is in upper case.
type Discard struct {
	Pos
	What string
}

// Listen is LISTEN channel.
type Listen struct {
	Pos
	Channel string
}

// Notify is NOTIFY channel [, 'payload'].
type Notify struct {
	Pos
	Channel string
	Payload string
}

// Unlisten is UNLISTEN channel; Channel is "*" for all.
type Unlisten struct {
	Pos
	Channel string
}

func (*SetStmt) node()        {}
func (*SetTransaction) node() {}
func (*Reset) node()          {}
func (*Show) node()           {}
func (*Discard) node()        {}
func (*Listen) node()         {}
func (*Notify) node()         {}
func (*Unlisten) node()       {}

func (*SetStmt) statement()        {}
func (*SetTransaction) statement() {}
func (*Reset) statement()          {}
func (*Show) statement()           {}
func (*Discard) statement()        {}
func (*Listen) statement()         {}
func (*Notify) statement()         {}
func (*Unlisten) statement()       {}
