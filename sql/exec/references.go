package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Foreign keys are looked after when a statement has written everything, as
// PostgreSQL's triggers are fired: change by change, row by row, first what becomes of
// the rows that reference it, then what it references. What a referential action writes
// is a change of its own, behind those there are.

// change is rows of one table that a statement wrote.
type change struct {
	rules *plan.Rules
	kind  plan.ModifyKind
	ids   *types.Vector
	old   *types.Batch // before an Update or a Delete
	new   *types.Batch // after an Insert or an Update; nil where that is to be fetched

	charged int64 // of the statement's memory
}

// charge brings the budget up to date with what the change keeps.
func (c *change) charge(m *budget) error {
	n := int64(c.ids.MemoryBytes())
	for _, b := range []*types.Batch{c.old, c.new} {
		if b != nil {
			n += int64(b.MemoryBytes())
		}
	}
	if err := m.grow(n - c.charged); err != nil {
		return err
	}
	c.charged = n
	return nil
}

// Postponed is a check of a deferred constraint: of a row that references, or of the
// rows that reference one that was there.
type Postponed struct {
	catalog.Reference
	Row  int64        // that references; 0 where Gone is set
	Gone *types.Batch // the row that was referenced
}

// CheckPostponed makes up for checks that were put off. now returns a constraint as it
// is by now, nil where it was dropped since.
func CheckPostponed(ctx context.Context, env *Env, list []Postponed, now func(*catalog.Reference) *catalog.Reference) error {
	r := newRun(&plan.Query{}, env)
	for i := range list {
		p := &list[i]
		if err := cancelled(ctx); err != nil {
			return err
		}
		ref := now(&p.Reference)
		if ref == nil {
			continue
		}
		var err error
		if p.Gone != nil {
			err = r.stillReferenced(ctx, ref, p.Gone, 0, false)
		} else {
			err = r.checkRowOf(ctx, ref, p.Row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckReference fails where rows of a table reference what is not there.
func CheckReference(ctx context.Context, env *Env, ref *catalog.Reference, rows *types.Batch) error {
	r := newRun(&plan.Query{}, env)
	for i := range rows.Rows {
		if keyless(ref.Key, rows, i) {
			continue
		}
		if err := r.dangles(ctx, ref, rows, i); err != nil {
			return err
		}
	}
	return nil
}

// checkRowOf fails where what a row references is not there.
func (r *run) checkRowOf(ctx context.Context, ref *catalog.Reference, row int64) error {
	ids := types.NewVector(types.Of(types.Int8), 1)
	ids.AppendInt(row)
	there, now, err := r.env.Tables.Fetch(ctx, ref.From, ids)
	if err != nil || there.Len() == 0 || keyless(ref.Key, now, 0) {
		return err
	}
	return r.dangles(ctx, ref, now, 0)
}

// writeRows writes rows of a table and notes what that means for references.
func (r *run) writeRows(ctx context.Context, kind plan.ModifyKind, rules *plan.Rules, ids *types.Vector, rows *types.Batch) error {
	c := change{rules: rules, kind: kind, ids: ids, new: rows}
	t := r.env.Tables
	linked := len(rules.ReferencedBy) > 0 || kind == plan.Update && len(rules.References) > 0
	if kind != plan.Insert && linked {
		var err error
		if ids, c.old, err = t.Fetch(ctx, rules.Table, ids); err != nil {
			return err
		}
		if ids.Len() != c.ids.Len() {
			return sqlerr.New(sqlerr.InternalError, "rows of table %q are gone while they are written", rules.Table.Name)
		}
	}
	switch kind {
	case plan.Insert:
		first, err := t.Insert(ctx, rules.Table, rows)
		if err != nil {
			return err
		}
		linked = len(rules.References) > 0
		if linked {
			c.ids = types.NewVector(types.Of(types.Int8), rows.Rows)
			for i := range rows.Rows {
				c.ids.AppendInt(first + int64(i))
			}
		}
	case plan.Update:
		if err := t.Update(ctx, rules.Table, ids, rows); err != nil {
			return err
		}
	default:
		c.new = nil
		if err := t.Delete(ctx, rules.Table, ids); err != nil {
			return err
		}
	}
	if !linked {
		return nil
	}
	if err := c.charge(&r.state.memory); err != nil {
		return err
	}
	r.state.writes = append(r.state.writes, c)
	return nil
}

// settle looks after the references of what was written.
func (r *run) settle(ctx context.Context) error {
	for len(r.state.writes) > 0 {
		c := r.state.writes[0]
		r.state.writes = r.state.writes[1:]
		for i := range c.ids.Len() {
			if i%types.BatchRows == 0 {
				if err := cancelled(ctx); err != nil {
					return err
				}
			}
			if err := r.settleRow(ctx, &c, i); err != nil {
				return err
			}
		}
		r.state.memory.shrink(c.charged)
	}
	return nil
}

func (r *run) settleRow(ctx context.Context, c *change, i int) error {
	if c.old != nil {
		for _, ref := range c.rules.ReferencedBy {
			if c.kind == plan.Update && sameColumns(ref.Columns(), c.old, c.new, i) {
				continue
			}
			if err := r.unreference(ctx, c, ref, i); err != nil {
				return err
			}
		}
	}
	if c.kind == plan.Delete {
		return nil
	}
	for _, ref := range c.rules.References {
		if c.kind == plan.Update && sameColumns(ref.Key.Columns, c.old, c.new, i) {
			continue
		}
		if c.new != nil && keyless(ref.Key, c.new, i) {
			continue
		}
		if r.env.Tables.Deferred(ref.Key) {
			if err := r.env.Tables.Postpone(Postponed{Reference: ref.Reference, Row: c.ids.Ints[i]}); err != nil {
				return err
			}
			continue
		}
		var err error
		if c.new == nil {
			err = r.checkRowOf(ctx, &ref.Reference, c.ids.Ints[i])
		} else {
			err = r.checkReference(ctx, &ref.Reference, c.new, i, c.ids.Ints[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sameColumns reports whether row i has equal values in these columns of both batches.
func sameColumns(columns []int, a, b *types.Batch, i int) bool {
	for _, c := range columns {
		if string(types.AppendKey(nil, a.Cols[c], i)) != string(types.AppendKey(nil, b.Cols[c], i)) {
			return false
		}
	}
	return true
}

// keyless reports whether a row references nothing.
func keyless(k *catalog.ForeignKey, rows *types.Batch, i int) bool {
	nulls := 0
	for _, c := range k.Columns {
		if rows.Cols[c].IsNull(i) {
			nulls++
		}
	}
	return nulls == len(k.Columns) || nulls > 0 && !k.MatchFull
}

// checkReference fails where what row i references is not there, unless the row itself
// is not there any more, or has another key, by now.
func (r *run) checkReference(ctx context.Context, ref *catalog.Reference, rows *types.Batch, i int, id int64) error {
	if err := r.dangles(ctx, ref, rows, i); err == nil {
		return nil
	}
	return r.checkRowOf(ctx, ref, id)
}

// dangles is the error of a row whose referenced row is not there.
func (r *run) dangles(ctx context.Context, ref *catalog.Reference, rows *types.Batch, i int) error {
	violation := sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table %q violates foreign key constraint %q", ref.From.Name, ref.Key.Name)
	for _, c := range ref.Key.Columns {
		if rows.Cols[c].IsNull(i) {
			return violation.WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
		}
	}
	present, err := r.env.Tables.Present(ctx, ref, rows, i)
	if err != nil || present {
		return err
	}
	return violation.WithDetail("Key %s is not present in table %q.", r.keyText(ref.From, ref.Key.Columns, rows, i), ref.To.Name)
}

// keyText shows columns of a row as PostgreSQL does in details.
func (r *run) keyText(table *catalog.Relation, columns []int, rows *types.Batch, i int) string {
	var names, values []string
	for _, c := range columns {
		names = append(names, table.Columns[c].Name)
		values = append(values, types.FormatDatum(rows.Cols[c].Datum(i), r.ec.TextOptions()))
	}
	return fmt.Sprintf("(%s)=(%s)", strings.Join(names, ", "), strings.Join(values, ", "))
}

// unreference does what a foreign key says about the rows that reference row i of a
// change, which is gone or has another key.
func (r *run) unreference(ctx context.Context, c *change, ref *plan.Reference, i int) error {
	for _, column := range ref.Columns() {
		if c.old.Cols[column].IsNull(i) {
			return nil // nothing references it
		}
	}
	action := ref.Key.OnDelete
	if c.kind == plan.Update {
		action = ref.Key.OnUpdate
	}
	switch action {
	case catalog.NoAction:
		if r.env.Tables.Deferred(ref.Key) {
			return r.env.Tables.Postpone(Postponed{Reference: ref.Reference, Gone: c.old.Gather([]int32{int32(i)})})
		}
		return r.stillReferenced(ctx, &ref.Reference, c.old, i, false)
	case catalog.Restrict:
		return r.stillReferenced(ctx, &ref.Reference, c.old, i, true)
	}
	ids, rows, err := r.env.Tables.Referencing(ctx, &ref.Reference, c.old, i, 0)
	if err != nil || ids.Len() == 0 {
		return err
	}
	if action == catalog.Cascade && c.kind == plan.Delete {
		return r.writeRows(ctx, plan.Delete, ref.FromRules, ids, rows)
	}
	if err := r.setColumns(ref, action, c, i, rows); err != nil {
		return err
	}
	if err := r.checkRow(ref.FromRules, rows); err != nil {
		return err
	}
	if err := r.writeRows(ctx, plan.Update, ref.FromRules, ids, rows); err != nil {
		return err
	}
	if action == catalog.SetDefault {
		// Rows whose default is the key they had count as unchanged.
		return r.stillReferenced(ctx, &ref.Reference, c.old, i, false)
	}
	return nil
}

// setColumns gives referencing rows the key that an action says.
func (r *run) setColumns(ref *plan.Reference, action catalog.ReferentialAction, c *change, i int, rows *types.Batch) error {
	set := ref.Key.Columns
	if c.kind == plan.Delete && len(ref.Key.SetColumns) > 0 {
		set = ref.Key.SetColumns
	}
	for n, column := range ref.Key.Columns {
		if !slices.Contains(set, column) {
			continue
		}
		var value types.Datum
		var err error
		switch action {
		case catalog.SetNull:
			value, err = r.constant(ref.Nulls[n])
		case catalog.SetDefault:
			value, err = r.constant(ref.Defaults[n])
		case catalog.Cascade:
			var v []*types.Vector
			if v, err = r.eval(ref.Updated[n:n+1], c.new.Gather([]int32{int32(i)})); err == nil {
				value = v[0].Datum(0)
			}
		}
		if err != nil {
			return err
		}
		v := types.NewVector(rows.Cols[column].Type, rows.Rows)
		for range rows.Rows {
			v.AppendDatum(value)
		}
		rows.Cols[column] = v
	}
	return nil
}

// stillReferenced fails where rows reference row i, which is gone. Unless strict, it
// does not matter if another row has its key by now.
func (r *run) stillReferenced(ctx context.Context, ref *catalog.Reference, rows *types.Batch, i int, strict bool) error {
	ids, found, err := r.env.Tables.Referencing(ctx, ref, rows, i, 1)
	if err != nil || ids.Len() == 0 {
		return err
	}
	if !strict {
		if present, err := r.env.Tables.Present(ctx, ref, found, 0); err != nil || present {
			return err
		}
	}
	return sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table %q violates foreign key constraint %q on table %q", ref.To.Name, ref.Key.Name, ref.From.Name).
		WithDetail("Key %s is still referenced from table %q.", r.keyText(ref.To, ref.Columns(), rows, i), ref.From.Name)
}

// Loader writes rows of a table from outside of a plan.
type Loader struct {
	run   *run
	rules *plan.Rules
}

// NewLoader returns a loader of the table that the rules are of.
func NewLoader(rules *plan.Rules, env *Env) *Loader {
	return &Loader{run: newRun(&plan.Query{}, env), rules: rules}
}

// Insert checks rows and inserts them.
func (l *Loader) Insert(ctx context.Context, rows *types.Batch) error {
	if err := l.run.checkRow(l.rules, rows); err != nil {
		return err
	}
	before := len(l.run.state.writes)
	if err := l.run.writeRows(ctx, plan.Insert, l.rules, nil, rows); err != nil {
		return err
	}
	for i := range l.run.state.writes[before:] {
		c := &l.run.state.writes[before+i]
		c.new = nil // the rows are the caller's, and there may be many
		if err := c.charge(&l.run.state.memory); err != nil {
			return err
		}
	}
	return nil
}

// Finish ends the statement: what its rows reference has to be there now.
func (l *Loader) Finish(ctx context.Context) error { return l.run.settle(ctx) }
