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
//  3. Functions and operators stand in one registry, a file per family; binding
//     and pg_proc read the same entries.
//  4. What differs from PostgreSQL is refused (0A000, 42883), never approximated:
//     regular expressions are RE2's, without back references and look-around.
//
// A binder builds trees with the New functions and Cast; an executor calls
// FoldStable once its Context is final, then Eval or FilterSel per batch.
package expr
