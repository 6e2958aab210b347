// Package fidelity measures how faithfully sql/parse reads PostgreSQL. Its test parses
// every statement of ../testdata/statements.sql and testdata/clauses.sql twice: with
// PostgreSQL's own grammar, and with sql/parse whose tree is written back as text
// (ast.String) and given to PostgreSQL's grammar again. Both trees must be equal.
//
// Statements that PostgreSQL rejects (TallyDB's own) are only required to survive a
// round trip; statements of testdata/errors.sql must be rejected by both, at the same
// position.
package fidelity
