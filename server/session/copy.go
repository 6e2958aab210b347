package session

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/copyfmt"
	"github.com/tallydb/tallydb/sql/exec"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/ingest"
)

// copy runs COPY.
func (s *Session) copy(ctx context.Context, c *ast.Copy, out *sink) error {
	if c.File != "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY to or from a file of the server is not supported").
			WithHint(`Use COPY FROM STDIN or TO STDOUT; psql's \copy does.`).At(c.Position())
	}
	if c.From {
		return s.copyFrom(ctx, c, out)
	}
	return s.copyTo(ctx, c, out)
}

// copyTo runs COPY TO STDOUT.
func (s *Session) copyTo(ctx context.Context, c *ast.Copy, out *sink) error {
	query := c.Query
	if query == nil {
		rel, err := s.lookup(c.Table)
		if err != nil {
			return err
		}
		query = copyQuery(c, rel)
	}
	if _, merges := query.(*ast.Merge); merges {
		return sqlerr.New(sqlerr.FeatureNotSupported, "MERGE not supported in COPY")
	}
	r, err := s.start(ctx, query, nil)
	if err != nil {
		return err
	}
	if command, modifies := commandOf(query); modifies || r.query.Writes {
		if !s.writesTemporary(r.query.Access) {
			err = s.writable(command)
		}
		if err == nil && len(r.columns()) == 0 {
			err = sqlerr.New(sqlerr.FeatureNotSupported, "COPY query must have a RETURNING clause")
		}
		if err != nil {
			return errors.Join(err, r.close())
		}
	}
	err = s.copyRows(ctx, c, r, out)
	return errors.Join(err, r.close())
}

// copyQuery selects a relation's data columns, or those that are listed. What
// comes from a stream carries its status, so that partial data is labelled.
func copyQuery(c *ast.Copy, rel *catalog.Relation) *ast.Select {
	core := &ast.SelectCore{From: []ast.FromItem{&ast.TableRef{Pos: c.Table.Pos, Name: c.Table}}}
	names := c.Columns
	if len(names) == 0 {
		for _, col := range rel.Columns {
			names = append(names, ast.Identifier{Name: col.Name})
		}
	}
	for _, n := range names {
		core.Targets = append(core.Targets, ast.Target{Expr: &ast.ColumnRef{Pos: n.Pos, Parts: []string{n.Name}}})
	}
	return &ast.Select{Body: core}
}

func (s *Session) copyRows(ctx context.Context, c *ast.Copy, r *running, out *sink) error {
	cols := r.columns()
	opts, err := readCopyOptions(c, cols)
	if err != nil {
		return err
	}
	format := pgwire.TextFormat
	if opts.Format == copyfmt.Binary {
		format = pgwire.BinaryFormat
	}
	w := copyfmt.NewWriter(cols, opts.Options, s.textOptions())
	begun := false
	var buf []byte
	rows := int64(0)
	for {
		b, err := r.read(ctx, out)
		if err != nil {
			return err
		}
		if !begun {
			if err := out.writer.CopyOut(len(cols), format); err != nil {
				return err
			}
			begun = true
			buf = w.AppendHeader(buf)
		}
		if b == nil {
			break
		}
		for i := range b.Rows {
			buf = w.AppendRow(buf, b, i)
			if err := out.writer.CopyData(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		rows += int64(b.Rows)
	}
	if buf = w.AppendTrailer(buf); len(buf) > 0 {
		if err := out.writer.CopyData(buf); err != nil {
			return err
		}
	}
	if err := out.writer.CopyDone(); err != nil {
		return err
	}
	if err := s.endStatement(ctx, out); err != nil {
		return err
	}
	return out.complete("COPY %d", rows)
}

// copyFrom runs COPY FROM STDIN.
func (s *Session) copyFrom(ctx context.Context, c *ast.Copy, out *sink) error {
	rel, err := s.lookup(c.Table)
	if err != nil {
		return err
	}
	if err := s.writable("COPY FROM"); err != nil && !rel.Temporary() {
		return err
	}
	if rel.Materialized != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view %q", rel.Name).At(c.Table.Position())
	}
	if rel.Stream == nil && rel.Table == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot copy to %s %q", rel.Kind, rel.Name).WithHint("Copy into the stream that it reads.").At(c.Table.Position())
	}
	columns, err := copyColumns(c, rel)
	if err != nil {
		return err
	}
	in := make([]types.Column, len(columns))
	for i, n := range columns {
		in[i] = rel.Columns[n]
	}
	opts, err := readCopyOptions(c, in)
	if err != nil {
		return err
	}
	var where expr.Expr
	access := plan.Access{Relation: rel.ID, Want: catalog.MayInsert}
	if c.Where != nil {
		if where, err = bind.Condition(s.bindEnv(s.exprContext()), rel, &access, c.Where); err != nil {
			return err
		}
	}
	if err := s.permitted([]plan.Access{access}); err != nil {
		return err
	}
	format := pgwire.TextFormat
	if opts.Format == copyfmt.Binary {
		format = pgwire.BinaryFormat
	}
	source, err := out.writer.CopyIn(len(columns), format)
	if err != nil {
		return err
	}
	load := &copyLoad{s: s, rel: rel, columns: columns, where: where}
	reader := copyfmt.NewReader(rel.Name, in, opts.Options, s.textOptions())
	if err := load.begin(ctx, reader, in, opts); err != nil {
		return err
	}
	if err := load.run(ctx, reader, source); err != nil {
		if load.appender != nil {
			return load.appender.Prefix(err)
		}
		return err
	}
	if err := s.endStatement(ctx, out); err != nil {
		return err
	}
	return out.complete("COPY %d", load.rows)
}

