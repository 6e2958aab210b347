// Package bind gives a syntax tree its meaning: it resolves names against a
// catalog snapshot, finds types, and returns a plan.Query, or the plan of a
// continuous view.
//
// It knows nothing of SQL text (sql/parse; view bodies are parsed by a function
// that the caller hands in), of how plans run, or of where data is. It does no
// I/O and starts no goroutine.
//
// How a SELECT is bound: FROM makes a scope, a plan and the names of its columns.
// Expressions are bound over the scope's columns, with placeholders where an
// aggregate, a window function, a subquery or a set-returning function stands.
// Then, layer by layer, the plan grows a node and the placeholders become columns
// of it: subqueries of WHERE, the filter, the grouping (a fold where the rows
// come straight from one stream), HAVING, windows, and the projection.
//
// Invariants:
//
//  1. Errors have PostgreSQL's code, words and position.
//  2. A statement is bound against one snapshot. What it used is listed in
//     plan.Query.Relations, so that who caches a plan knows when it is stale.
//  3. A column that no clause may see (hidden, or of another level) is never
//     read: outer columns enter a subquery only as parameters.
package bind
