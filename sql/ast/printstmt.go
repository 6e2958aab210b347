package ast

import "strconv"

// statement writes every statement that is no query.
func (p *printer) statement(s Statement) {
	switch x := s.(type) {
	case *Select:
		p.query(x)
	case *Insert:
		p.insert(x)
	case *Update:
		p.update(x)
	case *Delete:
		p.delete(x)
	case *Merge:
		p.merge(x)
	case *Truncate:
		p.truncate(x)
	case *Copy:
		p.copy(x)
	case *CreateTable, *CreateStream, *CreateView, *CreateContinuousView, *CreateSink, *CreateSchema, *CreateSequence, *CreateIndex:
		p.create(s)
	case *CreateRole, *AlterRole, *DropRole:
		p.role(s)
	case *Drop:
		p.drop(x)
	case *CreateDatabase, *DropDatabase, *AlterDatabase, *AlterSettings:
		p.database(s)
	case *AlterTable:
		p.alterTable(x)
	case *Refresh:
		p.refresh(x)
	case *CreateEnum:
		p.createEnum(x)
	case *AlterType:
		p.alterType(x)
	case *CreateDomain:
		p.createDomain(x)
	case *AlterDomain:
		p.alterDomain(x)
	case *AlterSchema:
		p.write("ALTER SCHEMA ")
		p.ident(x.Name)
		p.tableChange(&TableChange{Action: x.Action, NewName: x.NewName})
	case *AlterStream:
		p.alterStream(x)
	case *AlterContinuousView:
		p.alterContinuousView(x)
	case *CommentOn:
		p.commentOn(x)
	case *Checkpoint:
		p.write("CHECKPOINT")
	case *LockTable:
		p.lockTable(x)
	case *Grant:
		p.grant(x)
	case *GrantRole:
		p.grantRole(x)
	case *SetStmt, *SetTransaction, *SetConstraints, *Reset, *Show, *Discard, *Listen, *Notify, *Unlisten, *Transaction:
		p.session(s)
	default:
		p.utility(s)
	}
}

func (p *printer) utility(s Statement) {
	switch x := s.(type) {
	case *Explain:
		p.explain(x)
	case *Prepare:
		p.prepare(x)
	case *Execute:
		p.write("EXECUTE ")
		p.ident(x.Name)
		if len(x.Args) > 0 {
			p.write("(")
			p.exprs(x.Args)
			p.write(")")
		}
	case *Deallocate:
		p.nameOrAll("DEALLOCATE ", x.Name)
	case *DeclareCursor:
		p.declare(x)
	case *Fetch:
		p.fetch(x)
	case *CloseCursor:
		p.nameOrAll("CLOSE ", x.Name)
	case *Subscribe:
		p.write("SUBSCRIBE TO ")
		p.relationOrQuery(x.From, x.Query)
		p.withOptions(x.Options)
	case *Vacuum:
		p.vacuum(x)
	case *Reindex:
		p.reindex(x)
	}
}

func (p *printer) nameOrAll(verb, name string) {
	p.write(verb)
	if name == "" {
		p.write("ALL")
	} else {
		p.ident(name)
	}
}

func (p *printer) relationOrQuery(name *ObjectName, q *Select) {
	if name != nil {
		p.name(*name)
	} else {
		p.subquery(q)
	}
}

func (p *printer) explain(x *Explain) {
	p.write("EXPLAIN ")
	var options []Option
	if x.Analyze {
		options = append(options, Option{Name: "analyze"})
	}
	if x.Verbose {
		options = append(options, Option{Name: "verbose"})
	}
	if x.Format != "" {
		options = append(options, Option{Name: "format", Value: &Literal{Kind: StringLiteral, Text: x.Format}})
	}
	if options = append(options, x.Options...); len(options) > 0 {
		p.write("(")
		p.bareOptions(options)
		p.write(") ")
	}
	p.node(x.Stmt)
}

// bareOptions writes name value, ..., as COPY, EXPLAIN and VACUUM want it. Their names are
// words of the grammar and are not quoted.
func (p *printer) bareOptions(list []Option) {
	p.list(len(list), func(i int) {
		p.write(list[i].Name)
		if list[i].Value != nil {
			p.write(" ")
			p.optionValue(list[i].Value)
		}
	})
}

func (p *printer) prepare(x *Prepare) {
	p.write("PREPARE ")
	p.ident(x.Name)
	if len(x.Types) > 0 {
		p.write("(")
		p.list(len(x.Types), func(i int) { p.typeName(x.Types[i]) })
		p.write(")")
	}
	p.write(" AS ")
	p.node(x.Stmt)
}

func (p *printer) declare(x *DeclareCursor) {
	p.write("DECLARE ")
	p.ident(x.Name)
	if x.Binary {
		p.write(" BINARY")
	}
	if x.Insensitive {
		p.write(" INSENSITIVE")
	}
	p.write([]string{"", " SCROLL", " NO SCROLL"}[x.Scroll], " CURSOR")
	if x.Hold {
		p.write(" WITH HOLD")
	}
	p.write(" FOR ")
	p.query(x.Query)
}

func (p *printer) fetch(x *Fetch) {
	if x.Move {
		p.write("MOVE ")
	} else {
		p.write("FETCH ")
	}
	p.write([]string{"", "FORWARD ", "BACKWARD ", "ABSOLUTE ", "RELATIVE "}[x.Direction])
	if x.Count == FetchAll {
		p.write("ALL")
	} else {
		p.write(strconv.FormatInt(x.Count, 10))
	}
	p.write(" FROM ")
	p.ident(x.Cursor)
}

func (p *printer) reindex(x *Reindex) {
	p.write("REINDEX ")
	if len(x.Options) > 0 {
		p.write("(")
		p.bareOptions(x.Options)
		p.write(") ")
	}
	if x.System {
		p.write("SYSTEM ")
	} else {
		p.write(string(x.Kind), " ")
	}
	p.name(x.Name)
}

func (p *printer) vacuum(x *Vacuum) {
	if x.AnalyzeOnly {
		p.write("ANALYZE")
	} else {
		p.write("VACUUM")
	}
	if len(x.Options) > 0 {
		p.write(" (")
		p.bareOptions(x.Options)
		p.write(")")
	}
	if len(x.Tables) > 0 {
		p.write(" ")
		p.list(len(x.Tables), func(i int) {
			p.name(x.Tables[i].Name)
			p.idents(x.Tables[i].Columns)
		})
	}
}
