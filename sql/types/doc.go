// Package types is the vocabulary of values: PostgreSQL types by OID, single
// values (Datum), columns of values (Vector), rows of columns (Batch), their
// text and binary forms, and an order-preserving key encoding.
//
// It does no I/O, starts no goroutine and knows nothing of tables, streams or
// clients. Everything above speaks in its terms.
//
// Invariants:
//
//  1. Every type has one physical layout (Kind): 64-bit integers, 64-bit
//     floats, or bytes. Code that moves values switches on the Kind; code that
//     gives them meaning switches on the OID.
//  2. A Vector has exactly the slices of its Kind in use; a NULL row holds the
//     zero value of its layout, so that equal columns have equal bytes.
//  3. Timestamps are microseconds since 2000-01-01 00:00:00 UTC, dates are days
//     since then, as on PostgreSQL's wire. math.MaxInt64 and math.MinInt64 are
//     infinity and -infinity.
package types
