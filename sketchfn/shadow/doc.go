// Package shadow holds the exact twins of sketches: states that keep every distinct
// value with its count, and what becomes of them is a function of all values. A
// continuous view whose sketch is too coarse for its accuracy contract is counted
// again by them, from the retained log.
package shadow
