// Package bench compares the sketches with those of other libraries: time of an
// update and of a merge, bytes of a state and its error, in one run. It is a module
// of its own, so that the libraries are no dependencies of the product.
package bench
