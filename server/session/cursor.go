package session

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/server/pgwire"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// cursor is what a portal that DECLARE made has besides: where it stands, and the
// rows it keeps if it can go back or outlives its transaction.
type cursor struct {
	declared *ast.DeclareCursor
	created  time.Time
	held     bool  // WITH HOLD, and its transaction was committed
	at       int64 // number of the row that it stands on; 0 before the first, one more than there are behind the last

	keeps    bool // rows that were read are kept
	batches  []*types.Batch
	ends     []int64 // how many rows there are up to the end of each batch
	bytes    int64
	complete bool // all rows were read
}

// cursorStatement runs DECLARE, FETCH, MOVE and CLOSE. A cursor is a portal.
func (s *Session) cursorStatement(ctx context.Context, stmt ast.Statement, params []types.Datum, out *sink) error {
	switch x := stmt.(type) {
	case *ast.DeclareCursor:
		return s.declare(ctx, x, params, out)
	case *ast.Fetch:
		return s.fetch(ctx, x, out)
	case *ast.CloseCursor:
		if x.Name == "" {
			s.closeAll()
			return out.complete("CLOSE CURSOR ALL")
		}
		if _, err := s.cursor(x.Name); err != nil {
			return err
		}
		s.dropPortal(x.Name)
		return out.complete("CLOSE CURSOR")
	}
	return nil
}

