package pgwire

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Codes of a connection's first messages.
const (
	sslRequest    = 80877103
	gssRequest    = 80877104
	cancelRequest = 80877102
)

// Protocol versions. An older minor version is spoken, a newer one negotiated
// down.
const (
	majorVersion = 3
	minorVersion = 2
)

// tlsRecord is the first byte of a client that speaks TLS at once.
const tlsRecord = 0x16

// alpn is the protocol's name within TLS.
const alpn = "postgresql"

// startup reads what comes before the first statement; nil if the connection
// only cancels.
func (c *conn) startup() (*Startup, error) {
	if err := c.directTLS(); err != nil {
		return nil, err
	}
	for range 4 {
		body, err := c.wire.startup()
		if err != nil {
			if isGone(err) || isTimeout(err) {
				return nil, err
			}
			return nil, c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "invalid startup packet: %w", err))
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case sslRequest:
			if err := c.upgrade(); err != nil {
				return nil, err
			}
		case gssRequest:
			if _, err := c.wire.net.Write([]byte{'N'}); err != nil { // not offered; the client may go on without
				return nil, err
			}
		case cancelRequest:
			c.server.cancel(body[4:])
			return nil, nil
		default:
			s, err := c.readStartup(code, body[4:])
			if err != nil {
				return nil, c.fatal(sqlerr.From(err))
			}
			return s, nil
		}
	}
	return nil, c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "too many negotiation requests"))
}

// readStartup reads the parameters of a startup message and negotiates the
// protocol's version.
func (c *conn) readStartup(version uint32, body []byte) (*Startup, error) {
	major, minor := version>>16, version&0xFFFF
	if major != majorVersion {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports %d.0 to %d.%d", major, minor, majorVersion, majorVersion, minorVersion)
	}
	parameters, err := startupParameters(body)
	if err != nil {
		return nil, err
	}
	var unknown []string // of the protocol itself
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
			delete(parameters, name)
		}
	}
	if minor > minorVersion || len(unknown) > 0 {
		c.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: majorVersion<<16 | minorVersion, UnrecognizedOptions: unknown})
	}
	c.minor = min(minor, minorVersion)
	s := &Startup{User: parameters["user"], Database: parameters["database"], Parameters: parameters, RemoteAddr: c.wire.net.RemoteAddr().String(), Encryption: c.encryption()}
	if s.User == "" {
		return nil, sqlerr.New(sqlerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if s.Database == "" {
		s.Database = s.User
	}
	return s, nil
}

// startupParameters reads pairs of strings that end with an empty name.
func startupParameters(b []byte) (map[string]string, error) {
	out := map[string]string{}
	next := func() (string, bool) {
		at := bytes.IndexByte(b, 0)
		if at < 0 {
			return "", false
		}
		s := string(b[:at])
		b = b[at+1:]
		return s, true
	}
	for {
		name, ok := next()
		if ok && name == "" && len(b) == 0 {
			return out, nil
		}
		value, ok2 := next()
		if !ok || !ok2 || name == "" {
			return nil, sqlerr.New(sqlerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
		}
		out[name] = value
	}
}

// upgrade answers an SSLRequest.
func (c *conn) upgrade() error {
	if c.server.cfg.TLS == nil || c.tls != nil {
		_, err := c.wire.net.Write([]byte{'N'}) // the client may go on in clear
		return err
	}
	if _, err := c.wire.net.Write([]byte{'S'}); err != nil {
		return err
	}
	if c.wire.r != c.wire.w { // what came in clear must not be taken for what comes encrypted
		return c.fatal(sqlerr.New(sqlerr.ProtocolViolation, "received unencrypted data after SSL request").
			WithDetail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."))
	}
	return c.startTLS(c.wire.net)
}

// directTLS begins TLS for a client that does so without asking.
func (c *conn) directTLS() error {
	if c.server.cfg.TLS == nil {
		return nil
	}
	if err := c.wire.fill(1); err != nil {
		return err
	}
	if c.wire.in[c.wire.r] != tlsRecord {
		return nil
	}
	if err := c.startTLS(&replayConn{Conn: c.wire.net, read: bytes.Clone(c.wire.take(c.wire.w - c.wire.r))}); err != nil {
		return err
	}
	if c.tls.ConnectionState().NegotiatedProtocol != alpn {
		return errors.New("direct TLS without the protocol's name (ALPN)")
	}
	return nil
}

// replayConn gives back what was read too early.
type replayConn struct {
	net.Conn
	read []byte
}

// Read implements net.Conn.
func (r *replayConn) Read(b []byte) (int, error) {
	if len(r.read) > 0 {
		n := copy(b, r.read)
		r.read = r.read[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}

func (c *conn) startTLS(nc net.Conn) error {
	cfg := c.server.cfg.TLS.Clone()
	cfg.NextProtos = []string{alpn}
	c.tls = tls.Server(nc, cfg)
	if err := c.tls.Handshake(); err != nil {
		return err
	}
	c.wire = newWire(c.tls)
	return nil
}

// encryption describes the connection's TLS; nil without.
func (c *conn) encryption() *Encryption {
	if c.tls == nil {
		return nil
	}
	s := c.tls.ConnectionState()
	return &Encryption{Version: strings.Replace(tls.VersionName(s.Version), "TLS ", "TLSv", 1), Cipher: tls.CipherSuiteName(s.CipherSuite)}
}
