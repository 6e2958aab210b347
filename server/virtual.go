package server

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/server/session"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/pgcatalog"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
	"github.com/tallydb/tallydb/stream/partition"
)

// statusWait is how long a catalog query waits for a partition's answer.
const statusWait = 2 * time.Second

// virtualTables returns the system catalogs as a session sees them. It is called
// for every statement. A nil session has no settings.
func (n *Node) virtualTables(t *session.Tenant, s *session.Session) bind.VirtualTables {
	snapshot := n.catalog.Snapshot(t.Database.Tenant)
	if s != nil {
		snapshot = s.Snapshot()
	}
	cfg := pgcatalog.Config{
		Snapshot: snapshot, Registry: n.engine.Registry, Runtime: runtimeStatus{n, t},
		View: func(v *catalog.Relation) (*bind.ViewPlan, error) {
			location, err := types.LoadZone(v.ContinuousView.TimeZone)
			if err != nil {
				return nil, err
			}
			return bind.ViewOf(&bind.Env{
				Snapshot: snapshot, Registry: n.engine.Registry, Parse: parseSelect, SearchPath: []string{catalog.PublicSchema},
				Expr: &expr.Context{Location: location},
			}, v)
		},
	}
	cfg.Databases = func() []pgcatalog.Database {
		var out []pgcatalog.Database
		for _, d := range n.catalog.Databases() {
			out = append(out, pgcatalog.Database{Name: d.Name, ID: uint32(d.Tenant), Owner: d.Owner, ACL: d.ACL, Settings: d.Settings})
		}
		return out
	}
	if s == nil {
		return pgcatalog.New(cfg)
	}
	cfg.User, cfg.Role, cfg.Rights = s.User(), s.Role(), n.catalog.Access()
	cfg.Settings = func() []pgcatalog.Setting {
		var out []pgcatalog.Setting
		for _, i := range s.Settings() {
			out = append(out, pgcatalog.Setting(i))
		}
		return out
	}
	cfg.Activity = n.activity
	cfg.Roles = func() []pgcatalog.Role {
		var out []pgcatalog.Role
		for _, r := range n.engine.Roles() {
			out = append(out, pgcatalog.Role(r))
		}
		return out
	}
	cfg.Cursors = func() []pgcatalog.Cursor {
		var out []pgcatalog.Cursor
		for _, c := range s.Cursors() {
			out = append(out, pgcatalog.Cursor(c))
		}
		return out
	}
	cfg.Prepared = func() []pgcatalog.Prepared {
		var out []pgcatalog.Prepared
		for _, p := range s.PreparedStatements() {
			out = append(out, pgcatalog.Prepared(p))
		}
		return out
	}
	cfg.Listening = s.Listening
	return pgcatalog.New(cfg)
}

// activity returns what all sessions of the node do.
func (n *Node) activity() []pgcatalog.Activity {
	var out []pgcatalog.Activity
	for _, a := range n.engine.Sessions() {
		x := pgcatalog.Activity{
			Database: a.Database, User: a.User, Role: a.Role, Application: a.Application, ProcessID: int64(a.ProcessID), State: a.State, Query: a.Query,
			BackendStart: a.BackendStart, TransactionStart: a.TransactionStart, QueryStart: a.QueryStart, StateChange: a.StateChange,
		}
		if host, port, err := net.SplitHostPort(a.RemoteAddr); err == nil {
			x.ClientAddress = host
			x.ClientPort, _ = strconv.Atoi(port) // 0 is none
		}
		if a.Encryption != nil {
			x.TLSVersion, x.Cipher = a.Encryption.Version, a.Encryption.Cipher
		}
		out = append(out, x)
	}
	return out
}

// runtimeStatus asks the partitions of a database.
type runtimeStatus struct {
	node   *Node
	tenant *session.Tenant
}

var _ pgcatalog.Runtime = runtimeStatus{}

// Partitions implements pgcatalog.Runtime.
func (r runtimeStatus) Partitions(ctx context.Context, stream *catalog.Relation) ([]pgcatalog.PartitionStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	var out []pgcatalog.PartitionStatus
	for _, p := range stream.Stream.Partitions() {
		sp := id.StreamPartition{Tenant: r.tenant.Database.Tenant, Stream: stream.ID, Partition: p}
		log := r.tenant.Streams.Log()
		status := pgcatalog.PartitionStatus{
			Partition: p, Base: log.Base(sp), Head: log.Head(sp), LogBytes: -1, Offline: stream.Stream.IsOffline(p), StalenessMillis: -1,
		}
		if w, err := r.tenant.Streams.Worker(stream.ID, p); err == nil {
			status.Offline = w.Offline()
			if s, err := w.Status(ctx); err == nil {
				r.answer(&status, s, sp)
			}
		}
		out = append(out, status)
	}
	return out, nil
}

// answer notes what a partition's owner said.
func (r runtimeStatus) answer(out *pgcatalog.PartitionStatus, s partition.Status, sp id.StreamPartition) {
	out.Answered = true
	out.Applied, out.AllIdle, out.Sources, out.DedupIDs = s.Applied, s.AllIdle, s.Sources, s.DedupIDs
	out.MemoryBytes, out.Checkpoint = s.MemoryBytes, s.Checkpoint
	out.Received, out.Admitted = s.Counters.Received, s.Counters.Admitted
	out.Duplicates, out.Rejected = s.Counters.Duplicates, s.Counters.Rejected
	out.Head = max(out.Head, s.Applied) // it may have grown meanwhile
	if t := eventtime.Time(s.Watermark); t.Finite() {
		at := time.UnixMicro(t.UnixMicro())
		out.Watermark = &at
	}
	out.StalenessMillis = 0
	if s.Applied < out.Head {
		out.StalenessMillis = -1
		if at := r.tenant.Streams.Log().AppendedAt(sp, s.Applied); at > 0 {
			out.StalenessMillis = max(0, r.node.cfg.Now().UnixMicro()-at) / 1000
		}
	}
	out.Views = map[id.Relation]pgcatalog.ViewStatus{}
	for v, st := range s.Views {
		out.Views[v] = pgcatalog.ViewStatus{
			Applied: st.Applied, Live: st.Live, Rows: st.Counters.Folded, Late: st.Counters.Late, Errors: st.Counters.Errors,
			OpenGroups: st.OpenGroups, OpenWindows: st.OpenWindows, MemoryBytes: st.MemoryBytes,
		}
	}
}
