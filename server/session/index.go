package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/tablestore"
	"github.com/tallydb/tallydb/sql/types"
)

// maxIndexColumns is the largest number of columns of an index, as in PostgreSQL.
const maxIndexColumns = 32

// createIndex runs CREATE INDEX.
func (s *Session) createIndex(ctx context.Context, x *ast.CreateIndex, out *sink) (string, error) {
	const tag = "CREATE INDEX"
	rel, err := s.lookup(x.Table)
	if err != nil {
		return "", err
	}
	if err := s.mustOwn(rel); err != nil {
		return "", err
	}
	if rel.Table == nil {
		return "", sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation %q", rel.Name).
			WithDetail("This operation is not supported for a %s.", rel.Kind).At(x.Table.Position())
	}
	if x.Method != "" && !slices.Contains([]string{"btree", "hash", "gist", "gin", "spgist", "brin"}, x.Method) {
		return "", sqlerr.New(sqlerr.UndefinedObject, "access method %q does not exist", x.Method)
	}
	if x.Unique && x.Method != "" && x.Method != "btree" {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "access method %q does not support unique indexes", x.Method)
	}
	index, err := s.indexOf(rel, x)
	if err != nil {
		return "", err
	}
	if index.Name == "" {
		names := make([]string, len(index.Columns))
		for i := range names {
			names[i] = index.Column(rel, i).Name
		}
		index.Name = (&definer{s: s, table: rel, taken: map[string]bool{}}).free(rel.Name+"_"+strings.Join(names, "_"), "idx")
	}
	if s.nameTaken(rel.Schema, index.Name) {
		err := sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", index.Name)
		if !x.IfNotExists {
			return "", err
		}
		return tag, out.writer.Notice("NOTICE", sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists, skipping", index.Name))
	}
	return tag, s.changeTable(rel, func(c *tableChange) error {
		c.next.Table.Indexes = append(slices.Clone(rel.Table.Indexes), *index)
		if !index.Unique {
			return nil
		}
		return c.tx.BuildIndex(ctx, rel, *index)
	})
}

// indexOf makes the descriptor of an index.
func (s *Session) indexOf(rel *catalog.Relation, x *ast.CreateIndex) (*catalog.Index, error) {
	if len(x.Keys) > maxIndexColumns {
		return nil, sqlerr.New(sqlerr.TooManyColumns, "cannot use more than %d columns in an index", maxIndexColumns)
	}
	index := &catalog.Index{ID: s.engine.Catalog.Reserve(), Name: x.Name, Unique: x.Unique, NullsEqual: x.NullsEqual}
	env := s.bindEnv(s.exprContext())
	for _, k := range x.Keys {
		if k.Expr == nil {
			i := rel.Column(k.Column.Name)
			if i < 0 {
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", k.Column.Name).At(k.Column.Position())
			}
			if err := bind.CheckCollation(k.Collation, rel.Columns[i].Type); err != nil {
				return nil, err
			}
			index.Columns = append(index.Columns, i)
			continue
		}
		if l, ok := k.Expr.(*ast.Literal); ok && (l.Kind == ast.StringLiteral || l.Kind == ast.NullLiteral) {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "data type unknown has no default operator class for access method \"btree\"").
				WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
		}
		e, err := bind.IndexExpr(env, rel, k.Expr)
		if err == nil {
			err = bind.CheckCollation(k.Collation, e.Type())
		}
		if err != nil {
			return nil, err
		}
		made := catalog.IndexExpr{SQL: s.storedText(k.Expr), Type: e.Type().Base(), Name: index.FreeName(rel, bind.IndexColumnName(k.Expr))}
		switch k.Expr.(type) {
		case *ast.FuncCall:
			made.Call = true
		case *ast.Case, *ast.Cast, *ast.Array, *ast.Literal:
		default:
			made.Operator = true
		}
		index.Columns, index.Exprs = append(index.Columns, catalog.IndexColumnExpr), append(index.Exprs, made)
	}
	if x.Where != nil {
		if _, err := bind.IndexWhere(env, rel, x.Where); err != nil {
			return nil, err
		}
		index.Where = s.storedText(x.Where)
	}
	return index, nil
}

