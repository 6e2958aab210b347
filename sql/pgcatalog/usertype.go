package pgcatalog

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/types"
)

// userTypes returns the types that users defined.
func (c *Catalog) userTypes() []*catalog.Type {
	if c.cfg.Snapshot == nil {
		return nil
	}
	return c.cfg.Snapshot.Types
}

// userType returns the user's type that a number is of, or is of the arrays of; or nil.
func (c *Catalog) userType(o types.OID) *catalog.Type {
	if c.cfg.Snapshot == nil {
		return nil
	}
	return c.cfg.Snapshot.TypeByOID(o)
}

func publicIfNone(path []string) []string {
	if path == nil {
		return []string{catalog.PublicSchema}
	}
	return path
}

// TypeName implements expr.Definer.
func (c *Catalog) TypeName(o types.OID, path []string) (string, bool) {
	t := c.userType(o)
	if t == nil {
		return "", false
	}
	name := ast.QuoteIdentifier(t.Name)
	if found, _ := bind.UserType(c.cfg.Snapshot, publicIfNone(path), ast.ObjectName{Name: t.Name}); found != t {
		name = ast.QuoteIdentifier(t.Schema) + "." + name
	}
	if o.IsArray() {
		name += "[]"
	}
	return name, true
}

// TypeOID implements expr.Definer.
func (c *Catalog) TypeOID(name string, path []string) (types.OID, bool) {
	base := strings.TrimSpace(name)
	bounds := false
	for strings.HasSuffix(base, "[]") {
		base, bounds = strings.TrimSpace(strings.TrimSuffix(base, "[]")), true
	}
	schema, rest := splitName(base)
	t, array := bind.UserType(c.cfg.Snapshot, publicIfNone(path), ast.ObjectName{Schema: schema, Name: rest})
	switch {
	case t == nil:
		return 0, false
	case array || bounds:
		return t.OID.ArrayOf(), true
	}
	return t.OID, true
}

// fillUserTypes lists the types that users defined, with their arrays.
func fillUserTypes(c *Catalog, w *writer) {
	for _, t := range c.userTypes() {
		for _, o := range []types.OID{t.OID, t.OID.ArrayOf()} {
			name, io, subscript := t.Name, typeIOs()["enum"], 0
			if o != t.OID {
				name, io, subscript = t.Array, typeIOs()["array"], arraySubscriptHandler
			}
			info, ok := types.Lookup(o)
			if !ok {
				continue
			}
			w.add(o, name, c.schemaOID(t.Schema), int(info.Len), info.ByVal, info.Type, info.Category, info.Preferred, info.Delim, 0,
				subscript, info.Elem, info.Array, io[0].oid, io[1].oid, io[2].oid, io[3].oid, info.Align, info.Storage, 0)
		}
	}
}

// fillEnums lists the labels of enums.
func fillEnums(c *Catalog, w *writer) {
	w.columns("oid enumtypid enumsortorder enumlabel")
	for _, t := range c.userTypes() {
		for _, l := range t.Labels {
			w.add(uint32(l.ID), t.OID, types.EnumLabel{Position: l.Position}.SortOrder(), l.Text)
		}
	}
}

// addTypeDependencies says that types depend on their schemas, and columns on their
// types.
func (c *Catalog) addTypeDependencies(w *writer) {
	for _, t := range c.userTypes() {
		w.add(pgTypeOID, t.OID, 0, pgNamespaceOID, c.schemaOID(t.Schema), 0, "n")
		w.add(pgTypeOID, t.OID.ArrayOf(), 0, pgTypeOID, t.OID, 0, "i")
	}
	for _, o := range c.objects() {
		for i, col := range o.columns {
			if c.userType(col.Type.OID) != nil && !o.index() {
				w.add(pgClassOID, o.oid, i+1, pgTypeOID, col.Type.OID, 0, "n")
			}
		}
	}
}
