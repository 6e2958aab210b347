// Package minhash estimates how similar sets are: signatures of the smallest hash
// of a set under each of k functions (Broder: On the resemblance and containment of
// documents, 1997). Two sets agree in a place of their signatures with the
// probability of their Jaccard similarity, and where they agree in all places of
// some band, they are candidates (Leskovec, Rajaraman, Ullman: Mining of massive
// datasets, 2014, chapter 3).
//
// The package knows hashes; it keeps no value.
//
// Invariant: a signature is a function of the set of hashes; merging is a
// semilattice, and the signature of a union.
package minhash
