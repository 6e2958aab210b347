// Package pgwire is the door to pgproto3: it speaks PostgreSQL's protocol 3 with
// a client and calls a Session for what the messages mean.
//
// It knows nothing of SQL, streams or storage.
//
// Goroutines: Server.Serve accepts; one goroutine a connection, all under the
// group that Serve waits for; a watcher of the connection's context.
//
// Invariants:
//
//  1. Every message body is bounded: MaxStartupBody before authentication,
//     MaxBody after it. A longer one is 08P01 and ends the connection.
//  2. After an error in the extended protocol, messages are skipped until Sync.
//  3. Whatever a session returns, the client gets ReadyForQuery or the
//     connection ends.
package pgwire
