package main

import "testing"

func TestTheTreeKeepsTheRules(t *testing.T) {
	bad, err := check()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Error(b)
	}
}

func TestViolations(t *testing.T) {
	for _, c := range []struct {
		from, imp string
		bad       bool
	}{
		{"storage/kv", "github.com/cockroachdb/pebble/v2", false},
		{"stream/state", "github.com/cockroachdb/pebble/v2", true},
		{"sql/bind", module + "catalog", false},
		{"catalog", module + "sql/bind", true},
		{"catalog", module + "sql/types", false},
		{"sql/types", module + "catalog", true},
		{"stream", module + "server/session", true},
		{"server/session", "github.com/jackc/pgx/v5/pgproto3", true},
		{"sqllogictest", "github.com/jackc/pgx/v5", false},
		{"unknown/x", module + "catalog", true},
	} {
		if got := violation(c.from, c.imp); (got != "") != c.bad {
			t.Errorf("%s imports %s: %q", c.from, c.imp, got)
		}
	}
}
