package pgwire

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/server/scram"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Credentials are how a client proves who it is.
type Credentials struct {
	Verifier scram.Verifier
	// Doomed lets nobody in: the role does not exist or has no password, which the
	// client must not learn.
	Doomed bool
}

// authenticate makes the client prove who it is, if it has to.
func (c *conn) authenticate(ctx context.Context, s *Startup) error {
	cred, err := c.server.cfg.Backend.Credentials(ctx, *s)
	if err != nil {
		return c.fatal(sqlerr.From(err))
	}
	if cred == nil {
		return nil
	}
	x := &scram.Exchange{Verifier: cred.Verifier, Doomed: cred.Doomed, Nonce: rand.Text(), Binding: c.binding()}
	mechanisms := []string{scram.Mechanism}
	if x.Binding != nil {
		mechanisms = []string{scram.MechanismPlus, scram.Mechanism}
	}
	c.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms})
	var initial pgproto3.SASLInitialResponse
	if err := c.receiveSASL(&initial); err != nil {
		return err
	}
	first, err := x.First(initial.AuthMechanism, string(initial.Data))
	if err != nil {
		return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid SASL message: %w", err))
	}
	c.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(first)})
	var response pgproto3.SASLResponse
	if err := c.receiveSASL(&response); err != nil {
		return err
	}
	final, err := x.Final(string(response.Data))
	switch {
	case errors.Is(err, scram.ErrProof):
		return c.fatal(sqlerr.New(sqlerr.InvalidPassword, "password authentication failed for user %q", s.User))
	case err != nil:
		return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid SASL message: %w", err))
	}
	c.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)})
	return nil
}

// receiveSASL waits for the client's next message of the exchange.
func (c *conn) receiveSASL(into pgproto3.FrontendMessage) error {
	if err := c.flush(); err != nil {
		return err
	}
	kind, body, err := c.wire.next(MaxStartupBody)
	if err != nil {
		return c.fatalReceive(err)
	}
	if kind == 'X' { // the client asks its user for a password first
		return errGone
	}
	if kind != 'p' {
		return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "expected SASL response, got message type %q", kind))
	}
	if err := into.Decode(body); err != nil {
		return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid SASL message: %w", err))
	}
	return nil
}

// binding returns the channel binding data tls-server-end-point: the hash of the
// server's certificate; nil without TLS.
func (c *conn) binding() []byte {
	if c.tls == nil || len(c.server.cfg.TLS.Certificates) == 0 {
		return nil
	}
	return endPoint(&c.server.cfg.TLS.Certificates[0])
}

func endPoint(cert *tls.Certificate) []byte {
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil
	}
	switch leaf.SignatureAlgorithm { //nolint:exhaustive // RFC 5929: MD5 and SHA-1 count as SHA-256
	case x509.SHA384WithRSA, x509.ECDSAWithSHA384, x509.SHA384WithRSAPSS:
		h := sha512.Sum384(leaf.Raw)
		return h[:]
	case x509.SHA512WithRSA, x509.ECDSAWithSHA512, x509.SHA512WithRSAPSS:
		h := sha512.Sum512(leaf.Raw)
		return h[:]
	case x509.PureEd25519: // the RFC defines no hash for it
		return nil
	}
	h := sha256.Sum256(leaf.Raw)
	return h[:]
}
