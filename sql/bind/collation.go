package bind

import (
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// collations are the names of the one order that texts have: that of their bytes.
var collations = map[string]bool{"default": true, "C": true, "POSIX": true, "ucs_basic": true, "C.UTF-8": true, "C.utf8": true}

// CheckCollation checks a column's COLLATE clause; nil is none.
func CheckCollation(name *ast.ObjectName, t types.Type) error {
	if name == nil {
		return nil
	}
	return checkCollation(*name, t, name.Position())
}

func checkCollation(name ast.ObjectName, t types.Type, pos int) error {
	if !collations[name.Name] || name.Schema != "" && name.Schema != "pg_catalog" {
		return sqlerr.New(sqlerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", name.Name).
			WithHint("Texts are ordered by their bytes: \"C\", \"POSIX\", \"ucs_basic\" and \"C.UTF-8\" say so.").At(pos)
	}
	of := t.OID
	if of.IsArray() {
		of = of.Elem()
	}
	if of != types.Unknown && of.Category() != 'S' {
		return sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", t).At(pos)
	}
	return nil
}
