package sqllogictest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Kind is what a record does.
type Kind int

// Kinds of records.
const (
	Statement Kind = iota
	Query
	Control // connection, restart, halt, hash-threshold, control
	Loop    // a loop with its body
)

// Record is one step of a script.
type Record struct {
	Kind Kind
	File string
	Line int // of its first line, from 1
	from int // lines that the record occupies, [from, to) from 0
	to   int

	SQL  string
	Skip []Condition

	// Statements and queries.
	WantError  bool
	WantState  string         // SQLSTATE, or ""
	WantText   *regexp.Regexp // of the error's or notice's text, or nil
	WantNotice bool
	WantCount  int64 // affected rows, -1: not asked
	Types      string
	Sort       string // nosort, rowsort, valuesort, or "" (nosort)
	Label      string
	Expected   []string // lines after ----

	// Control.
	Verb string
	Args []string

	// Loops: the body runs once for every value.
	Variable string
	Values   []string
	Body     []*Record
	inLoop   bool

	Connection string // of this record alone, or "": the current one
	Maybe      bool   // may succeed or fail
}

// Condition is a skipif or onlyif before a record.
type Condition struct {
	Only   bool
	Engine string
}

// applies reports whether the record runs on an engine.
func (r *Record) applies(engine string) bool {
	for _, c := range r.Skip {
		if (c.Engine == engine) != c.Only {
			return false
		}
	}
	return true
}

// Script is a parsed file.
type Script struct {
	Path    string
	lines   []string
	Records []*Record
	Skipped int      // of a foreign script: records that are not SQL
	parts   []string // files that it includes, directly or not
}

// Mentions reports whether the text of the file contains s.
func (s *Script) Mentions(text string) bool {
	for _, l := range s.lines {
		if strings.Contains(l, text) {
			return true
		}
	}
	return false
}

// ReadScript parses a file. Errors name the line.
func ReadScript(path string) (*Script, error) {
	return readScript(path, 0, false)
}

