package scram

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/secure/precis"
)

// Iterations and SaltBytes of new verifiers, those of PostgreSQL 15.
const (
	Iterations = 4096
	SaltBytes  = 16
)

// maxIterations bounds what a stored verifier may ask a client to compute.
const maxIterations = 10_000_000

// Verifier proves that a client knows a password, without telling it.
type Verifier struct {
	Iterations           int
	Salt                 []byte
	StoredKey, ServerKey [sha256.Size]byte
}

// New makes a verifier of a password.
func New(password string, salt []byte, iterations int) (Verifier, error) {
	salted, err := pbkdf2.Key(sha256.New, normalised(password), salt, iterations, sha256.Size)
	if err != nil {
		return Verifier{}, fmt.Errorf("derive key: %w", err)
	}
	v := Verifier{Iterations: iterations, Salt: salt}
	v.StoredKey = sha256.Sum256(sign(salted, "Client Key"))
	copy(v.ServerKey[:], sign(salted, "Server Key"))
	return v, nil
}

// normalised returns a password as SASLprep wants it; one that it forbids is
// taken as it is, like PostgreSQL does.
func normalised(password string) string {
	if s, err := precis.OpaqueString.String(password); err == nil {
		return s
	}
	return password
}

func sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // never fails (hash.Hash)
	return h.Sum(nil)
}

// prefix of a verifier's text.
const prefix = "SCRAM-SHA-256$"

// String returns the form in which PostgreSQL stores a verifier:
// SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, in base 64.
func (v Verifier) String() string {
	b := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s%d:%s$%s:%s", prefix, v.Iterations, b(v.Salt), b(v.StoredKey[:]), b(v.ServerKey[:]))
}

// Parse reads the form that String returns; false if the text is another.
func Parse(s string) (Verifier, bool) {
	var v Verifier
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return v, false
	}
	head, keys, ok := strings.Cut(rest, "$")
	count, salt, ok2 := strings.Cut(head, ":")
	stored, server, ok3 := strings.Cut(keys, ":")
	if !ok || !ok2 || !ok3 {
		return v, false
	}
	var err error
	if v.Iterations, err = strconv.Atoi(count); err != nil || v.Iterations < 1 || v.Iterations > maxIterations {
		return v, false
	}
	if v.Salt, err = base64.StdEncoding.DecodeString(salt); err != nil || len(v.Salt) == 0 {
		return v, false
	}
	return v, decodeKey(&v.StoredKey, stored) && decodeKey(&v.ServerKey, server)
}

func decodeKey(into *[sha256.Size]byte, s string) bool {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != sha256.Size {
		return false
	}
	copy(into[:], b)
	return true
}
