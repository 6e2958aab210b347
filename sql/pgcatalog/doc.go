// Package pgcatalog is what a database says of itself: pg_catalog and
// information_schema as PostgreSQL 15 has them, and tally_catalog for what only
// TallyDB has. All of them are virtual tables that the SQL engine reads like
// any other, so every client query over them is bound and run, never matched.
//
// It knows nothing of statements, sessions or partitions. What is live comes in
// through the functions and the Runtime of Config.
//
// Invariants:
//
//  1. Names, numbers, columns and types of PostgreSQL's tables are data
//     (schema/*.txt), taken from PostgreSQL 15. A table that has no rows in
//     TallyDB is there and empty, so a client that joins it gets an answer.
//  2. New does no work. Rows that depend on nothing are computed once per
//     process, the others once per statement and only for the tables it reads.
//  3. Numbers of derived objects (row types, indexes, constraints, side
//     relations) are functions of the relation's number: see oid.go.
//  4. Rows never depend on map order.
package pgcatalog
