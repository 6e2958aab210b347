// Package decay keeps counts and sums whose rows lose half of their weight with
// each half-life: forward decay (Cormode, Shkapenyuk, Srivastava, Xu: Forward
// decay: a practical time decay model for streaming systems, 2009). A row weighs
// 2^((time - landmark)/half-life), and the landmark is the latest time seen, so
// the value is that of the latest event and no clock is read.
//
// Invariant: a merge does not depend on which side was which. Sums of floats agree
// to rounding over orders of rows.
package decay
