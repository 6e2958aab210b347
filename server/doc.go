// Package server composes a node: it opens the data directory, builds every
// part, starts what runs, and ends it all in the reverse order. It owns every
// lifetime; nothing else starts a goroutine that outlives a call.
//
// Goroutines of a node (all ended by Close or by the end of Run's context):
//
//	segment log   the committer, and the preparer of the next segment
//	Pebble        its own
//	streams       one worker a partition and one ticker a tenant (stream.Manager)
//	retention     the trimmer of the logs
//	pgwire        the acceptor and one a connection
//	admin         the HTTP server's
package server
