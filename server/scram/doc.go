// Package scram is the server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS:
// the verifiers that are stored instead of passwords, and the exchange that
// proves to each side that the other knows the password.
//
// Sources: C. Newman et al., "Salted Challenge Response Authentication Mechanism
// (SCRAM)", RFC 5802, 2010; T. Hansen, "SCRAM-SHA-256 and SCRAM-SHA-256-PLUS",
// RFC 7677, 2015; the channel binding tls-server-end-point is of J. Altman et
// al., "Channel Bindings for TLS", RFC 5929, 2010. The form of stored verifiers
// is PostgreSQL's.
//
// It is pure: it reads no clock and no network, and randomness is handed in.
package scram
