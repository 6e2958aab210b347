package parse

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
)

// identity parses ALWAYS|BY DEFAULT AS IDENTITY [(options)] behind GENERATED.
func (p *parser) identity() (*ast.Identity, error) {
	first := p.cur()
	out := &ast.Identity{}
	if out.Always = p.acceptWord("always"); !out.Always {
		if err := p.expectWords("by", "default"); err != nil {
			return nil, err
		}
	}
	if err := p.expectWord("as"); err != nil {
		return nil, err
	}
	if p.isPunct("(") {
		return nil, unsupported(first, "GENERATED ALWAYS AS (expression)")
	}
	if err := p.expectWord("identity"); err != nil {
		return nil, err
	}
	if !p.acceptPunct("(") {
		return out, nil
	}
	var err error
	if out.Options, err = p.sequenceOptions(); err != nil {
		return nil, err
	}
	return out, p.expectPunct(")")
}

// createSequence parses CREATE SEQUENCE.
func (p *parser) createSequence(t *token, temporary bool) (ast.Statement, error) {
	s := &ast.CreateSequence{Pos: ast.Pos(t.char), Temporary: temporary}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.objectName(); err != nil {
		return nil, err
	}
	s.Options, err = p.sequenceOptions()
	return s, err
}

// sequenceOptions reads the options of a sequence, in any order.
func (p *parser) sequenceOptions() (ast.SequenceOptions, error) {
	var o ast.SequenceOptions
	for {
		done, err := p.sequenceOption(&o)
		if done || err != nil {
			return o, err
		}
	}
}

func (p *parser) sequenceOption(o *ast.SequenceOptions) (done bool, err error) {
	switch {
	case p.acceptWord("as"):
		o.Type, err = p.typeName()
	case p.acceptWord("start"):
		p.acceptWord("with")
		o.Start, err = p.sequenceNumber()
	case p.acceptWord("increment"):
		p.acceptWord("by")
		o.Increment, err = p.sequenceNumber()
	case p.acceptWord("minvalue"):
		o.Min, err = p.sequenceNumber()
	case p.acceptWord("maxvalue"):
		o.Max, err = p.sequenceNumber()
	case p.acceptWord("cache"): // numbers are kept in hand anyway
		_, err = p.sequenceNumber()
	case p.acceptWord("cycle"):
		o.Cycle = ast.Yes
	case p.acceptWords("no", "cycle"):
		o.Cycle = ast.No
	case p.acceptWords("no", "minvalue"):
		o.NoMin = true
	case p.acceptWords("no", "maxvalue"):
		o.NoMax = true
	case p.acceptWord("restart"):
		o.Restart = true
		if p.acceptWord("with") || p.cur().kind == tokInteger || p.isOp("-") {
			o.RestartWith, err = p.sequenceNumber()
		}
	case p.acceptWords("owned", "by"):
		var n ast.ObjectName
		n, err = p.objectName()
		o.OwnedBy = &n
	default:
		return true, nil
	}
	return false, err
}

// sequenceNumber reads an integer with its sign.
func (p *parser) sequenceNumber() (*int64, error) {
	text := ""
	if p.isOp("-") || p.isOp("+") {
		text = p.next().text
	}
	t := p.cur()
	n, err := strconv.ParseInt(text+t.text, 10, 64)
	if t.kind != tokInteger || err != nil {
		return nil, p.errorHere()
	}
	p.at++
	return &n, nil
}

// createIndex parses CREATE [UNIQUE] INDEX [CONCURRENTLY] [[IF NOT EXISTS] name] ON table
// [USING method] (keys) [NULLS [NOT] DISTINCT] [WHERE condition].
func (p *parser) createIndex(t *token) (ast.Statement, error) {
	s := &ast.CreateIndex{Pos: ast.Pos(t.char), Unique: p.acceptWord("unique")}
	p.at++ // INDEX
	p.acceptWord("concurrently")
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if !p.isWord("on") {
		if s.Name, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if err := p.expectWord("on"); err != nil {
		return nil, err
	}
	p.acceptWord("only")
	if s.Table, err = p.objectName(); err != nil {
		return nil, err
	}
	if p.acceptWord("using") {
		if s.Method, err = p.simpleName(); err != nil {
			return nil, err
		}
	}
	if s.Keys, err = p.indexKeys(p.keyOrder); err != nil {
		return nil, err
	}
	if p.acceptWord("include") {
		if _, err := p.columnNames(); err != nil {
			return nil, err
		}
	}
	if s.NullsEqual, err = p.nullsEqual(); err != nil {
		return nil, err
	}
	if p.isWord("with") {
		if _, err := p.withOptions(); err != nil {
			return nil, err
		}
	}
	if p.isWord("tablespace") {
		return nil, unsupported(p.cur(), "this clause of CREATE INDEX")
	}
	if p.acceptWord("where") {
		s.Where, err = p.parseExpr(0)
	}
	return s, err
}

// nullsEqual parses [NULLS [NOT] DISTINCT].
func (p *parser) nullsEqual() (bool, error) {
	if !p.acceptWord("nulls") {
		return false, nil
	}
	not := p.acceptWord("not")
	return not, p.expectWord("distinct")
}

// indexKeys parses (column | function(...) | (expression), ...), with what order parses
// behind each.
func (p *parser) indexKeys(order func(*ast.IndexKey) error) ([]ast.IndexKey, error) {
	var keys []ast.IndexKey
	err := p.parenList(func() error {
		k, err := p.indexKey()
		if err != nil {
			return err
		}
		err = order(&k)
		keys = append(keys, k)
		return err
	})
	return keys, err
}

func (p *parser) indexKey() (k ast.IndexKey, err error) {
	switch first := p.cur(); {
	case first.isColumnID() && !p.peek(1).isPunct("("):
		k.Column, err = p.columnID()
	case first.isPunct("("), p.peek(1).isPunct("("):
		if k.Expr, err = p.parseExpr(0); err == nil {
			if ref, ok := k.Expr.(*ast.ColumnRef); ok && len(ref.Parts) == 1 {
				k = ast.IndexKey{Column: ast.Identifier{Pos: ref.Pos, Name: ref.Name()}}
			}
		}
	default:
		err = p.errorHere()
	}
	return k, err
}

// keyOrder parses the collation, the operator class and the order of an index's column,
// of which the last two have no meaning here.
func (p *parser) keyOrder(k *ast.IndexKey) error {
	if p.acceptWord("collate") {
		name, err := p.objectName()
		if err != nil {
			return err
		}
		k.Collation = &name
	}
	if p.cur().isColumnID() && !p.isWord("asc", "desc", "nulls") {
		if _, err := p.objectName(); err != nil {
			return err
		}
	}
	p.acceptWord("asc", "desc")
	if p.acceptWord("nulls") && !p.acceptWord("first", "last") {
		return p.errorHere()
	}
	return nil
}
