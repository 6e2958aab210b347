package ast

// LockTable is LOCK [TABLE] names [IN mode MODE] [NOWAIT].
type LockTable struct {
	Pos
	Names []ObjectName
	// Mode is in upper case, ACCESS EXCLUSIVE where none is given.
	Mode   string
	NoWait bool
}

// Checkpoint is CHECKPOINT.
type Checkpoint struct{ Pos }

func (*Checkpoint) node()      {}
func (*Checkpoint) statement() {}

func (*LockTable) node() {}

func (*LockTable) statement() {}

func (p *printer) lockTable(x *LockTable) {
	p.write("LOCK TABLE ")
	p.list(len(x.Names), func(i int) { p.name(x.Names[i]) })
	p.write(" IN ", x.Mode, " MODE")
	if x.NoWait {
		p.write(" NOWAIT")
	}
}
