package ast

func (p *printer) session(s Statement) {
	switch x := s.(type) {
	case *SetStmt:
		p.setStmt(x)
	case *SetConstraints:
		p.write("SET CONSTRAINTS ")
		if len(x.Names) == 0 {
			p.write("ALL")
		}
		p.list(len(x.Names), func(i int) { p.name(x.Names[i]) })
		p.write(map[bool]string{true: " DEFERRED", false: " IMMEDIATE"}[x.Deferred])
	case *SetTransaction:
		p.write("SET ")
		if x.Session {
			p.write("SESSION CHARACTERISTICS AS ")
		}
		p.write("TRANSACTION")
		if x.Modes.Snapshot != "" {
			p.write(" SNAPSHOT ", QuoteString(x.Modes.Snapshot))
		}
		p.modes(x.Modes)
	case *Reset:
		if x.Name == "" {
			p.write("RESET ALL")
		} else {
			p.write("RESET ")
			p.optionName(x.Name)
		}
	case *Show:
		p.show(x)
	case *Discard:
		p.write("DISCARD ", x.What)
	case *Listen:
		p.write("LISTEN ")
		p.ident(x.Channel)
	case *Notify:
		p.write("NOTIFY ")
		p.ident(x.Channel)
		if x.Payload != "" {
			p.write(", ", QuoteString(x.Payload))
		}
	case *Unlisten:
		if x.Channel == "*" {
			p.write("UNLISTEN *")
		} else {
			p.write("UNLISTEN ")
			p.ident(x.Channel)
		}
	case *Transaction:
		p.transaction(x)
	}
}

func (p *printer) setStmt(x *SetStmt) {
	p.write("SET ")
	if x.Scope == ScopeLocal {
		p.write("LOCAL ")
	}
	p.optionName(x.Name)
	p.write(" TO ")
	if x.Default {
		p.write("DEFAULT")
		return
	}
	if _, isInterval := x.Values[0].(*Cast); isInterval && x.Name == "timezone" {
		p.b.Reset()
		p.write("SET ", map[SetScope]string{ScopeLocal: "LOCAL "}[x.Scope], "TIME ZONE INTERVAL ")
		cast := x.Values[0].(*Cast)
		p.expr(cast.Arg)
		if cast.Type.IntervalFields != "" {
			p.write(" ", cast.Type.IntervalFields)
		}
		return
	}
	p.exprs(x.Values)
}

func (p *printer) show(x *Show) {
	if x.Kind == ShowAggregate {
		p.write("DESCRIBE AGGREGATE ")
		p.name(*x.For)
		return
	}
	p.write("SHOW ")
	switch x.Kind {
	case ShowSetting:
		p.optionName(x.Setting)
	case ShowGuarantees:
		p.write("GUARANTEES FOR ")
		p.name(*x.For)
	case ShowPartitions:
		p.write("PARTITIONS FOR ")
		p.name(*x.For)
	default:
		p.write(map[ShowKind]string{
			ShowAll: "ALL", ShowStreams: "STREAMS", ShowViews: "VIEWS", ShowTables: "TABLES", ShowSinks: "SINKS",
		}[x.Kind])
	}
}

func (p *printer) transaction(x *Transaction) {
	switch x.Kind {
	case Begin:
		p.write("BEGIN")
		p.modes(x.Modes)
	case StartTransaction:
		p.write("START TRANSACTION")
		p.modes(x.Modes)
	case Commit:
		p.write("COMMIT")
	case Rollback:
		p.write("ROLLBACK")
	case SavepointTx:
		p.write("SAVEPOINT ")
	case ReleaseSavepoint:
		p.write("RELEASE ")
	case RollbackTo:
		p.write("ROLLBACK TO ")
	}
	if x.Chain {
		p.write(" AND CHAIN")
	}
	if x.Name != "" {
		p.ident(x.Name)
	}
}

func (p *printer) modes(m TransactionModes) {
	if m.Isolation != "" {
		p.write(" ISOLATION LEVEL ", string(m.Isolation))
	}
	p.write([]string{"", " READ ONLY", " READ WRITE"}[m.ReadOnly])
	p.write([]string{"", " DEFERRABLE", " NOT DEFERRABLE"}[m.Deferrable])
}
