// Package session runs a client's statements: it parses, binds, plans and runs
// them, keeps the client's settings, prepared statements, portals and
// transaction, and turns results into messages.
//
// It knows the wire only through pgwire's Writer. It starts no goroutine: all
// work of a session is done by its connection's.
//
// Invariants:
//
//  1. A result whose coverage is partial does not end without an envelope on its
//     rows, a warning the user asked for, or an error (L-7).
//  2. Rows for a stream inside a transaction block become durable at COMMIT, or
//     not at all.
package session