// compute is tablestore.Tx.Compute.
func (s *Session) compute(table *catalog.Relation, x *catalog.Index, rows *types.Batch) (tablestore.Computed, error) {
	var out tablestore.Computed
	ec := s.exprContext()
	bound, err := s.indexed.get(s.bindEnv(ec), table, x)
	if err != nil {
		return out, err
	}
	for _, e := range bound.Values {
		v, err := e.Eval(ec, rows)
		if err != nil {
			return out, err
		}
		out.Values = append(out.Values, v.Flat())
	}
	if bound.Where != nil {
		out.In, err = bound.Where.Eval(ec, rows)
	}
	return out, err
}

// indexedTable keeps what the indexes of the table that was written last compute.
type indexedTable struct {
	table *catalog.Relation
	bound map[string]*bind.Indexed // by the text of the index
}

func (t *indexedTable) get(env *bind.Env, table *catalog.Relation, x *catalog.Index) (*bind.Indexed, error) {
	if t.table != table {
		t.table, t.bound = table, map[string]*bind.Indexed{}
	}
	key := fmt.Sprint(x.Exprs, x.Where)
	if b := t.bound[key]; b != nil {
		return b, nil
	}
	b, err := bind.Index(env, table, x)
	if err == nil {
		t.bound[key] = b
	}
	return b, err
}

// changeIndexTexts has change look at the expressions and conditions of a table's
// indexes; it returns false to drop the index.
func changeIndexTexts(t *catalog.Table, change func(ast.Expr) bool) error {
	var kept []catalog.Index
	for _, x := range t.Indexes {
		keep := true
		x.Exprs = slices.Clone(x.Exprs)
		texts := []*string{&x.Where}
		for i := range x.Exprs {
			texts = append(texts, &x.Exprs[i].SQL)
		}
		for _, text := range texts {
			if *text == "" {
				continue
			}
			e, err := storedExpr(*text)
			if err != nil {
				return err
			}
			keep = change(e) && keep
			*text = ast.String(e)
		}
		if keep {
			kept = append(kept, x)
		}
	}
	t.Indexes = kept
	return nil
}

// retypeIndexes gives the expressions of indexes their types after those of columns
// changed.
func (c *tableChange) retypeIndexes() error {
	for i := range c.next.Table.Indexes {
		x := &c.next.Table.Indexes[i]
		bound, err := bind.Index(c.s.bindEnv(c.s.exprContext()), c.next, x)
		if err != nil {
			return err
		}
		x.Exprs = slices.Clone(x.Exprs)
		for n, e := range bound.Values {
			x.Exprs[n].Type = e.Type().Base()
		}
	}
	return nil
}

// dropIndexes runs DROP INDEX.
func (s *Session) dropIndexes(ctx context.Context, x *ast.Drop, out *sink) error {
	for _, n := range x.Names {
		schemas := []string{n.Schema}
		if n.Schema == "" {
			schemas = s.path()
		}
		var rel *catalog.Relation
		var index *catalog.Index
		for _, sc := range schemas {
			if rel, index = s.findIndex(sc, n.Name); index != nil {
				break
			}
		}
		switch {
		case index == nil && x.IfExists:
			if err := out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "index %q does not exist, skipping", n.Name)); err != nil {
				return err
			}
			continue
		case index == nil:
			if r, err := s.lookup(n); err == nil {
				return sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", r.Name).
					WithHint("Use DROP %s to remove it.", upper(string(r.Kind))).At(n.Position())
			}
			return sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", n.Name).At(n.Position())
		case index.Constraint:
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop index %s because constraint %s on table %s requires it", index.Name, index.Name, rel.Name).
				WithHint("You can drop constraint %s on table %s instead.", index.Name, rel.Name)
		}
		if err := s.reachable(rel); err != nil {
			return err
		}
		if err := s.mayDropIndex(rel, index); err != nil {
			return err
		}
		list := s.indexDependents(rel, index)
		if len(list) > 0 && !x.Cascade {
			return errDependents("index "+index.Name, list)
		}
		if err := s.dropDependents(ctx, list, out); err != nil {
			return err
		}
		if rel = s.snapshot().ByID(rel.ID); rel == nil {
			return errChanged(index.Name)
		}
		err := s.changeTable(rel, func(c *tableChange) error { return c.dropIndex(ctx, index.ID) })
		if err != nil {
			return err
		}
	}
	return nil
}
