package session

import (
	"context"
	"fmt"
	"math"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// sequenceBounds are the largest numbers of the types of sequences.
var sequenceBounds = map[types.OID]int64{types.Int2: math.MaxInt16, types.Int4: math.MaxInt32, types.Int8: math.MaxInt64}

// sequenceOf makes a sequence of options; t is its type unless they name one.
func sequenceOf(o ast.SequenceOptions, t types.OID) (*catalog.Sequence, error) {
	if o.Type != nil {
		named, err := bind.TypeOf(&bind.Env{}, o.Type)
		if err != nil {
			return nil, err
		}
		t = named.OID
	}
	most, ok := sequenceBounds[t]
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
	}
	q := &catalog.Sequence{Type: t, Increment: 1, Min: 1, Max: most, Cycle: o.Cycle == ast.Yes}
	if o.Increment != nil {
		q.Increment = *o.Increment
	}
	if q.Increment < 0 {
		q.Min, q.Max = -most-1, -1
	}
	if o.Min != nil {
		q.Min = *o.Min
	}
	if o.Max != nil {
		q.Max = *o.Max
	}
	q.Start = q.Min
	if q.Increment < 0 {
		q.Start = q.Max
	}
	if o.Start != nil {
		q.Start = *o.Start
	}
	return q, checkSequence(q, most)
}

// checkSequence makes sure that the options of a sequence fit together; most is the
// largest number of its type.
func checkSequence(q *catalog.Sequence, most int64) error {
	switch {
	case q.Increment == 0:
		return sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
	case q.Max > most:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, types.Of(q.Type))
	case q.Min < -most-1:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, types.Of(q.Type))
	case q.Min >= q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	case q.Start < q.Min:
		return sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	return nil
}

// alterSequence changes the options of a sequence, and with RESTART how far it is.
func (s *Session) alterSequence(ctx context.Context, rel *catalog.Relation, o *ast.SequenceOptions) error {
	q := *rel.Sequence
	most := sequenceBounds[q.Type]
	resetMin, resetMax := o.NoMin, o.NoMax
	typeMin, typeMax := false, false
	if o.Type != nil {
		named, err := bind.TypeOf(&bind.Env{}, o.Type)
		if err != nil {
			return err
		}
		typeMin, typeMax = q.Min == -most-1, q.Max == most
		q.Type = named.OID
		if most = sequenceBounds[q.Type]; most == 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
		}
	}
	set := func(to, from *int64) {
		if from != nil {
			*to = *from
		}
	}
	set(&q.Increment, o.Increment)
	switch down := q.Increment < 0; {
	case o.Max == nil && (typeMax || resetMax && !down):
		q.Max = most
	case o.Max == nil && resetMax:
		q.Max = -1
	}
	switch down := q.Increment < 0; {
	case o.Min == nil && (typeMin || resetMin && down):
		q.Min = -most - 1
	case o.Min == nil && resetMin:
		q.Min = 1
	}
	set(&q.Max, o.Max)
	set(&q.Min, o.Min)
	set(&q.Start, o.Start)
	if o.Cycle != ast.Unset {
		q.Cycle = o.Cycle == ast.Yes
	}
	if err := checkSequence(&q, most); err != nil {
		return err
	}
	last, _, err := s.tx().LastValue(rel)
	if err != nil {
		return err
	}
	var restart *int64
	if o.Restart {
		last = q.Start
		set(&last, o.RestartWith)
		restart = &last
	}
	switch {
	case last < q.Min:
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be less than MINVALUE (%d)", last, q.Min)
	case last > q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be greater than MAXVALUE (%d)", last, q.Max)
	}
	if err := s.tx().HoldSequence(ctx, rel, restart); err != nil {
		return err
	}
	return s.catalog().Update(rel.ID, func(r *catalog.Relation) error {
		r.Sequence = &q
		return s.ownSequence(r, o.OwnedBy)
	})
}

