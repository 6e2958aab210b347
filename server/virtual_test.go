package server

import (
	"context"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/expr"
)

// TestVirtualTables reads every system table of a new database.
func TestVirtualTables(t *testing.T) {
	n, err := Open(Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, tenant := range n.openTenants() {
		v := n.virtualTables(tenant, nil)
		for _, want := range []string{"pg_catalog.pg_class", "information_schema.columns", "tally_catalog.partitions"} {
			schema, name, _ := strings.Cut(want, ".")
			table := v.Lookup(schema, name)
			if table == nil {
				t.Errorf("%s is missing", want)
				continue
			}
			if _, err := table.Rows(context.Background(), &expr.Context{}); err != nil {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}
