package session

import (
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// storageParameters are those of PostgreSQL's tables, which tune what is not here.
var storageParameters = []string{
	"autovacuum_enabled", "fillfactor", "log_autovacuum_min_duration", "oids", "parallel_workers", "toast_tuple_target", "user_catalog_table", "vacuum_index_cleanup", "vacuum_truncate",
}

// checkStorage accepts the storage parameters of PostgreSQL's tables, which change
// nothing, and refuses others.
func checkStorage(options []ast.Option) error {
	for _, o := range options {
		name := strings.TrimPrefix(strings.ToLower(o.Name), "toast.")
		if !slices.Contains(storageParameters, name) && !strings.HasPrefix(name, "autovacuum_") {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter %q", o.Name)
		}
	}
	return nil
}
