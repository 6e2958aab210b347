// Package graph sketches graphs whose edges come and go: which vertices are
// connected, how many components there are, and how the degrees are distributed
// (Ahn, Guha, McGregor: Analyzing graph structure via linear measurements, 2012).
//
// A small graph is kept as its edges. A larger one has, for each vertex and each of
// some rounds, an ℓ0-sampler (Jowhari, Saglam, Tardos: Tight bounds for Lp
// samplers, 2011) of the vector of its edges, in which an edge is +1 at one end and
// -1 at the other. In the sum over the vertices of a set, the edges inside cancel, so
// what is sampled leaves the set: each round of Borůvka's algorithm takes fresh
// samplers. The sum over a whole component is zero, which its check shows.
//
// The package knows vertices by keyed hashes of 61 bits; it keeps no value.
//
// Invariants:
//
//  1. The sketch is linear: a state is a function of the net weights of edges,
//     and of whether it, or one of those merged into it, ever had more edges than are
//     kept.
//  2. Edges that lead from one component to another are verified before they are
//     believed, so no two components are taken for one; components that were not
//     closed by a zero sum are counted as undecided, never as two.
//  3. A state names no more vertices than its parameter says.
package graph
