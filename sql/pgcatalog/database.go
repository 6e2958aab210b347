package pgcatalog

import (
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// Numbers of PostgreSQL that rows name.
const (
	heapOID, btreeOID                  = 2, 403
	internalLanguageOID                = 12
	defaultCollationOID, cCollationOID = 100, 950
	utf8                               = 6
	defaultTablespaceOID               = 1663
)

func fillNamespaces(c *Catalog, w *writer) {
	w.columns("oid nspname nspowner nspacl")
	for _, s := range schemaNames {
		x := c.schema(s)
		w.add(schemaOIDs[s], s, c.roleOID(c.cfg.Rights.Owner(x.Owner)), aclOrNull(x.ACL))
	}
	for _, s := range c.userSchemas() {
		w.add(uint32(s.ID), s.Name, c.roleOID(c.cfg.Rights.Owner(s.Owner)), aclOrNull(s.ACL))
	}
}

var schemaNames = []string{"pg_catalog", catalog.PublicSchema, "information_schema", "tally_catalog"}

func fillAccessMethods(w *writer) {
	w.columns("oid amname amtype amhandler")
	w.add(heapOID, "heap", "t", 3)
	w.add(btreeOID, "btree", "i", 330)
}

func fillLanguages(w *writer) {
	w.columns("oid lanname lanpltrusted")
	w.always("lanowner", ownerOID)
	w.add(internalLanguageOID, "internal", false)
	w.add(14, "sql", true)
}

func fillCollations(w *writer) {
	w.columns("oid collname collprovider collcollate collctype")
	w.always("collnamespace", pgCatalogOID, "collowner", ownerOID, "collencoding", -1, "collisdeterministic", true)
	w.add(defaultCollationOID, "default", "d", nil, nil)
	w.add(cCollationOID, "C", "c", "C", "C")
	w.add(951, "POSIX", "c", "POSIX", "POSIX")
}

func fillTablespaces(w *writer) {
	w.columns("oid spcname")
	w.always("spcowner", ownerOID)
	w.add(defaultTablespaceOID, "pg_default")
	w.add(1664, "pg_global")
}

// fillTimeZones lists the zones that clients offer for choice. Any name of the
// tz database can be set.
func fillTimeZones(w *writer) {
	w.columns("name abbrev utc_offset is_dst")
	for _, name := range []string{
		"Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Bogota", "America/Chicago",
		"America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Sao_Paulo",
		"Asia/Dhaka", "Asia/Dubai", "Asia/Ho_Chi_Minh", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Karachi", "Asia/Kolkata",
		"Asia/Manila", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Etc/UTC",
		"Europe/Berlin", "Europe/Istanbul", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Paris",
		"Europe/Rome", "Europe/Warsaw", "Pacific/Auckland", "UTC",
	} {
		zone, err := types.LoadZone(name)
		if err != nil {
			continue // not in this machine's tz database
		}
		// Standard time: a row may not depend on when the process started.
		abbrev, seconds := time.Date(2024, 1, 1, 0, 0, 0, 0, zone).Zone()
		w.add(name, abbrev, types.Span{Micros: int64(seconds) * 1_000_000}.Datum(), false)
	}
}

func (c *Catalog) database() string {
	if c.cfg.Snapshot == nil {
		return ""
	}
	return c.cfg.Snapshot.Database
}

func (c *Catalog) databases() []Database {
	if c.cfg.Databases == nil {
		return nil
	}
	return c.cfg.Databases()
}

func fillDatabases(c *Catalog, w *writer) {
	w.columns("oid datname datdba datacl")
	w.always("encoding", utf8, "datlocprovider", "c", "datallowconn", true, "datconnlimit", -1,
		"dattablespace", defaultTablespaceOID, "datcollate", "C.UTF-8", "datctype", "C.UTF-8")
	for _, d := range c.databases() {
		w.add(d.ID, d.Name, c.roleOID(c.cfg.Rights.Owner(d.Owner)), aclOrNull(d.ACL))
	}
}

// databaseOID returns the number of a database, nil if there is none.
func (c *Catalog) databaseOID(database string) any {
	for _, d := range c.databases() {
		if d.Name == database {
			return d.ID
		}
	}
	return nil
}

func fillDatabaseStats(c *Catalog, w *writer) {
	w.columns("datid datname numbackends")
	backends := map[string]int{}
	for _, a := range c.activity() {
		backends[a.Database]++
	}
	for _, d := range c.databases() {
		w.add(d.ID, d.Name, backends[d.Name])
	}
}

func (c *Catalog) settings() []Setting {
	if c.cfg.Settings == nil {
		return nil
	}
	return c.cfg.Settings()
}

func fillSettings(c *Catalog, w *writer) {
	w.columns("name setting unit short_desc context vartype boot_val reset_val source category")
	w.always("pending_restart", false)
	for _, s := range c.settings() {
		context, source, kind := "user", "session", "string"
		if s.ReadOnly {
			context = "internal"
		}
		if s.Value == s.Initial {
			source = "default"
		}
		if s.Initial == "on" || s.Initial == "off" {
			kind = "bool"
		} else if isNumber(s.Initial) {
			kind = "integer"
		}
		w.add(s.Name, s.Value, orNull(s.Unit), s.About, context, kind, s.Initial, s.Reset, source, "TallyDB")
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