// ownSequence gives a sequence the column that OWNED BY names, or none.
func (s *Session) ownSequence(rel *catalog.Relation, by *ast.ObjectName) error {
	if by == nil {
		return nil
	}
	if owner := s.snapshot().ByID(rel.Sequence.Table); owner != nil {
		if _, identity := owner.Table.Identity[s.columnOf(owner, rel)]; identity {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change ownership of identity sequence").
				WithDetail("Sequence %q is linked to table %q.", rel.Name, owner.Name)
		}
	}
	switch {
	case by.Schema == "" && by.Name == "none":
		rel.Sequence.Table, rel.Sequence.Column = 0, ""
		return nil
	case by.Schema == "":
		return sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").WithHint("Specify OWNED BY table.column or OWNED BY NONE.").At(by.Position())
	}
	table, err := s.lookup(ast.ObjectName{Pos: by.Pos, Schema: by.Catalog, Name: by.Schema})
	switch {
	case err != nil:
		return err
	case table.Kind != catalog.KindTable:
		return sqlerr.New(sqlerr.WrongObjectType, "sequence cannot be owned by relation %q", table.Name)
	case s.identity().roles.Owner(table.Owner) != s.identity().roles.Owner(rel.Owner):
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "sequence must have same owner as table it is linked to")
	case table.Schema != rel.Schema:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "sequence must be in same schema as table it is linked to")
	case table.Column(by.Name) < 0:
		return sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", by.Name, table.Name)
	}
	rel.Sequence.Table, rel.Sequence.Column = table.ID, by.Name
	return nil
}

// createSequence runs CREATE SEQUENCE.
func (s *Session) createSequence(ctx context.Context, x *ast.CreateSequence, out *sink) (string, error) {
	const tag = "CREATE SEQUENCE"
	schema, name, err := s.newRelation(x.Name, x.Temporary)
	if err != nil {
		return "", err
	}
	if done, err := s.exists(schema, name, x.IfNotExists, out); done || err != nil {
		return tag, err
	}
	q, err := sequenceOf(x.Options, types.Int8)
	if err != nil {
		return "", err
	}
	rel := &catalog.Relation{
		Schema: schema, Name: name, Kind: catalog.KindSequence, Sequence: q, Created: s.now(), Owner: s.owner(),
	}
	if err := s.ownSequence(rel, x.Options.OwnedBy); err != nil {
		return "", err
	}
	return tag, s.create(ctx, rel)
}

// columnOf returns the column of a table that owns a sequence, or -1.
func (s *Session) columnOf(table, sequence *catalog.Relation) int {
	if sequence.Sequence.Column != "" {
		return table.Column(sequence.Sequence.Column)
	}
	call := nextCall(sequence.Schema, sequence.Name)
	for i := range table.Columns {
		if table.Table.Defaults[i] == call {
			return i
		}
	}
	return -1
}

// sequencesOf returns the sequences that go with a relation: itself, or those that it owns.
func (s *Session) sequencesOf(rel *catalog.Relation) []*catalog.Relation {
	if rel.Sequence != nil {
		return []*catalog.Relation{rel}
	}
	return s.ownedSequences(rel)
}

// ofIdentity refuses to drop the sequence of an identity column.
func (s *Session) ofIdentity(rel *catalog.Relation) error {
	table := s.snapshot().ByID(ownerOf(rel))
	if table == nil {
		return nil
	}
	n := s.columnOf(table, rel)
	if _, identity := table.Table.Identity[n]; !identity {
		return nil
	}
	column := fmt.Sprintf("column %s of table %s", table.Columns[n].Name, table.Name)
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop sequence %s because %s requires it", rel.Name, column).
		WithHint("You can drop %s instead.", column)
}

// taken are the numbers that a session took of sequences.
type taken struct {
	of   map[id.Relation]int64
	last id.Relation // the sequence of the last one
	kept int         // that were there when what is gone was forgotten
}

