package scram

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Mechanism names.
const (
	Mechanism     = "SCRAM-SHA-256"
	MechanismPlus = "SCRAM-SHA-256-PLUS" // bound to the TLS channel
)

// ErrProof says that the client does not know the password.
var ErrProof = errors.New("client proof does not match")

// Exchange is one authentication of a client. Its methods are called in order:
// First, Final.
type Exchange struct {
	// Verifier of the user.
	Verifier Verifier
	// Doomed makes the exchange fail at its end: the verifier is a made-up one, of
	// a user that does not exist or has no password.
	Doomed bool
	// Binding is the channel binding data of the connection; nil without TLS.
	Binding []byte
	// Nonce is the server's part of the nonce: random, printable, without a comma.
	Nonce string

	plus        bool
	gs2         string
	clientFirst string // without its header
	serverFirst string
	nonce       string
}

// First takes the client's first message of a mechanism and returns the answer.
func (x *Exchange) First(mechanism, message string) (string, error) {
	switch {
	case mechanism == MechanismPlus && x.Binding != nil:
		x.plus = true
	case mechanism != Mechanism:
		return "", fmt.Errorf("client selected an invalid SASL authentication mechanism %q", mechanism)
	}
	flag, rest, ok := strings.Cut(message, ",")
	authzid, bare, ok2 := strings.Cut(rest, ",")
	switch {
	case !ok || !ok2:
		return "", errors.New("malformed first message")
	case authzid != "":
		return "", errors.New("client uses authorization identity, but it is not supported")
	case x.plus && flag != "p=tls-server-end-point":
		return "", errors.New("unsupported SCRAM channel-binding type")
	case !x.plus && flag == "y" && x.Binding != nil:
		return "", errors.New("client supports channel binding but thinks that the server does not")
	case !x.plus && flag != "n" && flag != "y":
		return "", errors.New("channel binding without SCRAM-SHA-256-PLUS")
	}
	fields := strings.Split(bare, ",")
	if len(fields) != 2 || !strings.HasPrefix(fields[0], "n=") || !strings.HasPrefix(fields[1], "r=") || !printable(fields[1][2:]) {
		return "", errors.New("malformed first message")
	}
	x.gs2, x.clientFirst = flag+",,", bare
	x.nonce = fields[1][2:] + x.Nonce
	x.serverFirst = fmt.Sprintf("r=%s,s=%s,i=%d", x.nonce, base64.StdEncoding.EncodeToString(x.Verifier.Salt), x.Verifier.Iterations)
	return x.serverFirst, nil
}

// printable reports whether a nonce is one.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return s != ""
}

// Final takes the client's last message and returns the server's, which proves
// that it knows the verifier; ErrProof if the client does not know the password.
func (x *Exchange) Final(message string) (string, error) {
	at := strings.LastIndex(message, ",p=")
	if at < 0 {
		return "", errors.New("malformed final message")
	}
	fields := strings.Split(message[:at], ",")
	binding := []byte(x.gs2)
	if x.plus {
		binding = append(binding, x.Binding...)
	}
	switch {
	case len(fields) != 2:
		return "", errors.New("malformed final message")
	case fields[0] != "c="+base64.StdEncoding.EncodeToString(binding):
		return "", errors.New("SCRAM channel binding check failed")
	case fields[1] != "r="+x.nonce:
		return "", errors.New("invalid SCRAM response: nonce does not match")
	}
	proof, err := base64.StdEncoding.DecodeString(message[at+3:])
	if err != nil || len(proof) != sha256.Size {
		return "", errors.New("malformed final message")
	}
	auth := x.clientFirst + "," + x.serverFirst + "," + message[:at]
	key := make([]byte, sha256.Size)
	subtle.XORBytes(key, proof, sign(x.Verifier.StoredKey[:], auth))
	stored := sha256.Sum256(key)
	if !hmac.Equal(stored[:], x.Verifier.StoredKey[:]) || x.Doomed {
		return "", ErrProof
	}
	return "v=" + base64.StdEncoding.EncodeToString(sign(x.Verifier.ServerKey[:], auth)), nil
}
