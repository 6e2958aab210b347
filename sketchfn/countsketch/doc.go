// Package countsketch sums weights by value where weights may be negative: the
// Count Sketch (Charikar, Chen, Farach-Colton: Finding frequent items in data
// streams, 2002). Its sums are unbiased, with an error relative to the second
// moment of the stream, which it estimates too (Alon, Matias, Szegedy: The space
// complexity of approximating the frequency moments, 1996).
//
// A group has depth rows of width counters; a value adds its weight, with a sign
// of its own in each row, to one counter in each. The sum of a value is the median
// over the rows.
//
// The package knows hashes and counters; it does not know streams or who merges,
// and keeps no value.
//
// Invariant: a state is a linear function of the weights: the order of rows and
// merges leaves no trace, and what is added and taken away again leaves zeros.
package countsketch
