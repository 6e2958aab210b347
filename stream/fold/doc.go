// Package fold runs a plan.Fold over batches of a stream's rows: it evaluates
// the expressions, assigns windows, finds groups and updates states. Continuous
// views and ad-hoc queries run the same code.
//
// It knows nothing of logs, offsets or storage: rows and the watermark before
// each come in, changed arenas and rows set aside come out. A Program is used by
// one goroutine at a time.
//
// Invariants:
//
//  1. A row that fails an expression, or that a state refuses, changes nothing
//     and is reported; the rows around it are folded.
//  2. A row is late if the watermark before it has reached the end of its window
//     plus the allowed lateness; its batch does not matter (L-3).
package fold
