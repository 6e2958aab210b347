package parse

import (
	"strings"
	"sync"

	tidbparser "github.com/pingcap/tidb/pkg/parser"
	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// grammarNode is a statement in TiDB's tree.
type grammarNode = tidb.Node

// maxPooledText is the longest text after which a TiDB parser, whose buffers have
// grown with it, is kept for the next statement.
const maxPooledText = 256 << 10

// pool keeps TiDB parsers, which cost 7 µs and 17 KB to make.
var pool = sync.Pool{New: func() any {
	p := tidbparser.New()
	p.SetSQLMode(mysql.ModeANSIQuotes | mysql.ModePipesAsConcat | mysql.ModeNoBackslashEscapes)
	return p
}}

// grammar parses the rewritten text and calls decode with its tree. A TiDB parser
// that panicked is not used again.
func (p *parser) grammar(r *rendered, decode func(*decoder, grammarNode)) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = panicError(failure)
		}
	}()
	g := pool.Get().(*tidbparser.Parser)
	statements, _, err := g.ParseSQL(r.sql)
	if err != nil {
		pool.Put(g)
		return p.grammarError(r, err)
	}
	if len(statements) != 1 {
		return sqlerr.New(sqlerr.InternalError, "the grammar returned %d statements for one", len(statements))
	}
	decode(&decoder{parser: p, text: r}, statements[0])
	if len(r.sql) <= maxPooledText {
		pool.Put(g)
	}
	return nil
}

// decodeFailure carries an error out of the decoder's recursion.
type decodeFailure struct{ err error }

func panicError(failure any) error {
	if f, ok := failure.(decodeFailure); ok {
		return f.err
	}
	return sqlerr.New(sqlerr.InternalError, "the parser failed: %v", failure)
}

// grammarError finds the source token at which TiDB's grammar stopped. The rewriter
// has checked everything by then, so this is rare; the error must still be
// PostgreSQL's. TiDB's message ends with the unread text, cut off if it is long.
func (p *parser) grammarError(r *rendered, err error) error {
	offset := len(r.sql)
	if _, near, ok := strings.Cut(err.Error(), ` near "`); ok {
		if i := strings.LastIndex(near, `"`); i > 0 {
			if j := strings.LastIndex(r.sql, near[:i]); j >= 0 {
				offset = j
			}
		}
	}
	char := int32(0)
	if i := r.pieceAt(offset); i >= 0 && offset < len(r.sql) {
		char = r.chars[i]
	}
	for i := range p.tokens {
		if p.tokens[i].char == char {
			return syntaxError(p.src, &p.tokens[i])
		}
	}
	return syntaxError(p.src, p.cur())
}
