package parse

// tokenKind is a kind of token.
type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokWord              // unquoted word, folded to lower case; may be a keyword
	tokQuoted            // "quoted" identifier
	tokString            // string constant of any form, decoded
	tokBits              // B'...'
	tokHex               // X'...'
	tokInteger           // digits, or 0x/0o/0b digits
	tokDecimal           // number with a point or an exponent
	tokParam             // $n; text is n
	tokOp                // operator of PostgreSQL's operator characters
	tokPunct             // ( ) [ ] , ; . : :: := =>
)

// token is a piece of the source. start and end are byte offsets, char is the
// 1-based character position of start.
type token struct {
	kind             tokenKind
	start, end, char int32
	text             string // decoded or folded
}

// isWord tells whether t is one of these unquoted words.
func (t *token) isWord(words ...string) bool {
	if t.kind != tokWord {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

// isPunct tells whether t is this punctuation.
func (t *token) isPunct(s string) bool { return t.kind == tokPunct && t.text == s }

// isOp tells whether t is this operator.
func (t *token) isOp(s string) bool { return t.kind == tokOp && t.text == s }

// isName tells whether t is an identifier or a word of any class: a label after
// AS, or a part of a name after a dot.
func (t *token) isName() bool { return t.kind == tokWord || t.kind == tokQuoted }

// class returns the word class of an unquoted word, 0 for everything else.
func (t *token) class() wordClass {
	if t.kind != tokWord {
		return 0
	}
	return words[t.text].class
}

// isColumnID tells whether t can name a column or a table (ColId).
func (t *token) isColumnID() bool {
	return t.kind == tokQuoted || t.kind == tokWord && t.class() <= columnName
}

// isTypeFuncName tells whether t can name a function or a type.
func (t *token) isTypeFuncName() bool {
	c := t.class()
	return t.kind == tokQuoted || t.kind == tokWord && c != columnName && c != reserved
}

// isBareLabel tells whether t can be a label without AS.
func (t *token) isBareLabel() bool {
	return t.kind == tokQuoted || t.kind == tokWord && !words[t.text].needAs
}
