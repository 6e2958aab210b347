// Package sqllogictest runs SQL scripts against a server that speaks the
// PostgreSQL protocol and compares what comes back with what the script says.
// README.md describes the dialect.
//
// The package knows no product: it needs a connection string, and for scripts
// that restart the server something that can do so (Target). The same script
// runs against a node in this process, a child process, and a real PostgreSQL,
// which is how the scripts of testdata/pg are kept honest.
//
// It starts no goroutine of its own; Local's node has those of package server.
package sqllogictest