// numbers implements expr.Sequences for a session.
type numbers struct {
	s         *Session
	unchecked bool // of an identity column, which needs no privilege on its sequence
}

// Unchecked implements expr.Sequences.
func (n numbers) Unchecked() expr.Sequences { return numbers{s: n.s, unchecked: true} }

var _ expr.Sequences = numbers{}

func (n numbers) sequence(oid uint32) (*catalog.Relation, error) {
	rel := n.s.snapshot().ByID(id.Relation(oid))
	switch {
	case rel == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %d does not exist", oid)
	case rel.Sequence == nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", rel.Name)
	}
	return rel, n.s.reachable(rel)
}

// writable refuses to count in a read-only transaction, but for temporary sequences.
func (n numbers) writable(rel *catalog.Relation, command string) error {
	if rel.Temporary() {
		return nil
	}
	return n.s.writable(command)
}

// NextValue implements expr.Sequences.
func (n numbers) NextValue(oid uint32) (int64, error) {
	rel, err := n.sequence(oid)
	if err != nil {
		return 0, err
	}
	if err := n.mayAny(rel, catalog.MayUse|catalog.MayUpdate); err != nil {
		return 0, err
	}
	if err := n.writable(rel, "nextval()"); err != nil {
		return 0, err
	}
	v, err := n.s.tx().NextValue(n.s.statement, rel)
	if err != nil {
		return 0, err
	}
	n.s.taken.remember(rel.ID, v, n.s.snapshot())
	n.s.taken.last = rel.ID
	return v, nil
}

// CurrentValue implements expr.Sequences.
func (n numbers) CurrentValue(oid uint32) (int64, error) {
	rel, err := n.sequence(oid)
	if err != nil {
		return 0, err
	}
	if err := n.mayAny(rel, catalog.MayUse|catalog.MaySelect); err != nil {
		return 0, err
	}
	v, ok := n.s.taken.of[rel.ID]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "currval of sequence %q is not yet defined in this session", rel.Name)
	}
	return v, nil
}

// LastValue implements expr.Sequences.
func (n numbers) LastValue() (int64, error) {
	v, ok := n.s.taken.of[n.s.taken.last]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
	}
	if rel := n.s.snapshot().ByID(n.s.taken.last); rel != nil {
		if err := n.mayAny(rel, catalog.MayUse|catalog.MaySelect); err != nil {
			return 0, err
		}
	}
	return v, nil
}

// SetValue implements expr.Sequences.
func (n numbers) SetValue(oid uint32, value int64, called bool) error {
	rel, err := n.sequence(oid)
	if err != nil {
		return err
	}
	if err := n.mayAny(rel, catalog.MayUpdate); err != nil {
		return err
	}
	if err := n.writable(rel, "setval()"); err != nil {
		return err
	}
	if err := n.s.tx().SetValue(n.s.statement, rel, value, called); err != nil {
		return err
	}
	if called {
		n.s.taken.remember(rel.ID, value, n.s.snapshot())
	}
	return nil
}

// OwnedSequence implements expr.Sequences.
func (n numbers) OwnedSequence(table, column string) (string, error) {
	oid, ok := (&systemCatalog{s: n.s}).RelationOID(table, n.s.path())
	rel := n.s.snapshot().ByID(id.Relation(oid))
	if !ok || rel == nil {
		return "", sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", table)
	}
	at := rel.Column(column)
	if at < 0 {
		return "", sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", column, rel.Name)
	}
	for _, q := range n.s.ownedSequences(rel) {
		if n.s.columnOf(rel, q) == at {
			schema := q.Schema
			if schema == n.s.snapshot().Temporary {
				schema = catalog.TemporaryAlias
			}
			return ast.QuoteIdentifier(schema) + "." + ast.QuoteIdentifier(q.Name), nil
		}
	}
	return "", nil
}
