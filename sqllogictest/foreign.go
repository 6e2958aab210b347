package sqllogictest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ReadForeign parses a script of another product's suite. Its dialect is read
// leniently: what this runner has no use for (plugins to load, shell commands,
// waits) is left out and counted in Script.Skipped, the texts of errors are not
// read, and types of columns are whatever they are.
func ReadForeign(path string) (*Script, error) { return readScript(path, 0, true) }

// foreignLists are names that stand for several values in a foreach.
var foreignLists = map[string][]string{
	"<integral>": {"smallint", "integer", "bigint"},
	"<signed>":   {"smallint", "integer", "bigint"},
	"<numeric>":  {"smallint", "integer", "bigint", "real", "float8"},
	"<alltypes>": {"smallint", "integer", "bigint", "real", "float8", "boolean", "interval", "varchar"},
}

// skip leaves a record out that is not one of SQL: to the next empty line, or,
// where a mode says so, to the mode's end.
func (p *parser) skip(words []string) bool {
	switch words[0] {
	case "statement", "query", "loop", "foreach", "endloop", "connection", "halt", "hash-threshold":
		return false
	case "concurrentloop", "concurrentforeach":
		words[0] = strings.TrimPrefix(words[0], "concurrent")
		return false
	}
	p.skipped++
	lines := p.script.lines
	if words[0] == "mode" && len(words) > 1 && words[1] == "skip" {
		for p.at < len(lines) && strings.Join(strings.Fields(lines[p.at]), " ") != "mode unskip" {
			p.at++
		}
	}
	for p.at < len(lines) && strings.TrimSpace(lines[p.at]) != "" && !p.startsRecord(lines[p.at]) {
		p.at++
	}
	return true
}

// startsRecord reports whether a line begins a record of SQL, for those that
// follow others without an empty line.
func (p *parser) startsRecord(line string) bool {
	words := strings.Fields(line)
	return slices.Contains([]string{"statement", "query", "loop", "foreach", "endloop", "include"}, words[0])
}

// foreignStatement reads "statement ok|error|maybe|count [CONNECTION]".
func (p *parser) foreignStatement(r *Record, words []string) error {
	if len(words) == 0 {
		return p.errorf("statement needs ok or error")
	}
	r.WantError, r.Maybe = words[0] == "error", words[0] == "maybe"
	if len(words) == 2 && strings.HasSuffix(p.script.Path, ".test") {
		r.Connection = words[1]
	}
	return p.body(r)
}

// foreignQuery reads "query [error] TYPES [SORT] [LABEL] [retry …]"; in *.test,
// what follows TYPES directly is a connection.
func (p *parser) foreignQuery(r *Record, words []string) error {
	if len(words) > 0 && words[0] == "error" {
		r.WantError = true
		return p.body(r)
	}
	for i, w := range words {
		if w == "retry" {
			break
		}
		switch {
		case i == 0:
			r.Types = w
		case w == "sort":
			r.Sort = "rowsort"
		case w == "nosort" || w == "rowsort" || w == "valuesort":
			r.Sort = w
		case i == 1 && strings.HasSuffix(p.script.Path, ".test"):
			r.Connection = w
		}
	}
	return p.body(r)
}

// includeAll reads the files that fit a pattern, in which ** is any folders.
func (p *parser) includeAll(pattern string) ([]*Record, error) {
	root := pattern
	if i := strings.IndexByte(pattern, '*'); i >= 0 {
		root = filepath.Dir(pattern[:i] + "x")
	}
	form := regexp.QuoteMeta(pattern)
	form = strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*`, `[^/]*`).Replace(form)
	fits, err := regexp.Compile("^" + form + "$")
	if err != nil {
		return nil, p.errorf("%v", err)
	}
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		p.skipped++ // made by that product's build
		return nil, nil
	}
	var out []*Record
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !fits.MatchString(path) {
			return err
		}
		inner, err := readScript(path, p.depth+1, true)
		if err == nil {
			out = append(out, inner.Records...)
			p.skipped += inner.Skipped
			p.script.parts = append(append(p.script.parts, path), inner.parts...)
		}
		return err
	})
	return out, err
}
