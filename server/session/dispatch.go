package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// dispatch runs one statement.
func (s *Session) dispatch(ctx context.Context, stmt ast.Statement, params []types.Datum, out *sink) error {
	switch x := stmt.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return s.runQuery(ctx, stmt, params, out)
	case *ast.Copy:
		return s.copy(ctx, x, out)
	case *ast.Explain:
		return s.explain(ctx, x, params, out)
	case *ast.Transaction:
		return s.transactionStatement(ctx, x, out)
	case *ast.SetTransaction:
		return s.setTransaction(x, out)
	case *ast.SetConstraints:
		return s.setConstraints(ctx, x, out)
	case *ast.SetStmt:
		return s.setStatement(x, out)
	case *ast.Reset:
		if err := s.settings.reset(x.Name); err != nil {
			return err
		}
		return out.complete("RESET")
	case *ast.Show:
		return s.show(ctx, x, out)
	case *ast.Discard:
		return s.discard(ctx, x, out)
	case *ast.Prepare, *ast.Execute, *ast.Deallocate:
		return s.preparedStatement(ctx, stmt, out)
	case *ast.DeclareCursor, *ast.Fetch, *ast.CloseCursor:
		return s.cursorStatement(ctx, stmt, params, out)
	case *ast.Listen, *ast.Notify, *ast.Unlisten:
		return s.notifyStatement(stmt, out)
	case *ast.Checkpoint: // what was acknowledged is durable already
		if !s.superuser() {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
		}
		return out.complete("CHECKPOINT")
	case *ast.LockTable:
		return s.lockTable(ctx, x, out)
	case *ast.Vacuum:
		for _, t := range x.Tables {
			if _, err := s.lookup(t.Name); err != nil {
				return err
			}
		}
		if x.AnalyzeOnly {
			return out.complete("ANALYZE")
		}
		return out.complete("VACUUM")
	case *ast.Reindex:
		return s.reindex(x, out)
	}
	return s.definition(ctx, stmt, out)
}

// setTransaction runs SET TRANSACTION and SET SESSION CHARACTERISTICS.
func (s *Session) setTransaction(x *ast.SetTransaction, out *sink) error {
	prefix := "transaction"
	switch {
	case x.Session:
		prefix = "default_transaction"
	case x.Modes.Snapshot != "":
		return sqlerr.New(sqlerr.FeatureNotSupported, "snapshots of other transactions are not supported").At(x.Position())
	case !s.txn.open():
		if err := out.writer.Notice("WARNING", sqlerr.New(sqlerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks")); err != nil {
			return err
		}
		return out.complete("SET")
	}
	if err := s.setModes(prefix, x.Modes); err != nil {
		return err
	}
	return out.complete("SET")
}

// setStatement runs SET.
func (s *Session) setStatement(x *ast.SetStmt, out *sink) error {
	name := strings.ToLower(x.Name)
	if x.Default {
		if err := s.settings.reset(name); err != nil {
			return err
		}
		return out.complete("SET")
	}
	value := settingText(x.Values)
	if x.Scope == ast.ScopeLocal {
		if !s.txn.open() {
			if err := out.writer.Notice("WARNING", sqlerr.New(sqlerr.NoActiveSQLTransaction, "SET LOCAL can only be used in transaction blocks")); err != nil {
				return err
			}
			return out.complete("SET")
		}
		if err := s.settings.setLocal(name, value); err != nil {
			return err
		}
		return out.complete("SET")
	}
	if err := s.settings.set(name, value); err != nil {
		return err
	}
	return out.complete("SET")
}

// optionText returns the text of a literal in SET and in option lists.
func optionText(e ast.Expr) string {
	switch x := e.(type) {
	case nil:
		return ""
	case *ast.Literal:
		return x.Text
	case *ast.Unary:
		return x.Op.Name + optionText(x.Arg)
	case *ast.Cast:
		return optionText(x.Arg)
	case *ast.Row:
		parts := make([]string, len(x.Elems))
		for i, item := range x.Elems {
			parts[i] = optionText(item)
		}
		return strings.Join(parts, ",")
	}
	return ast.String(e)
}

// show runs SHOW. What has a system table is read from it.
func (s *Session) show(ctx context.Context, x *ast.Show, out *sink) error {
	switch x.Kind {
	case ast.ShowSetting:
		name := strings.ToLower(x.Setting)
		v, ok := s.settings.get(name)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", x.Setting)
		}
		return out.texts("SHOW", []string{shownName(name)}, [][]string{{v}})
	case ast.ShowAll:
		var rows [][]string
		for _, i := range s.Settings() {
			v, _ := s.settings.get(i.Name)
			rows = append(rows, []string{i.Name, v, i.About})
		}
		return out.texts("SHOW", []string{"name", "setting", "description"}, rows)
	}
	sql, err := s.showQuery(x)
	if err != nil {
		return err
	}
	sel, err := parseSelect(sql)
	if err != nil {
		return err
	}
	return s.runQuery(ctx, sel, nil, out)
}

