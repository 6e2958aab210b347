package ast

func (p *printer) createEnum(x *CreateEnum) {
	p.write("CREATE TYPE ")
	p.name(x.Name)
	p.write(" AS ENUM (")
	p.list(len(x.Labels), func(i int) { p.write(QuoteString(x.Labels[i])) })
	p.write(")")
}

func (p *printer) alterType(x *AlterType) {
	p.write("ALTER ", string(x.Kind), " ")
	p.name(x.Name)
	switch x.Action {
	case AddLabel:
		p.write(" ADD VALUE ")
		p.ifNotExists(x.IfNotExists)
		p.write(QuoteString(x.Label))
		if x.Neighbour != nil {
			where := " BEFORE "
			if x.After {
				where = " AFTER "
			}
			p.write(where, QuoteString(*x.Neighbour))
		}
	case RenameLabel:
		p.write(" RENAME VALUE ", QuoteString(x.Label), " TO ", QuoteString(x.NewName))
	case RenameType:
		p.write(" RENAME TO ")
		p.ident(x.NewName)
	case MoveType:
		p.write(" SET SCHEMA ")
		p.ident(x.NewName)
	case OwnType:
		p.write(" OWNER TO ")
		p.ident(x.NewName)
	}
}