// declare runs DECLARE.
func (s *Session) declare(ctx context.Context, x *ast.DeclareCursor, params []types.Datum, out *sink) error {
	switch {
	case !s.txn.open() && !x.Hold:
		return sqlerr.New(sqlerr.NoActiveSQLTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	case s.portals[x.Name] != nil:
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor %q already exists", x.Name).At(x.Position())
	}
	p := &prepared{stmt: x.Query}
	for _, d := range params {
		p.declared = append(p.declared, d.Type)
	}
	if err := s.plan(p); err != nil {
		return err
	}
	if p.query != nil && p.query.Writes {
		return sqlerr.New(sqlerr.FeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH")
	}
	c := &portal{prepared: p, params: params, cursor: &cursor{
		declared: x, created: s.now(), keeps: x.Hold || x.Scroll == ast.Yes,
	}}
	if x.Binary {
		c.formats = []pgwire.Format{pgwire.BinaryFormat}
	}
	if err := s.addPortal(x.Name, c); err != nil {
		return err
	}
	// It reads what is there now, whatever its transaction writes before it is fetched.
	if err := s.startPortal(ctx, c); err != nil {
		s.dropPortal(x.Name)
		return err
	}
	if !s.txn.open() { // the statement is its transaction
		if err := s.holdCursors(ctx, out); err != nil {
			s.dropPortal(x.Name)
			return err
		}
	}
	return out.complete("DECLARE CURSOR")
}

// cursor returns the portal that FETCH, MOVE and CLOSE name.
func (s *Session) cursor(name string) (*portal, error) {
	p := s.portals[name]
	if p == nil || p.prepared.query == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor %q does not exist", name)
	}
	if p.cursor == nil { // made by Bind
		p.cursor = &cursor{created: s.now()}
	}
	return p, nil
}

// reads reports whether a portal that has not been closed reads a relation.
func (s *Session) reads(rel *catalog.Relation) bool {
	for _, p := range s.portals {
		if p.running == nil && (p.cursor == nil || p.cursor.declared == nil || p.cursor.held) {
			continue
		}
		if slices.ContainsFunc(p.prepared.query.Relations, func(r plan.RelationVersion) bool { return r.ID == rel.ID }) {
			return true
		}
	}
	return false
}

// holdCursors reads the rows that are left of the cursors WITH HOLD, before their
// transaction is committed.
func (s *Session) holdCursors(ctx context.Context, out *sink) error {
	for _, p := range s.portals {
		if c := p.cursor; c != nil && c.declared != nil && c.declared.Hold && !c.held {
			if err := s.keep(ctx, p, ast.FetchAll, out); err != nil {
				return err
			}
			c.held = true
		}
	}
	return nil
}

// keep reads and keeps rows until it has as many as wanted or all.
func (s *Session) keep(ctx context.Context, p *portal, rows int64, out *sink) error {
	c := p.cursor
	for !c.complete && c.rows() < rows {
		if err := s.startPortal(ctx, p); err != nil {
			return err
		}
		ok, err := p.running.fill(ctx, out)
		if err != nil {
			return err
		}
		if !ok {
			c.complete = true
			return p.stop()
		}
		b := p.running.batch
		p.running.next = b.Rows
		c.batches, c.ends = append(c.batches, b), append(c.ends, c.rows()+int64(b.Rows))
		n := int64(b.MemoryBytes())
		c.bytes, s.kept = c.bytes+n, s.kept+n
		if limit := s.engine.StatementMemory; limit > 0 && s.kept > limit {
			return sqlerr.New(sqlerr.OutOfMemory, "cursors keep more than %d bytes of rows", limit).
				WithHint("Declare cursors WITHOUT HOLD and without SCROLL, or close those that are no longer used.")
		}
	}
	return nil
}

// rows returns how many rows are kept.
func (c *cursor) rows() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// span is what a FETCH wants: the rows from one number to another, in this
// direction, and where the cursor stands then. Numbers count from 1.
type span struct {
	from, to int64 // to < from: no row
	backward bool
	stop     int64
}

// target returns the span that a FETCH means for a cursor of so many rows, or of
// rows that are not all counted yet, which only the direction FORWARD allows.
func (c *cursor) target(x *ast.Fetch, total int64) span {
	n, direction := max(x.Count, -ast.FetchAll), x.Direction
	if direction == ast.FetchBackward || direction == ast.FetchForward && n < 0 {
		if direction == ast.FetchForward {
			n = -n
		}
		direction = ast.FetchBackward
		if n < 0 { // BACKWARD with a negative number is FORWARD
			n, direction = -n, ast.FetchForward
		}
	}
	clamp := func(row int64) int64 { return max(0, min(row, total+1)) }
	one := func(row int64) span { // the row, or none of the places around the rows
		row = clamp(row)
		if row == 0 || row > total {
			return span{from: 1, to: 0, stop: row}
		}
		return span{from: row, to: row, stop: row}
	}
	switch {
	case direction == ast.FetchAbsolute && n < 0:
		return one(total + 1 + max(n, -total-1))
	case direction == ast.FetchAbsolute:
		return one(n)
	case direction == ast.FetchRelative:
		return one(addCapped(c.at, n))
	case n == 0:
		return one(c.at)
	case direction == ast.FetchBackward:
		last := clamp(c.at - 1)
		first := max(1, c.at-min(n, c.at))
		if n >= c.at {
			return span{from: 1, to: last, backward: true, stop: 0}
		}
		return span{from: first, to: last, backward: true, stop: first}
	default:
		last := addCapped(c.at, n)
		if last > total {
			return span{from: c.at + 1, to: total, stop: total + 1}
		}
		return span{from: c.at + 1, to: last, stop: last}
	}
}

// addCapped adds without overflow.
func addCapped(a, b int64) int64 {
	if b > 0 && a > ast.FetchAll-b {
		return ast.FetchAll
	}
	return a + b
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(ctx context.Context, x *ast.Fetch, out *sink) error {
	p, err := s.cursor(x.Cursor)
	if err != nil {
		return err
	}
	if len(p.formats) > 0 && p.cursor.declared != nil {
		out.formats = p.formats
	}
	if !x.Move {
		if err := out.begin(p.prepared.query.Output, p.prepared.query.Origins); err != nil {
			return err
		}
	}
	n, err := s.fetchRows(ctx, p, x, out)
	if err != nil {
		return err
	}
	if x.Move {
		return out.complete("MOVE %d", n)
	}
	return out.complete("FETCH %d", n)
}

// fetchRows moves a cursor, sends the rows for a FETCH, and returns how many.
func (s *Session) fetchRows(ctx context.Context, p *portal, x *ast.Fetch, out *sink) (int64, error) {
	c := p.cursor
	if !c.keeps {
		return s.fetchForward(ctx, p, x, out)
	}
	// As many rows as the answer needs; all if it depends on how many there are.
	want := int64(ast.FetchAll)
	switch {
	case x.Direction == ast.FetchForward && x.Count >= 0, x.Direction == ast.FetchRelative:
		want = addCapped(c.at, x.Count)
	case x.Direction == ast.FetchBackward && x.Count >= 0:
		want = c.at
	case x.Direction == ast.FetchAbsolute && x.Count >= 0:
		want = x.Count
	}
	if err := s.keep(ctx, p, want, out); err != nil {
		return 0, err
	}
	t := c.target(x, c.rows())
	n := max(0, t.to-t.from+1)
	if c.declared.Scroll == ast.No && (n > 0 && t.from <= c.at && !x.Move || t.stop < c.at) {
		return 0, errOnlyForward(x)
	}
	c.at = t.stop
	if x.Move {
		return n, nil
	}
	return n, c.send(t, out)
}

// send sends kept rows.
func (c *cursor) send(t span, out *sink) error {
	if !t.backward {
		for row := t.from; row <= t.to; {
			b, i := c.find(row)
			k := min(int64(b.Rows-i), t.to-row+1)
			if err := out.send(b, i, i+int(k)); err != nil {
				return err
			}
			row += k
		}
		return nil
	}
	for row := t.to; row >= t.from; row-- {
		b, i := c.find(row)
		if err := out.send(b, i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// find returns the batch of a kept row and the row's place there.
func (c *cursor) find(row int64) (*types.Batch, int) {
	k := sort.Search(len(c.ends), func(k int) bool { return c.ends[k] >= row })
	b := c.batches[k]
	return b, int(row - (c.ends[k] - int64(b.Rows)) - 1)
}

// errOnlyForward is what a cursor answers that would have to keep its rows.
func errOnlyForward(x *ast.Fetch) error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.").At(x.Position())
}

// fetchForward moves a cursor that keeps nothing.
func (s *Session) fetchForward(ctx context.Context, p *portal, x *ast.Fetch, out *sink) (int64, error) {
	c := p.cursor
	skip, n := int64(0), max(x.Count, -ast.FetchAll)
	switch x.Direction {
	case ast.FetchForward:
	case ast.FetchAbsolute:
		skip, n = n-c.at-1, 1
	case ast.FetchRelative:
		skip, n = n-1, 1
	default:
		n = -n
	}
	onRow := c.at > 0 && !p.finished
	switch {
	case n < 0 || skip < 0 || n == 0 && onRow && !x.Move:
		return 0, errOnlyForward(x)
	case n == 0 && onRow:
		return 1, nil
	case n == 0:
		return 0, nil
	}
	if skip > 0 {
		if _, err := s.pass(ctx, p, skip, nil, out); err != nil {
			return 0, err
		}
	}
	to := out
	if x.Move {
		to = nil
	}
	return s.pass(ctx, p, n, to, out)
}

// pass reads at most limit rows and sends them to rows, if that is not nil.
func (s *Session) pass(ctx context.Context, p *portal, limit int64, rows, notices *sink) (int64, error) {
	passed := int64(0)
	for !p.finished && passed < limit {
		if err := s.startPortal(ctx, p); err != nil {
			return passed, err
		}
		r := p.running
		ok, err := r.fill(ctx, notices)
		if err != nil {
			return passed, err
		}
		if !ok {
			p.finished = true
			p.cursor.at++
			return passed, p.stop()
		}
		n := min(int64(r.batch.Rows-r.next), limit-passed)
		if rows != nil {
			if err := rows.send(r.batch, r.next, r.next+int(n)); err != nil {
				return passed, err
			}
		}
		r.next += int(n)
		passed += n
		p.cursor.at += n
	}
	return passed, nil
}

// startPortal starts a portal's query if it does not run yet.
func (s *Session) startPortal(ctx context.Context, p *portal) (err error) {
	if p.running != nil {
		return nil
	}
	if p.finished {
		return errors.New("portal is at its end")
	}
	p.running, err = replanned(func() (*running, error) {
		if err := s.plan(p.prepared); err != nil {
			return nil, err
		}
		return s.startQuery(ctx, p.prepared.query, p.params, false)
	})
	return err
}