// copyColumns returns the numbers of the columns that the data has.
func copyColumns(c *ast.Copy, rel *catalog.Relation) ([]int, error) {
	var out []int
	if len(c.Columns) == 0 {
		for i := range rel.Columns {
			out = append(out, i)
		}
		return out, nil
	}
	seen := map[int]bool{}
	for _, id := range c.Columns {
		i := rel.Column(id.Name)
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", id.Name, rel.Name).At(id.Position())
		}
		if seen[i] {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", id.Name).At(id.Position())
		}
		seen[i] = true
		out = append(out, i)
	}
	return out, nil
}

// copyLoad moves parsed rows into a relation.
type copyLoad struct {
	s        *Session
	rel      *catalog.Relation
	columns  []int
	where    expr.Expr            // over the relation's columns; nil takes every row
	batch    *types.Batch         // of the data's columns
	appender *ingest.Appender     // of a stream
	table    *exec.Loader         // of a table
	domains  map[int]*expr.Domain // of the data's columns, by their number in the table
	rows     int64
}

func (l *copyLoad) begin(ctx context.Context, reader *copyfmt.Reader, in []types.Column, opts copyOptions) error {
	if l.rel.Stream == nil {
		l.batch = types.NewBatch(&types.Schema{Columns: in}, 0)
		if opts.reject {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY into a table cannot set bad rows aside")
		}
		return l.loadTable()
	}
	var err error
	if l.appender, err = l.s.appender(l.rel); err != nil {
		return err
	}
	if l.everyColumn() {
		l.batch = l.appender.Input()
	} else {
		l.batch = types.NewBatch(&types.Schema{Columns: in}, 0)
	}
	if opts.reject || l.rel.Stream.Options.RejectBadRows {
		reader.OnBad = func(b copyfmt.BadRow) error {
			return l.appender.Reject(ctx, b.Reason, b.Err.Context+"; row: "+b.Raw)
		}
	}
	return nil
}

func (l *copyLoad) run(ctx context.Context, reader *copyfmt.Reader, source *pgwire.CopySource) error {
	for {
		data, err := source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := reader.Feed(data, l.batch); err != nil {
			return err
		}
		if l.batch.Rows >= types.BatchRows {
			if err := l.store(ctx); err != nil {
				return err
			}
			runtime.Gosched() // readers and workers that wait for a processor come first
		}
	}
	if err := reader.Finish(l.batch); err != nil {
		return err
	}
	if err := l.store(ctx); err != nil || l.table == nil {
		return err
	}
	return l.table.Finish(ctx)
}

// store hands the parsed rows on.
func (l *copyLoad) store(ctx context.Context) error {
	b := l.batch
	if b.Rows == 0 {
		return nil
	}
	full, err := l.fill(b)
	if err == nil {
		full, err = l.filter(full)
	}
	if err != nil {
		return err
	}
	accepted := full.Rows
	switch {
	case accepted == 0:
	case l.appender != nil:
		accepted, err = l.appender.Add(ctx, full)
	default:
		err = l.table.Insert(ctx, full)
	}
	l.rows += int64(accepted)
	b.Reset()
	return err
}

// filter keeps the rows for which WHERE is true.
func (l *copyLoad) filter(b *types.Batch) (*types.Batch, error) {
	if l.where == nil {
		return b, nil
	}
	v, err := l.where.Eval(l.s.exprContext(), b)
	if err != nil {
		return nil, err
	}
	var sel []int32
	for i := range b.Rows {
		if !v.IsNull(i) && v.Ints[i] != 0 {
			sel = append(sel, int32(i))
		}
	}
	return b.Gather(sel), nil
}

// fill puts the data's columns where the relation has them; others have their
// default or are NULL.
func (l *copyLoad) fill(b *types.Batch) (*types.Batch, error) {
	if l.everyColumn() {
		return b, l.checkDomains(b)
	}
	out := &types.Batch{Cols: make([]*types.Vector, len(l.rel.Columns)), Rows: b.Rows}
	for i, n := range l.columns {
		out.Cols[n] = b.Cols[i]
	}
	if err := l.checkDomains(out); err != nil {
		return nil, err
	}
	for i, c := range out.Cols {
		if c == nil {
			ec := l.s.exprContext()
			value, err := bind.Default(l.s.bindEnv(ec), l.rel, i)
			if err != nil {
				return nil, err
			}
			if out.Cols[i], err = value.Eval(ec, b); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// checkDomains makes sure that the data's columns keep the constraints of their domains.
func (l *copyLoad) checkDomains(b *types.Batch) error {
	for _, n := range l.columns {
		d := l.domains[n]
		if d == nil {
			continue
		}
		if err := d.Check(l.s.exprContext(), b.Cols[n], b.Rows); err != nil {
			return err
		}
	}
	return nil
}

// everyColumn reports whether the data has the relation's columns as they are.
func (l *copyLoad) everyColumn() bool {
	for i, n := range l.columns {
		if i != n {
			return false
		}
	}
	return len(l.columns) == len(l.rel.Columns)
}

// loadTable prepares the insertion of rows into a table.
func (l *copyLoad) loadTable() error {
	env := l.s.bindEnv(l.s.exprContext())
	rules, err := bind.Rules(env, l.rel)
	if err != nil {
		return err
	}
	l.domains = map[int]*expr.Domain{}
	for _, n := range l.columns {
		domain := env.Snapshot.TypeByOID(l.rel.Columns[n].Type.Domain())
		if domain == nil {
			continue
		}
		if l.domains[n], err = bind.DomainOf(env, domain); err != nil {
			return err
		}
	}
	tx := l.s.tx()
	tx.LockTimeout = l.s.settings.meaning().lockTimeout
	l.table = exec.NewLoader(rules, &exec.Env{Expr: l.s.exprContext(), Tables: &tablestore.Statement{Tx: tx}})
	return nil
}
