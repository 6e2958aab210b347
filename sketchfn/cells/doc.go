// Package cells keeps the states of families whose groups are values of Go: what
// a family says about one state (Algebra) becomes the contract of many (States),
// with hashing, NULLs, versions and the count of bytes done once.
//
// Families whose states are tiny and many keep them in slabs of their own
// instead. The package knows no family.
//
// Invariants:
//
//  1. The zero T is the empty state, and Algebra leaves it so unless it adds.
//  2. A failed merge leaves the group as it was.
package cells
