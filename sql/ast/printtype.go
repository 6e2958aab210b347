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

func (p *printer) createDomain(x *CreateDomain) {
	p.write("CREATE DOMAIN ")
	p.name(x.Name)
	p.write(" AS ")
	p.typeName(x.Type)
	if x.Collation != nil {
		p.write(" COLLATE ")
		p.name(*x.Collation)
	}
	for i := range x.Parts {
		p.write(" ")
		p.domainPart(&x.Parts[i])
	}
}

func (p *printer) domainPart(x *DomainPart) {
	p.constraintName(x.Name)
	switch x.Kind {
	case DomainDefault:
		p.write("DEFAULT ")
		p.expr(x.Expr)
	case DomainNotNull:
		p.write("NOT NULL")
	case DomainNull:
		p.write("NULL")
	case DomainCheck:
		p.write("CHECK (")
		p.expr(x.Expr)
		p.write(")")
	}
	if x.NotValid {
		p.write(" NOT VALID")
	}
}

func (p *printer) alterDomain(x *AlterDomain) {
	p.write("ALTER DOMAIN ")
	p.name(x.Name)
	switch x.Action {
	case SetDefault:
		p.write(" SET DEFAULT ")
		p.expr(x.Expr)
	case DropDefault:
		p.write(" DROP DEFAULT")
	case SetNotNull:
		p.write(" SET NOT NULL")
	case DropNotNull:
		p.write(" DROP NOT NULL")
	case AddConstraint:
		p.write(" ADD ")
		p.domainPart(x.Part)
	case DropConstraint:
		p.write(" DROP CONSTRAINT ")
		p.ifExists(x.IfExists)
		p.ident(x.Constraint)
	case RenameConstraint:
		p.write(" RENAME CONSTRAINT ")
		p.ident(x.Constraint)
		p.write(" TO ")
		p.ident(x.NewName)
	case ValidateConstraint:
		p.write(" VALIDATE CONSTRAINT ")
		p.ident(x.Constraint)
	}
}
