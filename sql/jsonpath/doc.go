// Package jsonpath is the path language of SQL/JSON (ISO 9075-2:2016, 9.39), as
// PostgreSQL has it: a parser, and an evaluator over parsed documents.
//
// It is pure and starts no goroutine. It knows documents (sql/types) and no SQL.
//
// Invariants:
//
//  1. A path that was parsed does not change, so it may be used by many at once.
//  2. Depth and the number of items that an evaluation makes are bounded.
package jsonpath