// showQuery returns the query that a SHOW of catalog objects stands for.
func (s *Session) showQuery(x *ast.Show) (string, error) {
	if x.Kind == ast.ShowAggregate {
		return s.describeAggregate(x)
	}
	where := ""
	if x.For != nil {
		rel, err := s.lookup(*x.For)
		if err != nil {
			return "", err
		}
		column := "stream"
		if x.Kind == ast.ShowGuarantees {
			column = "view"
		}
		where = fmt.Sprintf(" WHERE %s = %s", column, ast.QuoteString(rel.Name))
	}
	switch x.Kind {
	case ast.ShowStreams:
		return "SELECT * FROM tally_catalog.streams ORDER BY name", nil
	case ast.ShowViews:
		return "SELECT * FROM tally_catalog.views ORDER BY name", nil
	case ast.ShowTables:
		return "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1", nil
	case ast.ShowPartitions:
		return "SELECT * FROM tally_catalog.partitions" + where + " ORDER BY stream, partition", nil
	case ast.ShowGuarantees:
		return "SELECT * FROM tally_catalog.guarantees" + where + " ORDER BY view, position", nil
	}
	return "", sqlerr.New(sqlerr.FeatureNotSupported, "this form of SHOW is not supported")
}

// describeAggregate returns the query for the contract of an aggregate function, by
// any of its names.
func (s *Session) describeAggregate(x *ast.Show) (string, error) {
	f := s.engine.Registry.Lookup(x.For.Name)
	if f == nil {
		err := sqlerr.New(sqlerr.UndefinedFunction, "aggregate function %s does not exist", x.For.Name).At(x.Position())
		if near := expr.NearestName(x.For.Name, s.engine.Registry.Names()); near != "" {
			err = err.WithHint("Perhaps you meant %q.", near)
		}
		return "", err
	}
	return "SELECT * FROM tally_catalog.aggregates WHERE name = " + ast.QuoteString(f.Name), nil
}

func (s *Session) discard(ctx context.Context, x *ast.Discard, out *sink) error {
	if x.What == "ALL" || x.What == "PLANS" {
		s.recent = recent{}
	}
	if x.What == "ALL" {
		if s.txn.open() {
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.closeAll()
		s.unlistenAll()
		s.AdvisoryUnlockAll()
		s.prepared = map[string]*prepared{}
		if err := s.settings.set("session_authorization", "default"); err != nil {
			return err
		}
		if err := s.settings.set("role", "none"); err != nil {
			return err
		}
		if err := s.settings.reset(""); err != nil {
			return err
		}
	}
	if x.What == "ALL" || x.What == "TEMP" {
		if err := s.discardTemporary(ctx, out); err != nil {
			return err
		}
	}
	// The acknowledgement comes after it is durable.
	if err := s.endStatement(ctx, out); err != nil {
		return err
	}
	return out.complete("DISCARD %s", x.What)
}

// constants evaluates expressions without columns, such as the arguments of EXECUTE.
func (s *Session) constants(args []ast.Expr, want []types.Type) ([]types.Datum, error) {
	if len(args) == 0 {
		return nil, nil
	}
	core := &ast.SelectCore{}
	for _, a := range args {
		core.Targets = append(core.Targets, ast.Target{Expr: a})
	}
	ec := s.exprContext()
	q, err := bind.Bind(s.bindEnv(ec), &ast.Select{Body: core}, nil)
	if err != nil {
		return nil, err
	}
	r, err := s.startQuery(context.Background(), q, nil, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.close() }() // constants hold nothing
	b, err := r.rows.Next(context.Background())
	if err != nil || b == nil {
		return nil, err
	}
	out := make([]types.Datum, len(args))
	for i := range args {
		c := expr.Expr(&expr.Const{Datum: b.Cols[i].Datum(0)})
		if l, ok := args[i].(*ast.Literal); ok && l.Kind == ast.StringLiteral {
			c = expr.NewLiteral(l.Text) // has no type of its own yet
		} else if ok && l.Kind == ast.NullLiteral {
			c = expr.NewNull()
		}
		if i < len(want) && want[i].OID != 0 && want[i] != c.Type() {
			if c, err = bind.Coerce(s.bindEnv(ec), c, want[i], expr.Assignment); err != nil {
				return nil, err
			}
		}
		v, err := c.Eval(ec, &types.Batch{Rows: 1})
		if err != nil {
			return nil, err
		}
		out[i] = v.Datum(0)
	}
	return out, nil
}

// lines splits a plan's text into rows of a result.
func lines(text string, tail []string) [][]string {
	var rows [][]string
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		rows = append(rows, []string{l})
	}
	for _, l := range tail {
		rows = append(rows, []string{l})
	}
	return rows
}

// coverageLines shows what EXPLAIN ANALYZE learned about completeness.
func coverageLines(r *envelope.Result) []string {
	var out []string
	for _, rel := range r.Relations() {
		out = append(out, fmt.Sprintf("Coverage of %s: %d of %d partitions, %.4g of the expected records, %d ms behind",
			rel.Name, rel.PartsDone, rel.PartsExpected, rel.Share(), rel.StalenessMillis))
		for _, m := range rel.Missing {
			out = append(out, fmt.Sprintf("  Missing: partition %d (%s)", m.Partition, m.Reason))
		}
	}
	return out
}

func executionTime(d time.Duration) string {
	return fmt.Sprintf("Execution Time: %.3f ms", float64(d.Microseconds())/1000)
}
