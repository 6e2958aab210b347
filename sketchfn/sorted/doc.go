// Package sorted merges sorted arrays of words, and sorts them. It knows neither what the
// words are nor who keeps them.
//
// Which of two words is next no processor can guess, so nothing branches on a comparison;
// and as each step waits for the one before it, the smallest and the largest words are
// merged side by side, as many at a time as neither array can run out of. Where there is
// AVX-512, eight words are merged at a time, by networks of comparisons.
//
// Invariant: the steps of a processor's own code and those of Go give the same.
package sorted
