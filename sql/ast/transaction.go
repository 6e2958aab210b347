package ast

// TransactionKind is a transaction control statement.
type TransactionKind uint8

// The transaction control statements.
const (
	Begin            TransactionKind = iota + 1
	StartTransaction                 // BEGIN by another name, with a command tag of its own
	Commit
	Rollback
	SavepointTx
	ReleaseSavepoint
	RollbackTo
)

// IsolationLevel is a transaction's isolation level in upper case, "" where not given.
type IsolationLevel string

// Choice is a yes/no option that may be absent.
type Choice uint8

// The values of a Choice.
const (
	Unset Choice = iota
	Yes
	No
)

// TransactionModes are the modes of BEGIN, START TRANSACTION and SET TRANSACTION.
type TransactionModes struct {
	Isolation  IsolationLevel
	ReadOnly   Choice
	Deferrable Choice
	// Snapshot is that of SET TRANSACTION SNAPSHOT.
	Snapshot string
}

// Transaction is BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT, RELEASE or ROLLBACK TO.
type Transaction struct {
	Pos
	Kind  TransactionKind
	Modes TransactionModes
	// Chain is COMMIT|ROLLBACK AND CHAIN.
	Chain bool
	// Name is the savepoint's.
	Name string
}

func (*Transaction) node()      {}
func (*Transaction) statement() {}
