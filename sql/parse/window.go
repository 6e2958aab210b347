package parse

import (
	"github.com/tallydb/tallydb/sql/ast"
)

// windowForm is a window: its node without the expressions, which are the arguments
// of its call of f: PARTITION BY's, ORDER BY's, then the frame's offsets.
type windowForm struct {
	spec       *ast.WindowSpec
	partitions int
	sorts      []sortForm
}

// fill puts the expressions into the node.
func (f *windowForm) fill(args []ast.Expr) *ast.WindowSpec {
	w := f.spec
	if f.partitions > 0 {
		w.PartitionBy, args = args[:f.partitions:f.partitions], args[f.partitions:]
	}
	w.OrderBy, args = fillSorts(f.sorts, args)
	if w.Frame != nil {
		for _, b := range []*ast.FrameBound{&w.Frame.Start, &w.Frame.End} {
			if b.Kind == ast.OffsetPreceding || b.Kind == ast.OffsetFollowing {
				b.Offset, args = args[0], args[1:]
			}
		}
	}
	return w
}

// fillSorts joins sort keys with their expressions and returns the other arguments.
func fillSorts(sorts []sortForm, args []ast.Expr) ([]ast.SortKey, []ast.Expr) {
	if len(sorts) == 0 {
		return nil, args
	}
	keys := make([]ast.SortKey, len(sorts))
	for i, s := range sorts {
		keys[i] = ast.SortKey{Expr: args[i], Direction: s.direction, Nulls: s.nulls}
	}
	return keys, args[len(sorts):]
}

// namedWindow is one entry of the WINDOW clause.
type namedWindow struct {
	head ast.NamedWindow
	form windowForm
}

// windowClause rewrites WINDOW name AS (...), ... as WINDOW `n` AS (PARTITION BY f(n, ...)).
func (p *parser) windowClause() error {
	if !p.isWord("window") {
		return nil
	}
	p.emit("WINDOW", p.next().char)
	return p.emitList(func() error {
		id, err := p.columnID()
		if err != nil {
			return err
		}
		if err := p.expectWord("as"); err != nil {
			return err
		}
		w := &namedWindow{head: ast.NamedWindow{Pos: id.Pos, Name: id.Name}}
		key := p.keep(w)
		p.emit("`"+key+"` AS (PARTITION BY `f`("+key, int32(id.Pos))
		if err := p.windowSpec(&w.form); err != nil {
			return err
		}
		p.emit("))", p.cur().char)
		return nil
	})
}

// windowSpec reads a parenthesised window and emits its expressions, each after a comma.
func (p *parser) windowSpec(f *windowForm) error {
	f.spec = &ast.WindowSpec{Pos: p.pos()}
	if err := p.expectPunct("("); err != nil {
		return err
	}
	if t := p.cur(); t.isColumnID() && !t.isWord("partition", "range", "rows", "groups") {
		f.spec.Base = p.next().text
	}
	if p.acceptWord("partition") {
		if err := p.expectWord("by"); err != nil {
			return err
		}
		err := p.commaList(func() error {
			f.partitions++
			return p.argument()
		})
		if err != nil {
			return err
		}
	}
	if p.acceptWord("order") {
		if err := p.expectWord("by"); err != nil {
			return err
		}
		if err := p.sortArguments(&f.sorts); err != nil {
			return err
		}
	}
	if p.isWord("range", "rows", "groups") {
		if err := p.frame(f.spec); err != nil {
			return err
		}
	}
	return p.expectPunct(")")
}

// argument emits a comma and an expression.
func (p *parser) argument() error {
	p.emit(",", p.cur().char)
	_, err := p.expr(0)
	return err
}

// sortArguments emits sort keys as arguments and records their modifiers.
func (p *parser) sortArguments(sorts *[]sortForm) error {
	return p.commaList(func() error {
		if err := p.argument(); err != nil {
			return err
		}
		f, err := p.sortModifiers()
		*sorts = append(*sorts, f)
		return err
	})
}

var frameModes = map[string]ast.FrameMode{"range": ast.FrameRange, "rows": ast.FrameRows, "groups": ast.FrameGroups}

// frame reads RANGE|ROWS|GROUPS ... [EXCLUDE ...].
func (p *parser) frame(w *ast.WindowSpec) (err error) {
	f := &ast.Frame{Mode: frameModes[p.next().text]}
	w.Frame = f
	start := p.cur()
	if p.acceptWord("between") {
		start = p.cur()
		if f.Start, err = p.frameBound(); err != nil {
			return err
		}
		if err := p.expectWord("and"); err != nil {
			return err
		}
		if f.End, err = p.frameBound(); err != nil {
			return err
		}
	} else {
		if f.Start, err = p.frameBound(); err != nil {
			return err
		}
		f.End.Kind = ast.CurrentRow
	}
	if err := checkFrame(f, start); err != nil {
		return err
	}
	if !p.acceptWord("exclude") {
		return nil
	}
	switch {
	case p.acceptWords("no", "others"):
	case p.acceptWords("current", "row"):
		f.Exclude = ast.ExcludeCurrentRow
	case p.acceptWord("group"):
		f.Exclude = ast.ExcludeGroup
	case p.acceptWord("ties"):
		f.Exclude = ast.ExcludeTies
	default:
		return p.errorHere()
	}
	return nil
}

// checkFrame refuses frames that can never hold a row, with PostgreSQL's words.
func checkFrame(f *ast.Frame, t *token) error {
	var problem string
	switch {
	case f.Start.Kind == ast.UnboundedFollowing:
		problem = "frame start cannot be UNBOUNDED FOLLOWING"
	case f.End.Kind == ast.UnboundedPreceding:
		problem = "frame end cannot be UNBOUNDED PRECEDING"
	case f.Start.Kind == ast.OffsetFollowing && f.End.Kind == ast.OffsetPreceding:
		problem = "frame starting from following row cannot have preceding rows"
	case f.Start.Kind == ast.CurrentRow && f.End.Kind == ast.OffsetPreceding:
		problem = "frame starting from current row cannot have preceding rows"
	case f.Start.Kind == ast.OffsetFollowing && f.End.Kind == ast.CurrentRow:
		problem = "frame starting from following row cannot end with current row"
	default:
		return nil
	}
	return errWindow(t, problem)
}

func (p *parser) frameBound() (ast.FrameBound, error) {
	var b ast.FrameBound
	switch {
	case p.acceptWords("current", "row"):
		b.Kind = ast.CurrentRow
		return b, nil
	case p.acceptWord("unbounded"):
		switch {
		case p.acceptWord("preceding"):
			b.Kind = ast.UnboundedPreceding
		case p.acceptWord("following"):
			b.Kind = ast.UnboundedFollowing
		default:
			return b, p.errorHere()
		}
		return b, nil
	}
	if err := p.argument(); err != nil {
		return b, err
	}
	switch {
	case p.acceptWord("preceding"):
		b.Kind = ast.OffsetPreceding
	case p.acceptWord("following"):
		b.Kind = ast.OffsetFollowing
	default:
		return b, p.errorHere()
	}
	return b, nil
}
