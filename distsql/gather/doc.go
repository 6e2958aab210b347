// Package gather is the root of a distributed query: it pins the cut, asks the
// owners of the partitions, lets through the coverage gate what counts each
// record once, merges, finalises, and puts the envelope on every row.
//
// Goroutines: one for each partition asked, within a call, under an errgroup.
//
// Invariants:
//
//  1. One statement, one cut: the durable heads, read before any fragment runs, or
//     what a partition had applied beyond its head when the statement's views were
//     read, all at one moment. Only a scan that runs for each row of another input may
//     move it on.
//  2. A partial is merged only if its identity is the fold's and its coverage is
//     expected and disjoint from what was merged (L-5); anything else is refused
//     and counted.
//  3. A partition that does not answer is missing and named, never left out.
package gather