func readScript(path string, depth int, foreign bool) (*Script, error) {
	if depth > 8 {
		return nil, fmt.Errorf("%s: includes are nested too deeply", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Script{Path: path, lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
	p := &parser{script: s, depth: depth, foreign: foreign}
	if s.Records, err = p.records(false); err != nil {
		return nil, err
	}
	s.Skipped += p.skipped
	return s, nil
}

type parser struct {
	script *Script
	at     int // next line
	depth  int
	loops  int

	foreign bool // the dialects of other products, read leniently
	skipped int  // records of them that are not for this runner
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.script.Path, p.at, fmt.Sprintf(format, args...))
}

// records parses to the end of the file, or of a loop.
func (p *parser) records(loop bool) ([]*Record, error) {
	var out []*Record
	var conditions []Condition
	for p.at < len(p.script.lines) {
		words := strings.Fields(p.script.lines[p.at])
		p.at++
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		r := &Record{File: p.script.Path, Line: p.at, from: p.at - 1, Skip: conditions, WantCount: -1, inLoop: p.loops > 0}
		switch words[0] {
		case "skipif", "onlyif":
			if len(words) < 2 || len(words) > 2 && !p.foreign {
				return nil, p.errorf("%s needs the name of an engine", words[0])
			}
			conditions = append(conditions, Condition{Only: words[0] == "onlyif", Engine: words[1]})
			continue
		case "endloop":
			if !loop {
				return nil, p.errorf("endloop without loop")
			}
			return out, nil
		case "include":
			if len(words) != 2 {
				return nil, p.errorf("include needs a file")
			}
			inner, err := p.include(words[1])
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		default:
			if p.foreign && p.skip(words) {
				break
			}
			if err := p.record(r, words); errors.Is(err, errNoSQL) {
				p.skipped++
				break
			} else if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		conditions = nil
	}
	if loop {
		return nil, p.errorf("loop without endloop")
	}
	return out, nil
}

// include reads the records of another file.
func (p *parser) include(path string) ([]*Record, error) {
	path = filepath.Join(filepath.Dir(p.script.Path), path)
	if p.foreign {
		return p.includeAll(path)
	}
	inner, err := readScript(path, p.depth+1, false)
	if err != nil {
		return nil, err
	}
	return inner.Records, nil
}

func (p *parser) record(r *Record, words []string) error {
	switch words[0] {
	case "statement":
		return p.statement(r, words[1:])
	case "query":
		return p.query(r, words[1:])
	case "loop", "foreach":
		return p.loop(r, words)
	case "connection", "restart", "halt", "hash-threshold", "control":
		r.Kind, r.Verb, r.Args, r.to = Control, words[0], words[1:], p.at
		if want := map[string]int{"connection": 1, "hash-threshold": 1, "control": 2}[r.Verb]; len(r.Args) != want {
			return p.errorf("%s takes %d words", r.Verb, want)
		}
		return nil
	case "sleep":
		return p.errorf("sleep is refused: wait for what has to happen, not for time to pass")
	}
	return p.errorf("unknown record %q", words[0])
}

var stateForm = regexp.MustCompile(`^[0-9A-Z]{5}$`)

func (p *parser) statement(r *Record, words []string) error {
	r.Kind = Statement
	if p.foreign {
		return p.foreignStatement(r, words)
	}
	if len(words) == 0 {
		return p.errorf("statement needs ok, error, notice or count")
	}
	switch words[0] {
	case "ok":
	case "count":
		if len(words) != 2 {
			return p.errorf("statement count needs a number")
		}
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return p.errorf("statement count needs a number, not %q", words[1])
		}
		r.WantCount = n
	case "error", "notice":
		r.WantError, r.WantNotice = words[0] == "error", words[0] == "notice"
		if err := p.wanted(r, words[1:]); err != nil {
			return err
		}
	default:
		return p.errorf("statement %s is unknown", words[0])
	}
	return p.body(r)
}

// wanted reads a SQLSTATE and a regular expression, each optional.
func (p *parser) wanted(r *Record, words []string) error {
	if len(words) > 0 && stateForm.MatchString(words[0]) {
		r.WantState, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	re, err := regexp.Compile(strings.Join(words, " "))
	if err != nil {
		return p.errorf("%v", err)
	}
	r.WantText = re
	return nil
}

func (p *parser) query(r *Record, words []string) error {
	r.Kind = Query
	if p.foreign {
		return p.foreignQuery(r, words)
	}
	if len(words) > 0 && words[0] == "error" {
		r.WantError = true
		if err := p.wanted(r, words[1:]); err != nil {
			return err
		}
		return p.body(r)
	}
	for i, w := range words {
		switch {
		case i == 0:
			r.Types = w
		case w == "nosort" || w == "rowsort" || w == "valuesort":
			r.Sort = w
		default:
			r.Label = w
		}
	}
	if strings.Trim(r.Types, "TIRB?") != "" {
		return p.errorf("types of columns are T, I, R, B or ?, not %q", r.Types)
	}
	return p.body(r)
}

// errNoSQL is of a foreign script's record without SQL.
var errNoSQL = errors.New("no SQL")

// body reads the SQL and what is expected.
func (p *parser) body(r *Record) error {
	var sql []string
	lines := p.script.lines
	for p.at < len(lines) && lines[p.at] != "----" && strings.TrimSpace(lines[p.at]) != "" {
		sql = append(sql, lines[p.at])
		p.at++
	}
	if len(sql) == 0 {
		if p.foreign {
			return errNoSQL
		}
		return p.errorf("a record needs SQL")
	}
	r.SQL = strings.Join(sql, "\n")
	if p.at < len(lines) && lines[p.at] == "----" {
		p.at++
		for p.at < len(lines) && lines[p.at] != "" {
			r.Expected = append(r.Expected, lines[p.at])
			p.at++
		}
	}
	r.to = p.at
	return nil
}

func (p *parser) loop(r *Record, words []string) error {
	r.Kind = Loop
	if len(words) < 3 {
		return p.errorf("a loop needs a variable and values")
	}
	r.Variable, r.Values = words[1], words[2:]
	if words[0] == "loop" {
		if len(words) != 4 {
			return p.errorf("loop needs a variable, a first number and the number after the last")
		}
		first, err1 := strconv.Atoi(words[2])
		end, err2 := strconv.Atoi(words[3])
		if err1 != nil || err2 != nil || end-first > 100_000 {
			return p.errorf("loop bounds must be integers not more than 100000 apart")
		}
		r.Values = nil
		for i := first; i < end; i++ {
			r.Values = append(r.Values, strconv.Itoa(i))
		}
	}
	p.loops++
	var err error
	r.Body, err = p.records(true)
	p.loops--
	r.to = p.at
	return err
}
