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
	if o == t.OID.ArrayOf() && t.Domain == nil {
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
	case t == nil || bounds && t.Domain != nil:
		return 0, false
	case array || bounds:
		return t.OID.ArrayOf(), true
	}
	return t.OID, true
}

// fillUserTypes lists the types that users defined, with their arrays.
func fillUserTypes(c *Catalog, w *writer) {
	defer w.always("typowner", ownerOID)
	for _, t := range c.userTypes() {
		w.always("typowner", c.roleOID(c.cfg.Rights.Owner(t.Owner)))
		if t.Domain != nil {
			c.addDomain(w, t)
			continue
		}
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
				subscript, info.Elem, info.Array, io[0].oid, io[1].oid, io[2].oid, io[3].oid, info.Align, info.Storage, 0,
				-1, 0, false, nil, nil)
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
		switch {
		case t.Domain == nil:
			w.add(pgTypeOID, t.OID.ArrayOf(), 0, pgTypeOID, t.OID, 0, "i")
		case c.userType(t.Domain.Of.Declared()) != nil:
			w.add(pgTypeOID, t.OID, 0, pgTypeOID, t.Domain.Of.Declared(), 0, "n")
		}
	}
	for _, o := range c.objects() {
		for i, col := range o.columns {
			if c.userType(col.Type.Declared()) != nil && !o.index() {
				w.add(pgClassOID, o.oid, i+1, pgTypeOID, col.Type.Declared(), 0, "n")
			}
		}
	}
}

// addDomain lists a domain, which is like its base type but for what reads values.
func (c *Catalog) addDomain(w *writer, t *catalog.Type) {
	of := t.Domain.Of
	info, ok := types.Lookup(of.OID)
	if !ok {
		return
	}
	io, in := ioOf(info), typeIOs()["domain"]
	if info.Type == 'e' {
		io = typeIOs()["enum"]
	}
	modifier := int(of.Modifier())
	if of.Domain() != 0 {
		modifier = -1
	}
	byDefault := any(nil)
	if t.Domain.Default != "" {
		byDefault = defaultText(t.Domain.Default, of.Base())
	}
	w.add(t.OID, t.Name, c.schemaOID(t.Schema), int(info.Len), info.ByVal, "d", info.Category, false, info.Delim, 0,
		0, 0, 0, in[0].oid, io[1].oid, in[1].oid, io[3].oid, info.Align, info.Storage, collationOf(of.OID),
		modifier, of.Declared(), t.Domain.NotNull, byDefault, byDefault)
}

// domainChecks calls row for the constraints of all domains.
func (c *Catalog) domainChecks(row func(*catalog.Type, *catalog.DomainCheck)) {
	for _, t := range c.userTypes() {
		for i := range domainOf(t).Checks {
			row(t, &t.Domain.Checks[i])
		}
	}
}

// addDomainChecks lists the constraints of domains.
func (c *Catalog) addDomainChecks(w *writer) {
	w.columns("oid conname connamespace contype contypid conrelid conindid connoinherit convalidated")
	w.always("conislocal", true, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ")
	c.domainChecks(func(t *catalog.Type, check *catalog.DomainCheck) {
		w.add(uint32(check.ID), check.Name, c.schemaOID(t.Schema), "c", t.OID, uint32(0), uint32(0), false, !check.NotValid)
	})
}

// fillDomains lists domains as the standard wants it.
func fillDomains(c *Catalog, w *writer) {
	w.columns("domain_schema domain_name domain_default dtd_identifier " + dataTypeColumns)
	w.always("domain_catalog", c.database(), "udt_catalog", c.database())
	for _, t := range c.userTypes() {
		if t.Domain == nil {
			continue
		}
		var byDefault any
		if t.Domain.Default != "" {
			byDefault = defaultText(t.Domain.Default, t.Domain.Of)
		}
		described := c.dataType(t.Domain.Of)
		if described[0] == "ARRAY" {
			described[0] = t.Domain.Of.String()
		}
		w.add(append([]any{t.Schema, t.Name, byDefault, "1"}, described...)...)
	}
}

func fillDomainConstraints(c *Catalog, w *writer) {
	w.columns("constraint_schema constraint_name domain_schema domain_name")
	w.always("constraint_catalog", c.database(), "domain_catalog", c.database(), "is_deferrable", "NO", "initially_deferred", "NO")
	c.domainChecks(func(t *catalog.Type, check *catalog.DomainCheck) { w.add(t.Schema, check.Name, t.Schema, t.Name) })
}

func fillColumnDomains(c *Catalog, w *writer) {
	w.columns("domain_schema domain_name table_schema table_name column_name")
	w.always("domain_catalog", c.database(), "table_catalog", c.database())
	for _, o := range c.listed() {
		for _, col := range o.columns {
			if t := c.userType(col.Type.Domain()); t != nil {
				w.add(t.Schema, t.Name, o.schema, o.name, col.Name)
			}
		}
	}
}

func domainOf(t *catalog.Type) *catalog.Domain {
	if t.Domain == nil {
		return &catalog.Domain{}
	}
	return t.Domain
}

// domainCheckText is a constraint of a domain as pg_get_constraintdef shows it.
func domainCheckText(check *catalog.DomainCheck) string {
	text := "CHECK (" + shownValue(check.SQL) + ")"
	if check.NotValid {
		text += " NOT VALID"
	}
	return text
}

// shownValue writes VALUE in capitals, as PostgreSQL does, where it is no part of a
// string or of a quoted name.
func shownValue(sql string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(sql); {
		word := i
		for word < len(sql) && (sql[word] == '_' || sql[word] >= 'a' && sql[word] <= 'z' || sql[word] >= '0' && sql[word] <= '9') {
			word++
		}
		switch {
		case quote == 0 && sql[i:word] == "value":
			b.WriteString("VALUE")
		case word > i:
			b.WriteString(sql[i:word])
		default:
			switch word++; sql[i] {
			case quote:
				quote = 0
			case '\'', '"':
				if quote == 0 {
					quote = sql[i]
				}
			}
			b.WriteByte(sql[i])
		}
		i = word
	}
	return b.String()
}
