package parse

import (
	"strconv"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// sqlTypes maps SQL's own spellings to the types' names in pg_catalog.
var sqlTypes = map[string]string{
	"int": "int4", "integer": "int4", "smallint": "int2", "bigint": "int8", "real": "float4",
	"float": "float8", "double": "float8", "decimal": "numeric", "dec": "numeric", "numeric": "numeric",
	"boolean": "bool", "bit": "bit", "char": "bpchar", "character": "bpchar", "nchar": "bpchar",
	"national": "bpchar", "varchar": "varchar", "time": "time", "timestamp": "timestamp", "interval": "interval",
}

// typeWords are the words that start a type with a syntax of its own.
var typeWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range sqlTypes {
		m[w] = true
	}
	return m
}()

// typeName reads a type.
func (p *parser) typeName() (*ast.TypeName, error) {
	t := p.cur()
	typ := &ast.TypeName{Pos: ast.Pos(t.char)}
	typ.SetOf = p.acceptWord("setof")
	var err error
	if p.startsSQLType() {
		err = p.sqlType(typ)
	} else {
		err = p.namedType(typ)
	}
	if err != nil {
		return nil, err
	}
	return typ, p.arrayBounds(typ)
}

// startsSQLType tells SQL's own spellings from the types that users name; double alone
// is one of the latter.
func (p *parser) startsSQLType() bool {
	t := p.cur()
	if t.kind != tokWord || !typeWords[t.text] || p.peek(1).isPunct(".") {
		return false
	}
	return t.text != "double" || p.peek(1).isWord("precision")
}

// namedType reads a type that is named like any object.
func (p *parser) namedType(typ *ast.TypeName) error {
	t := p.cur()
	if !t.isTypeFuncName() && !(t.isColumnID() && p.peek(1).isPunct(".")) {
		return p.errorHere()
	}
	parts, err := p.dottedParts()
	if err != nil {
		return err
	}
	if typ.Name, err = makeObjectName(t, parts); err != nil {
		return err
	}
	if p.isPunct("%") || p.isOp("%") && p.peek(1).isWord("type") {
		return unsupported(p.cur(), "%TYPE")
	}
	return p.typeModifiers(typ)
}

// typeModifiers reads the (10) of varchar(10).
func (p *parser) typeModifiers(typ *ast.TypeName) error {
	if !p.acceptPunct("(") {
		return nil
	}
	err := p.commaList(func() error {
		e, err := p.parseExpr(0)
		typ.Modifiers = append(typ.Modifiers, e)
		return err
	})
	if err != nil {
		return err
	}
	return p.expectPunct(")")
}

// sqlType reads a type in SQL's own spelling.
func (p *parser) sqlType(typ *ast.TypeName) error {
	t := p.next()
	typ.Name = ast.ObjectName{Pos: ast.Pos(t.char), Schema: "pg_catalog", Name: sqlTypes[t.text]}
	switch t.text {
	case "double":
		return p.expectWord("precision")
	case "float":
		return p.floatType(typ)
	case "numeric", "decimal", "dec":
		return p.typeModifiers(typ)
	case "bit", "char", "character", "nchar", "national", "varchar":
		return p.characterType(t, typ)
	case "time", "timestamp":
		return p.timeType(typ)
	case "interval":
		return p.intervalType(typ)
	}
	return nil
}

// floatType reads float(precision), whose precision in bits picks the type.
func (p *parser) floatType(typ *ast.TypeName) error {
	if !p.acceptPunct("(") {
		return nil
	}
	t := p.cur()
	n, err := strconv.Atoi(t.text)
	switch {
	case t.kind != tokInteger || err != nil:
		return p.errorHere()
	case n < 1:
		return sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be at least 1 bit").At(int(t.char))
	case n > 53:
		return sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be less than 54 bits").At(int(t.char))
	case n <= 24:
		typ.Name.Name = "float4"
	}
	p.at++
	return p.expectPunct(")")
}

// characterType reads char, varchar and bit, whose default length is 1.
func (p *parser) characterType(t *token, typ *ast.TypeName) error {
	if t.text == "national" {
		if err := p.expectWord("character", "char"); err != nil {
			return err
		}
	}
	varying := t.text == "varchar" || p.acceptWord("varying")
	if varying {
		typ.Name.Name = map[string]string{"bit": "varbit"}[t.text]
		if typ.Name.Name == "" {
			typ.Name.Name = "varchar"
		}
	}
	if err := p.typeModifiers(typ); err != nil {
		return err
	}
	if !varying && typ.Modifiers == nil && p.cur().kind != tokString {
		typ.Modifiers = []ast.Expr{&ast.Literal{Pos: ast.Pos(t.char), Kind: ast.IntegerLiteral, Text: "1"}}
	}
	return nil
}

// timeType reads time and timestamp [(precision)] [WITH|WITHOUT TIME ZONE].
func (p *parser) timeType(typ *ast.TypeName) error {
	if err := p.typeModifiers(typ); err != nil {
		return err
	}
	switch {
	case p.acceptWords("with", "time", "zone"):
		typ.Name.Name += "tz"
	case p.acceptWords("without", "time", "zone"):
	}
	return nil
}

// intervalType reads interval [fields] or interval(precision).
func (p *parser) intervalType(typ *ast.TypeName) (err error) {
	if p.isPunct("(") {
		return p.typeModifiers(typ)
	}
	typ.IntervalFields, err = p.intervalFields(typ)
	return err
}

// intervalRanges are the fields that may follow TO.
var intervalRanges = map[string][]string{
	"year": {"month"}, "day": {"hour", "minute", "second"}, "hour": {"minute", "second"}, "minute": {"second"},
}

// intervalFields reads DAY TO SECOND(3) and its like; "" where nothing follows.
func (p *parser) intervalFields(typ *ast.TypeName) (string, error) {
	if !p.isWord("year", "month", "day", "hour", "minute", "second") {
		return "", nil
	}
	fields := p.next().text
	last := fields
	if p.isWord("to") {
		p.at++
		if !p.isWord(intervalRanges[fields]...) {
			return "", p.errorHere()
		}
		last = p.next().text
		fields += " to " + last
	}
	if last == "second" {
		return fields, p.typeModifiers(typ)
	}
	return fields, nil
}

// arrayBounds reads [], [3] and ARRAY[3].
func (p *parser) arrayBounds(typ *ast.TypeName) error {
	if p.acceptWord("array") {
		if !p.isPunct("[") {
			typ.ArrayBounds = []int{-1}
			return nil
		}
	}
	for p.acceptPunct("[") {
		bound := -1
		if t := p.cur(); t.kind == tokInteger {
			n, err := strconv.Atoi(t.text)
			if err != nil {
				return p.errorHere()
			}
			bound = n
			p.at++
		}
		if err := p.expectPunct("]"); err != nil {
			return err
		}
		typ.ArrayBounds = append(typ.ArrayBounds, bound)
	}
	return nil
}
