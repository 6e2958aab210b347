package parse

import (
	"sort"
	"strconv"
	"strings"
)

// output collects the text for TiDB's grammar as pieces, each of which knows the
// source token it came from. Text can be put in front of an earlier piece without
// moving anything, which is how an operand becomes the argument of a call after the
// fact.
type output struct {
	pieces   []piece
	prefixes []prefix
}

type piece struct {
	text   string
	char   int32 // character position in the source
	prefix int32 // newest prefix + 1, 0 for none
}

// prefix is text in front of a piece; the newest comes first.
type prefix struct {
	text  string
	older int32
}

// emit appends text that stands for the source at character position char.
func (p *parser) emit(text string, char int32) {
	p.out.pieces = append(p.out.pieces, piece{text: text, char: char})
}

// mark returns the place where the next piece will be.
func (p *parser) mark() int { return len(p.out.pieces) }

// wrap puts text in front of what was emitted since mark.
func (p *parser) wrap(mark int, text string) {
	o := &p.out
	o.prefixes = append(o.prefixes, prefix{text, o.pieces[mark].prefix})
	o.pieces[mark].prefix = int32(len(o.prefixes))
}

// keep stores v in the side table and returns the number that stands for it.
func (p *parser) keep(v any) string {
	p.side = append(p.side, v)
	return strconv.Itoa(len(p.side) - 1)
}

// rendered is the finished text with a map back to the source.
type rendered struct {
	sql     string
	offsets []int32 // byte offset in sql of each piece, behind its prefixes
	starts  []int32 // byte offset in sql of each piece's first prefix
	chars   []int32 // its character position in the source
}

// height measures how tall a tree TiDB will build. Each parenthesis adds a level, and so
// does each AND and OR of a chain, whose left side nests without parentheses.
type height struct{ open []int }

func (h *height) text(s string) {
	for i := range len(s) {
		switch s[i] {
		case '(':
			h.open = append(h.open, 0)
		case ')':
			last := len(h.open) - 1
			inner := h.open[last] + 1
			h.open = h.open[:last]
			h.open[last-1] = max(h.open[last-1], inner)
		}
	}
	if s == "AND" || s == "OR" {
		h.open[len(h.open)-1]++
	}
}

// height returns the height of the whole text.
func (o *output) height() int {
	h := height{open: []int{0}}
	for i := range o.pieces {
		for f := o.pieces[i].prefix; f > 0; f = o.prefixes[f-1].older {
			h.text(o.prefixes[f-1].text)
		}
		h.text(o.pieces[i].text)
	}
	return h.open[0]
}

func (o *output) render() *rendered {
	size := 0
	for i := range o.pieces {
		size += len(o.pieces[i].text) + 2
	}
	var b strings.Builder
	b.Grow(size + 8*len(o.prefixes))
	r := &rendered{
		offsets: make([]int32, len(o.pieces)),
		starts:  make([]int32, len(o.pieces)),
		chars:   make([]int32, len(o.pieces)),
	}
	for i := range o.pieces {
		pc := &o.pieces[i]
		if i > 0 {
			b.WriteByte(' ')
		}
		r.starts[i] = int32(b.Len())
		for f := pc.prefix; f > 0; f = o.prefixes[f-1].older {
			b.WriteString(o.prefixes[f-1].text)
		}
		r.offsets[i] = int32(b.Len())
		r.chars[i] = pc.char
		b.WriteString(pc.text)
	}
	r.sql = b.String()
	return r
}

// pieceAt returns the index of the piece that holds the byte at offset, -1 if none.
func (r *rendered) pieceAt(offset int) int {
	return sort.Search(len(r.starts), func(i int) bool { return int(r.starts[i]) > offset }) - 1
}
