// Package valuehash hashes values of every type with a tenant's key, so that
// values that are equal to PostgreSQL have equal hashes: -0 and 0, every NaN,
// 1.0 and 1.00, '1 month' and '30 days'.
//
// It knows types and keyhash and nothing of what the hashes are for. A Hasher
// belongs to one goroutine.
//
// Invariants:
//
//  1. Equal values of one type (Widest) have equal hashes, whatever their form.
//  2. The hash is keyhash's of the bytes that routing hashes, finalised for a use
//     of its own, so that no estimate depends on where a row was routed.
package valuehash
