package pgcatalog

import "github.com/tallydb/tallydb/sql/types"

func (c *Catalog) activity() []Activity {
	if c.cfg.Activity == nil {
		return nil
	}
	return c.cfg.Activity()
}

// fillActivity lists all sessions of the server.
func fillActivity(c *Catalog, w *writer) {
	w.columns(`datid datname pid usesysid usename application_name client_addr client_port backend_start xact_start
		query_start state_change wait_event_type wait_event state query`)
	w.always("backend_type", "client backend")
	for _, a := range c.activity() {
		if !c.cfg.Rights.HasRightsOf(c.cfg.Role, a.Role) {
			w.add(c.databaseOID(a.Database), a.Database, a.ProcessID, c.roleOID(a.User), a.User, a.Application, nil, nil, nil, nil, nil, nil, nil, nil, nil,
				"<insufficient privilege>")
			continue
		}
		var port, waitType, wait any
		if a.ClientPort != 0 {
			port = a.ClientPort
		}
		if a.State != "active" {
			waitType, wait = "Client", "ClientRead"
		}
		w.add(c.databaseOID(a.Database), a.Database, a.ProcessID, c.roleOID(a.User), a.User, a.Application, orNull(a.ClientAddress), port,
			timeOrNull(a.BackendStart), timeOrNull(a.TransactionStart), timeOrNull(a.QueryStart), timeOrNull(a.StateChange),
			waitType, wait, a.State, a.Query)
	}
}

// fillEncryption lists how the sessions are encrypted.
func fillEncryption(c *Catalog, w *writer) {
	w.columns("pid ssl version cipher")
	for _, a := range c.activity() {
		if !c.cfg.Rights.HasRightsOf(c.cfg.Role, a.Role) {
			w.add(a.ProcessID, nil, nil, nil)
			continue
		}
		w.add(a.ProcessID, a.TLSVersion != "", orNull(a.TLSVersion), orNull(a.Cipher))
	}
}

// fillGSS says of each session that it does not use GSSAPI.
func fillGSS(c *Catalog, w *writer) {
	w.columns("pid gss_authenticated encrypted")
	for _, a := range c.activity() {
		w.add(a.ProcessID, false, false)
	}
}

// fillCursors lists the cursors of the session.
func fillCursors(c *Catalog, w *writer) {
	w.columns("name statement is_holdable is_binary is_scrollable creation_time")
	if c.cfg.Cursors == nil {
		return
	}
	for _, x := range c.cfg.Cursors() {
		w.add(x.Name, x.Statement, x.Hold, x.Binary, x.Scrolling, timeOrNull(x.Created))
	}
}

// fillPrepared lists the prepared statements of the session.
func fillPrepared(c *Catalog, w *writer) {
	w.columns("name statement prepare_time parameter_types from_sql")
	w.always("generic_plans", 0, "custom_plans", 0)
	if c.cfg.Prepared == nil {
		return
	}
	for _, p := range c.cfg.Prepared() {
		oids := make([]int64, len(p.Types))
		for i, t := range p.Types {
			oids[i] = int64(t)
		}
		w.add(p.Name, p.Statement, timeOrNull(p.Created), oids, p.FromSQL)
	}
}

// fillListening lists the channels that the session listens to.
func fillListening(c *Catalog, w *writer) {
	w.columns("pg_listening_channels")
	if c.cfg.Listening == nil {
		return
	}
	for _, name := range c.cfg.Listening() {
		w.add(types.TextDatum(name))
	}
}
