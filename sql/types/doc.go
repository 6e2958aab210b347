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
//  4. Numerics, intervals and arrays are stored in the encodings of decimal.go,
//     interval.go and array.go; jsonb as its canonical text. A numeric keeps its
//     display scale, so values that are equal may differ in bytes.
//  5. Keys agree with Compare: equal values have equal keys and, jsonb apart, keys
//     order as values do (keytypes.go).
//  6. Text and binary forms are PostgreSQL 15's, errors included.
package types
