// Package expr evaluates bound scalar expressions over batches of columns, with
// PostgreSQL's semantics: NULL logic, overload resolution, implicit casts,
// integer and numeric arithmetic, text, date and time functions.
//
// It knows nothing of statements, relations or aggregates, and reads no clock:
// what a statement fixes (now, time zone, parameters) comes in a Context.
//
// Invariants:
//
//  1. Expressions are immutable; Eval keeps no state between calls.
//  2. CASE, COALESCE, AND and OR evaluate an operand only for the rows that
//     need it, so that a guarded division by zero is not an error.
package expr
