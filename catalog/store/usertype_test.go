package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// storedMood is how an enum is kept behind the version, whose labels are positions in rows.
const storedMood = `{"OID":2684354562,"Version":3,"Schema":"public","Name":"mood","Array":"_mood","Owner":"tally",` +
	`"Created":"2026-01-02T03:04:05Z","Comment":"how it goes","Labels":[{"ID":16386,"Position":4294967296,"Text":"sad"},{"ID":16387,"Position":8589934592,"Text":"happy"}]}`

// storedNote is how a domain over another is kept behind the version.
const storedNote = `{"OID":2952790018,"Version":4,"Schema":"public","Name":"note","Array":"","Owner":"tally",` +
	`"Created":"2026-01-02T03:04:05Z","Domain":{"Of":{"oid":1043,"modifier":14,"domain":2952790020},"NotNull":true,"Default":"'x'",` +
	`"Checks":[{"ID":16388,"Name":"note_check","SQL":"value \u003c\u003e ''","NotValid":true}]}}`

// TestDomainsAreStored: a domain is written as the format says, and read again.
func TestDomainsAreStored(t *testing.T) {
	db, s, d := begin(t)
	note := &catalog.Type{
		OID: types.FirstDomain + 2, Schema: "public", Name: "note", Owner: "tally", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Domain: &catalog.Domain{
			Of:      types.Of(types.Varchar).WithModifier(14).InDomain(types.FirstDomain + 4),
			NotNull: true, Default: "'x'", Checks: []catalog.DomainCheck{{ID: 16388, Name: "note_check", SQL: "value <> ''", NotValid: true}},
		},
	}
	tx := s.Begin(d)
	tx.SetType(note)
	note.Version = 4
	if err := tx.Commit(db.NewBatch()); err != nil {
		t.Fatal(err)
	}
	value, ok, err := db.Get([]byte("c/type/\x00\x00\x40\x01\xb0\x00\x00\x02"))
	if err != nil || !ok || string(value) != "\x05"+storedNote {
		t.Fatalf("%s, %v, %v instead of %s", value, ok, err, storedNote)
	}
	again, err := store.Open(db, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	typ := again.Snapshot(d.Tenant).TypeByOID(note.OID)
	if typ == nil || typ.Values() != note.Values() || typ.Domain.Check("note_check") != 0 {
		t.Errorf("read again: %+v", typ)
	}
}

// TestTypesAreStored: a type is written as the format says, and read again, also as
// version 4 wrote it, which had the first types.
func TestTypesAreStored(t *testing.T) {
	db, s, d := begin(t)
	mood := &catalog.Type{
		OID: types.FirstEnum + 2, Schema: "public", Name: "mood", Array: "_mood", Owner: "tally", Comment: "how it goes",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Labels:  []catalog.EnumLabel{{ID: 16386, Position: types.EnumSpacing, Text: "sad"}, {ID: 16387, Position: 2 * types.EnumSpacing, Text: "happy"}},
	}
	tx := s.Begin(d)
	tx.SetType(mood)
	mood.Version = 3
	if err := tx.Commit(db.NewBatch()); err != nil {
		t.Fatal(err)
	}
	key := []byte("c/type/\x00\x00\x40\x01\xa0\x00\x00\x02")
	value, ok, err := db.Get(key)
	if err != nil || !ok || string(value) != "\x05"+storedMood {
		t.Fatalf("%q, %v, %v instead of %q", value, ok, err, storedMood)
	}
	types.ForgetEnum(mood.OID)
	batch := db.NewBatch()
	if err := errors.Join(batch.Set(key, []byte("\x04"+storedMood)), batch.Commit(true)); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(db, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if typ, array := again.Snapshot(d.Tenant).TypeByName("public", "_mood"); typ == nil || !array || typ.Label("happy") != 1 {
		t.Errorf("read again: %+v, %v", typ, array)
	}
	if got := types.FormatDatum(types.Datum{Type: types.Of(mood.OID), Int: types.EnumSpacing}, nil); got != "sad" {
		t.Errorf("the first label is %q after a start", got)
	}
}

// TestStreamsWaitForTypes: what takes effect at once does not use a type that a
// transaction has changed and not committed.
func TestStreamsWaitForTypes(t *testing.T) {
	_, s, d := begin(t)
	o, err := s.ReserveType(types.FirstEnum, types.LastEnum)
	if err != nil {
		t.Fatal(err)
	}
	tx := s.Begin(d)
	tx.SetType(&catalog.Type{OID: o, Schema: "public", Name: "mood", Array: "_mood"})
	for _, of := range []types.OID{o, o.ArrayOf()} {
		_, err := s.Create(d, catalog.Relation{Name: "s", Kind: catalog.KindStream, Stream: &catalog.Stream{}, Columns: []types.Column{{Name: "m", Type: types.Of(of)}}})
		if sqlerr.CodeOf(err) != sqlerr.LockNotAvailable {
			t.Errorf("a stream with an uncommitted type: %v, want 55P03", err)
		}
	}
	tx.Rollback()
	if types.EnumOf(o) != nil {
		t.Error("the type is known after its transaction was rolled back")
	}
}
