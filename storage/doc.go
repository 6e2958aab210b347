// Package storage holds what every store agrees on: the version of the data
// directory and the errors that tell a caller what is wrong with stored bytes.
//
// The stores themselves are below: vfs and kv (the doors to Pebble), ingestlog
// (the partition logs), recordbatch (rows as columns in a log record) and
// datadir (one process per directory).
package storage
