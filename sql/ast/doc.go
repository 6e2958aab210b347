// Package ast is TallyDB's syntax tree: what a PostgreSQL client said, before
// any name is looked up and before any type is known.
//
// It must not know the grammar that produced it, the catalog, or how anything
// is executed. It has no I/O, starts no goroutine, and imports only the standard
// library.
//
// Invariants:
//
//  1. Nodes are plain structs. Statement, Expr, FromItem and QueryBody are closed:
//     only this package implements them, so a type switch can be exhaustive.
//  2. A tree is finished when the parser returns it. Nobody changes a node in
//     place; a rewrite builds new nodes.
//  3. Names are as PostgreSQL would store them: unquoted ones folded to lower
//     case, quoted ones as written. String constants are decoded.
//  4. Parentheses are not nodes. The shape of the tree is the precedence;
//     String writes the parentheses that the shape needs.
//  5. String(n) is canonical: it does not depend on the spelling of the
//     source, and parsing it gives n again, positions aside.
package ast
