// Package bloom remembers sets so that membership can be asked: the Bloom filter
// (Bloom: Space/time trade-offs in hash coding with allowable errors, 1970), with
// all bits of a value made of one hash (Kirsch, Mitzenmacher: Less hashing, same
// performance: building a better Bloom filter, 2006) and the number of values
// estimated from the bits (Whang, Vander-Zanden, Taylor: A linear-time
// probabilistic counting algorithm, 1990; Papapetrou, Siberski, Nejdl:
// Cardinality estimation and dynamic length adaptation for Bloom filters, 2010).
//
// A group keeps the hashes themselves while they are few, and then bits.
//
// The package knows hashes; it does not know streams or who merges, and keeps no
// value.
//
// Invariants:
//
//  1. What was added is contained: there are no false negatives, after unions and
//     intersections neither.
//  2. The state of an aggregate is a function of the set of hashes that it saw.
package bloom
