// Package sketchfn registers the sketches: aggregate functions whose state is
// small whatever the number of rows, and whose values come with bounds. Each
// family is a package of its own that implements sql/agg's contract.
//
// The families know nothing of streams, partitions, storage or the network;
// like every aggregate they are pure: no clock, no I/O, no goroutine, no source
// of randomness. What they share is named by its job: slab (memory of many small
// states without pointers), cells (states that are values of Go), statecodec
// (reading portable states), value (the SQL type sketch), quantile (functions of
// families that estimate quantiles), valuehash (the keyed hash of a value), hashset,
// selection, sorted (merges of arrays), limits (confidence), jsonvalue and param (checks
// of a call's arguments).
package sketchfn
