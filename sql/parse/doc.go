// Package parse turns PostgreSQL text into sql/ast.
//
// The grammar of queries and expressions is TiDB's (github.com/pingcap/tidb/pkg/parser);
// this package owns the gap between that grammar and PostgreSQL, and it is the
// only one that may import it. A statement goes through four steps:
//
//  1. lexer: PostgreSQL's tokens, with every string form decoded.
//  2. grammar: a hand-written recursive descent over the tokens. It parses by
//     itself the statements TiDB has no words for. A query or an expression it
//     rewrites into text for TiDB's grammar: what both languages share is passed
//     on, PostgreSQL's precedence is spelled out in parentheses, and forms that
//     only PostgreSQL has become calls of the function `f`.
//  3. TiDB's grammar parses that text.
//  4. decoder: TiDB's tree becomes sql/ast. A call of `f` is built by the form
//     (see form.go) that the rewriter left for it.
//
// It must not know any catalog, type or function: PostgreSQL's grammar decides,
// the binder judges. It keeps no state besides a pool of TiDB parsers and starts
// no goroutine.
//
// Invariants:
//
//  1. No user text reaches TiDB's lexer. Names, constants and whatever else the
//     user chose stay in a side table; the rewritten text has only keywords,
//     operators, punctuation and numbers that index the table. So no name, string
//     or comment can be misread by MySQL's rules.
//  2. Nothing of TiDB leaves this package: no type, no error text, no MySQL rule.
//  3. Parse never panics and its work is bounded by the constants in
//     limits.go.
//  4. Errors are PostgreSQL's: 42601 with the position of the token at which
//     PostgreSQL's own parser would stop. Positions count characters from the start
//     of the whole text given to Parse, as PostgreSQL's do.
package parse
