package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tallydb/tallydb/server"
	"github.com/tallydb/tallydb/server/servertest"
)

// certificate makes one for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// logIn connects and returns how that ended: "" or a SQLSTATE.
func logIn(t *testing.T, s *servertest.Server, settings string, change func(*pgx.ConnConfig)) (code string, c *pgx.Conn) {
	t.Helper()
	host, port, _ := strings.Cut(s.PG(), ":")
	cfg, err := pgx.ParseConfig("host=" + host + " port=" + port + " dbname=tally " + settings)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	c, err = pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			return pe.Code, nil
		}
		return err.Error(), nil
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return "", c
}

// TestPasswords: who may log in, and that roles outlive a restart.
func TestPasswords(t *testing.T) {
	require := false
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) { c.Access.RequirePassword = require }})
	c := s.Connect()
	servertest.Exec(t, c,
		`CREATE USER alice PASSWORD 'wonder'`, `CREATE ROLE nologin PASSWORD 'x'`, `CREATE USER nopassword`,
		`CREATE USER late PASSWORD 'x' VALID UNTIL '2020-01-01'`, `CREATE ROLE "Tiếng Việt" LOGIN ENCRYPTED PASSWORD 'mật khẩu'`,
		`CREATE USER moved PASSWORD 'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU='`,
		`CREATE USER dropped PASSWORD 'x'`, `DROP USER dropped`, `DROP ROLE IF EXISTS dropped, nobody`)
	servertest.ExpectCode(t, c, "42710", `CREATE ROLE alice`)
	servertest.ExpectCode(t, c, "42704", `DROP ROLE dropped`)
	servertest.ExpectCode(t, c, "42704", `ALTER ROLE dropped LOGIN`)
	servertest.ExpectCode(t, c, "42601", `CREATE ROLE x LOGIN NOLOGIN`)
	servertest.Expect(t, c, `SELECT rolname, rolcanlogin, rolpassword FROM pg_roles WHERE rolname IN ('alice', 'nologin') ORDER BY 1`,
		"alice|t|********", "nologin|f|********")
	servertest.Expect(t, c, `SELECT count(*) FROM pg_authid WHERE rolpassword LIKE 'SCRAM-SHA-256$4096:%' AND rolpassword NOT LIKE '%wonder%'`, "5")

	require = true
	s = s.Reopen()
	for _, x := range []struct{ user, password, want string }{
		{"alice", "wonder", ""},
		{"alice", "Wonder", "28P01"},
		{"alice", "", "28P01"},
		{"nologin", "x", "28P01"},
		{"nopassword", "", "28P01"},
		{"nopassword", "x", "28P01"},
		{"late", "x", "28P01"},
		{"dropped", "x", "28P01"},
		{"nobody", "x", "28P01"},
		{"moved", "pencil", ""},
		{"'Tiếng Việt'", "'mật khẩu'", ""},
	} {
		code, _ := logIn(t, s, "sslmode=disable user="+x.user+" password="+quoteEmpty(x.password), nil)
		if code != x.want {
			t.Errorf("%s with %q: %q, want %q", x.user, x.password, code, x.want)
		}
	}
	_, c = logIn(t, s, "sslmode=disable user=alice password=wonder", nil)
	servertest.Exec(t, c, `ALTER ROLE CURRENT_USER PASSWORD 'second'`)
	for _, sql := range []string{`ALTER USER late VALID UNTIL 'infinity'`, `ALTER ROLE nologin LOGIN`, `ALTER ROLE alice CREATEROLE`} {
		servertest.ExpectCode(t, c, "42501", sql)
	}
	require = false // a client of this machine is trusted again
	s = s.Reopen()
	servertest.Exec(t, s.Connect(), `ALTER USER late VALID UNTIL 'infinity'`, `ALTER ROLE nologin LOGIN`, `ALTER ROLE alice CREATEROLE`)
	require = true
	s = s.Reopen()
	_, c = logIn(t, s, "sslmode=disable user=alice password=second", nil)
	for settings, want := range map[string]string{
		"user=alice password=wonder": "28P01", "user=alice password=second": "", "user=late password=x": "", "user=nologin password=x": "",
	} {
		if code, _ := logIn(t, s, "sslmode=disable "+settings, nil); code != want {
			t.Errorf("%s: %q, want %q", settings, code, want)
		}
	}
	servertest.ExpectCode(t, c, "55006", `DROP ROLE alice`)
	servertest.Exec(t, c, `ALTER ROLE alice PASSWORD NULL`)
	if code, _ := logIn(t, s, "sslmode=disable user=alice password=second", nil); code != "28P01" {
		t.Errorf("without a password: %q", code)
	}
}

func quoteEmpty(s string) string {
	if s == "" {
		return "''"
	}
	return s
}

// TestTLS: encryption as clients ask for it, and authentication bound to it.
func TestTLS(t *testing.T) {
	cert, roots := certificate(t)
	require := false
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) {
		c.Access.RequirePassword = require
		c.Access.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	}})
	servertest.Exec(t, s.Connect(), `CREATE USER alice PASSWORD 'wonder'`)
	require = true
	s = s.Reopen()
	trust := func(c *pgx.ConnConfig) {
		if c.TLSConfig != nil {
			c.TLSConfig.RootCAs = roots
		}
	}
	for settings, encrypted := range map[string]string{
		"sslmode=disable":     "f|∅",
		"sslmode=prefer":      "t|TLSv1.3",
		"sslmode=require":     "t|TLSv1.3",
		"sslmode=verify-full": "t|TLSv1.3",
		"sslmode=verify-full channel_binding=require":                   "t|TLSv1.3",
		"sslmode=verify-full channel_binding=disable":                   "t|TLSv1.3",
		"sslmode=require sslnegotiation=direct channel_binding=require": "t|TLSv1.3",
	} {
		code, c := logIn(t, s, "user=alice password=wonder "+settings, trust)
		if code != "" {
			t.Errorf("%s: %s", settings, code)
			continue
		}
		servertest.Expect(t, c, `SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()`, encrypted)
	}
	if code, _ := logIn(t, s, "sslmode=verify-full user=alice password=wrong channel_binding=require", trust); code != "28P01" {
		t.Errorf("a wrong password over TLS: %q", code)
	}
	// A cancel comes over TLS too.
	_, c := logIn(t, s, "sslmode=require user=alice password=wonder", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.Exec(ctx, "SELECT pg_sleep(60)")
	if err == nil {
		t.Error("pg_sleep was not cancelled")
	}
}

// TestPlainTextAfterSSLRequest: what was sent in clear with the request for TLS
// must not be taken for what comes encrypted.
func TestPlainTextAfterSSLRequest(t *testing.T) {
	cert, _ := certificate(t)
	s := servertest.Start(t, servertest.Options{Config: func(c *server.Config) { c.Access.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} }})
	r := &raw{t: t, net: dial(t, s.PG())}
	r.write(append([]byte{0, 0, 0, 8, 4, 210, 22, 47}, startupMessage()...))
	b := make([]byte, 1)
	if _, err := r.net.Read(b); err != nil || b[0] != 'S' {
		t.Fatalf("%q %v", b, err)
	}
	kind, body, err := r.read()
	if err != nil || kind != 'E' || !strings.Contains(string(body), "08P01") {
		t.Errorf("%q %q %v", kind, body, err)
	}
}
