package session

import (
	"slices"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
)

// Limits of the statements that a session remembers.
const (
	keptRecent     = 8
	maxRecentBytes = 2048 // of a statement's text
)

// recent are the statements that a client last sent without a name for them. Many
// send the same few texts again and again; their parse and plan are used again,
// where the plan still holds (see Session.plan).
type recent struct {
	list [keptRecent]*prepared
	next int
}

// find returns the statement of a text with these parameter types, or nil.
func (r *recent) find(sql string, types []uint32) *prepared {
	for _, p := range r.list {
		if p != nil && p.source == sql && slices.Equal(p.sent, types) {
			return p
		}
	}
	return nil
}

// of returns what is remembered of a statement, or nil.
func (r *recent) of(stmt ast.Statement) *prepared {
	for _, p := range r.list {
		if p != nil && p.stmt == stmt {
			return p
		}
	}
	return nil
}

// forget drops a statement.
func (r *recent) forget(p *prepared) {
	for i := range r.list {
		if r.list[i] == p {
			r.list[i] = nil
		}
	}
}

// add remembers a statement that has a plan, in place of the oldest.
func (r *recent) add(p *prepared) {
	switch p.stmt.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		if len(p.source) <= maxRecentBytes {
			r.list[r.next] = p
			r.next = (r.next + 1) % keptRecent
		}
	}
}

// parse parses the text of a simple query.
func (s *Session) parse(sql string) ([]parse.Parsed, error) {
	if p := s.recent.find(sql, nil); p != nil {
		return []parse.Parsed{{Statement: p.stmt, Params: len(p.declared)}}, nil
	}
	statements, err := parse.Parse(sql)
	if err == nil && len(statements) == 1 && statements[0].Params == 0 {
		s.recent.add(&prepared{stmt: statements[0].Statement, source: sql, created: s.now(), unnamed: true})
	}
	return statements, err
}
