package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/server/scram"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Credentials implements pgwire.Backend. A client of this machine is trusted,
// unless passwords are required of all; any other proves that it knows the
// password of a role that may log in.
func (e *Engine) Credentials(_ context.Context, s pgwire.Startup) (*pgwire.Credentials, error) {
	if e.trusts(s.RemoteAddr) {
		return nil, nil
	}
	if e.RequireTLS && s.Encryption == nil && !isLoopback(s.RemoteAddr) {
		return nil, sqlerr.New(sqlerr.InvalidAuthorization, "no entry for host %q, user %q, database %q, no encryption", s.RemoteAddr, s.User, s.Database).
			WithHint("This server wants TLS of clients of other machines: sslmode=require.")
	}
	role, ok := e.Catalog.Role(s.User)
	verifier, hasPassword := scram.Parse(role.Password)
	if !ok || !hasPassword || !role.Flags["login"] || expired(role, e.Now()) {
		return &pgwire.Credentials{Verifier: e.pretend(s.User), Doomed: true}, nil
	}
	return &pgwire.Credentials{Verifier: verifier}, nil
}

// trusts reports whether a client of an address need not prove who it is.
func (e *Engine) trusts(addr string) bool { return !e.RequirePassword && isLoopback(addr) }

func expired(r store.Role, now time.Time) bool {
	return !r.ValidUntil.IsZero() && !now.Before(r.ValidUntil)
}

// isLoopback reports whether a client is on this machine. What is not an address
// of a network, such as a pipe within the process, is.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true
	}
	ip := net.ParseIP(host)
	return ip == nil || ip.IsLoopback()
}

// pretend returns a verifier for a user without one, the same each time, so that
// who guesses names does not learn which exist.
func (e *Engine) pretend(user string) scram.Verifier {
	e.pretendOnce.Do(func() { _, _ = rand.Read(e.pretendKey[:]) }) // never fails (crypto/rand)
	h := hmac.New(sha256.New, e.pretendKey[:])
	_, _ = h.Write([]byte(user)) // never fails (hash.Hash)
	return scram.Verifier{Iterations: scram.Iterations, Salt: h.Sum(nil)[:scram.SaltBytes]}
}

// roleChange returns what options do to a role.
func (s *Session) roleChange(o ast.RoleOptions) (func(*store.Role), error) {
	if o.ConnectionLimit != nil && *o.ConnectionLimit != -1 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a limit of a role's connections is not supported")
	}
	var password *string
	if o.Password != nil {
		verifier, err := verifierOf(o.Password)
		if err != nil {
			return nil, err
		}
		password = &verifier
	}
	var until *time.Time
	if o.ValidUntil != nil {
		d, err := types.Parse(types.Of(types.Timestamptz), []byte(*o.ValidUntil), s.textOptions())
		if err != nil {
			return nil, err
		}
		t := time.Time{} // for ever
		if *o.ValidUntil != "infinity" {
			t = types.ToTime(d.Int)
		}
		until = &t
	}
	return func(r *store.Role) {
		flags := maps.Clone(r.Flags) // a snapshot of the role is not changed
		maps.Copy(flags, o.Flags)
		r.Flags = flags
		if password != nil {
			r.Password = *password
		}
		if until != nil {
			r.ValidUntil = *until
		}
	}, nil
}

// verifierOf returns what is stored of a password. A verifier is taken as it is,
// so that roles can be moved without their passwords.
func verifierOf(p *ast.RolePassword) (string, error) {
	if p.Null || p.Text == "" {
		return "", nil
	}
	if _, ok := scram.Parse(p.Text); ok {
		return p.Text, nil
	}
	salt := make([]byte, scram.SaltBytes)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	v, err := scram.New(p.Text, salt, scram.Iterations)
	return v.String(), err
}

// RoleInfo is a row of pg_roles.
type RoleInfo struct {
	Name       string
	ID         uint32
	Flags      map[string]bool
	Password   string
	ValidUntil time.Time // zero: for ever
	// Memberships are the roles that it is a member of.
	Memberships []access.Membership
	// Settings are those of its sessions, by the number of the database; 0 is any.
	Settings map[uint32]map[string]string
}

// Roles returns the roles of the server, by name.
func (e *Engine) Roles() []RoleInfo {
	roles := e.Catalog.Roles()
	out := make([]RoleInfo, len(roles))
	for i, r := range roles {
		settings := make(map[uint32]map[string]string, len(r.Settings))
		for t, of := range r.Settings {
			settings[uint32(t)] = of
		}
		out[i] = RoleInfo{Name: r.Name, ID: uint32(r.ID), Flags: r.Flags, Password: r.Password, ValidUntil: r.ValidUntil, Memberships: r.Memberships, Settings: settings}
	}
	return slices.Clip(out)
}
