package session

import (
	"context"
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
		named, err := bind.TypeOf(o.Type)
		if err != nil {
			return nil, err
		}
		t = named.OID
	}
	most, ok := sequenceBounds[t]
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
	}
	q := &catalog.Sequence{Type: t, Increment: 1, Min: 1, Max: most, Cycle: o.Cycle}
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
	switch {
	case q.Increment == 0:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
	case q.Max > most:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, types.Of(t))
	case q.Min < -most-1:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, types.Of(t))
	case q.Min >= q.Max:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	case q.Start < q.Min:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	return q, nil
}

// createSequence runs CREATE SEQUENCE.
func (s *Session) createSequence(ctx context.Context, x *ast.CreateSequence, out *sink) (string, error) {
	const tag = "CREATE SEQUENCE"
	schema, name, err := s.newName(x.Name)
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
	return tag, s.create(ctx, &catalog.Relation{
		Schema: schema, Name: name, Kind: catalog.KindSequence, Sequence: q, Created: s.now(), Owner: s.User(),
	})
}

// columnOf returns the column of a table whose default is a sequence, or -1.
func (s *Session) columnOf(table, sequence *catalog.Relation) int {
	call := "nextval(" + ast.QuoteString(sequenceName(sequence.Schema, sequence.Name)) + "::regclass)"
	for i := range table.Columns {
		if table.Table.Defaults[i] == call {
			return i
		}
	}
	return -1
}

// taken are the numbers that a session took of sequences.
type taken struct {
	of   map[id.Relation]int64
	last id.Relation // the sequence of the last one
}

// numbers implements expr.Sequences for a session.
type numbers struct{ s *Session }

var _ expr.Sequences = numbers{}

func (n numbers) sequence(oid uint32) (*catalog.Relation, error) {
	rel := n.s.snapshot().ByID(id.Relation(oid))
	switch {
	case rel == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %d does not exist", oid)
	case rel.Sequence == nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", rel.Name)
	}
	return rel, nil
}

// NextValue implements expr.Sequences.
func (n numbers) NextValue(oid uint32) (int64, error) {
	rel, err := n.sequence(oid)
	if err != nil {
		return 0, err
	}
	if err := n.s.writable("nextval()"); err != nil {
		return 0, err
	}
	v, err := n.s.tx().NextValue(n.s.statement, rel)
	if err != nil {
		return 0, err
	}
	if n.s.taken.of == nil {
		n.s.taken.of = map[id.Relation]int64{}
	}
	n.s.taken.of[rel.ID], n.s.taken.last = v, rel.ID
	return v, nil
}

// CurrentValue implements expr.Sequences.
func (n numbers) CurrentValue(oid uint32) (int64, error) {
	rel, err := n.sequence(oid)
	if err != nil {
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
	return v, nil
}

// SetValue implements expr.Sequences.
func (n numbers) SetValue(oid uint32, value int64, called bool) error {
	rel, err := n.sequence(oid)
	if err != nil {
		return err
	}
	if err := n.s.writable("setval()"); err != nil {
		return err
	}
	if err := n.s.tx().SetValue(n.s.statement, rel, value, called); err != nil {
		return err
	}
	if called {
		if n.s.taken.of == nil {
			n.s.taken.of = map[id.Relation]int64{}
		}
		n.s.taken.of[rel.ID] = value
	}
	return nil
}

// OwnedSequence implements expr.Sequences.
func (n numbers) OwnedSequence(table, column string) (string, error) {
	oid, ok := (&systemCatalog{s: n.s}).RelationOID(table, n.s.settings.meaning().searchPath)
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
			return ast.QuoteIdentifier(q.Schema) + "." + ast.QuoteIdentifier(q.Name), nil
		}
	}
	return "", nil
}
