package ast

// LockTable is LOCK [TABLE] names [IN mode MODE] [NOWAIT].
type LockTable struct {
	Pos
	Names []ObjectName
	// Mode is in upper case, ACCESS EXCLUSIVE where none is given.
	Mode   string
	NoWait bool
}

// Grant is GRANT privileges ON names TO roles. Relations is empty for objects of other
// kinds than relations.
type Grant struct {
	Pos
	Privileges []string // in upper case
	Kind       string   // TABLE, SCHEMA, ... in upper case
	Relations  []ObjectName
	Names      []string // of objects that are no relations
	Roles      []string
}

// Checkpoint is CHECKPOINT.
type Checkpoint struct{ Pos }

func (*Checkpoint) node()      {}
func (*Checkpoint) statement() {}

func (*LockTable) node() {}
func (*Grant) node()     {}

func (*LockTable) statement() {}
func (*Grant) statement()     {}

func (p *printer) lockTable(x *LockTable) {
	p.write("LOCK TABLE ")
	p.list(len(x.Names), func(i int) { p.name(x.Names[i]) })
	p.write(" IN ", x.Mode, " MODE")
	if x.NoWait {
		p.write(" NOWAIT")
	}
}

func (p *printer) grant(x *Grant) {
	p.write("GRANT ")
	p.list(len(x.Privileges), func(i int) { p.write(x.Privileges[i]) })
	p.write(" ON ", x.Kind, " ")
	p.list(len(x.Relations), func(i int) { p.name(x.Relations[i]) })
	p.list(len(x.Names), func(i int) { p.ident(x.Names[i]) })
	p.write(" TO ")
	p.list(len(x.Roles), func(i int) { p.ident(x.Roles[i]) })
}
