// Package matrix sketches the rows of a matrix that is too long to keep: A has a
// row of d numbers for each event, and what is kept is a matrix B of few rows whose
// BᵀB stands for AᵀA.
//
// Frequent Directions (Liberty: Simple and deterministic matrix sketching, 2013;
// Ghashami, Liberty, Phillips, Woodruff: Frequent directions: simple and
// deterministic matrix sketching, 2016) is deterministic: for every unit vector x,
// 0 ≤ ‖Ax‖² - ‖Bx‖² ≤ shrinkage, a sum that the state keeps and that is at most
// ‖A - A_k‖²_F/(l+1-k) for every k ≤ l. A random projection (Vempala: The random
// projection method, 2004) adds each row to l rows with signs of its own: it is
// linear and unbiased, and its error is a multiple of ‖A‖²_F.
//
// The package knows rows of numbers. It reads no clock and starts no goroutine;
// gonum, which solves the eigenproblems, may share large products among some of its
// own that end within the call.
//
// Invariants:
//
//  1. All rows of a state have one length, their numbers are finite, and the sum of
//     all squares is at most maxEnergy.
//  2. A state of Frequent Directions holds fewer than 2l rows.
//  3. Merging two states gives the same bytes in either order.
package matrix
