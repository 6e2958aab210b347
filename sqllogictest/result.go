package sqllogictest

import (
	"crypto/md5"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Empty is how a script shows an empty string, and Null how it shows NULL.
const (
	Empty = "(empty)"
	Null  = "NULL"
)

var escapeValue = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`)

// shown returns a value as a script shows it.
func shown(raw []byte) string {
	switch {
	case raw == nil:
		return Null
	case len(raw) == 0:
		return Empty
	}
	return escapeValue.Replace(string(raw))
}

// result is what a query returned.
type result struct {
	types string
	rows  [][]string
}

func (r *result) values() int {
	n := 0
	for _, row := range r.rows {
		n += len(row)
	}
	return n
}

// resultOf reads the rows of a statement.
func resultOf(res *pgconn.Result) *result {
	out := &result{}
	var letters strings.Builder
	for _, f := range res.FieldDescriptions {
		letters.WriteByte(typeLetter(f.DataTypeOID))
	}
	out.types = letters.String()
	for _, row := range res.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = shown(v)
		}
		out.rows = append(out.rows, line)
	}
	return out
}

// typeLetter is the letter of a column's type: I for integers, R for other
// numbers, B for booleans, T for all else.
func typeLetter(oid uint32) byte {
	switch oid {
	case 20, 21, 23, 26:
		return 'I'
	case 700, 701, 1700:
		return 'R'
	case 16:
		return 'B'
	}
	return 'T'
}

// sameTypes reports whether the letters that a script gives fit the result; '?'
// fits anything.
func sameTypes(want, got string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != '?' && want[i] != got[i] {
			return false
		}
	}
	return true
}

// lines returns the result as a script shows it: one row a line with tabs
// between values; with valuesort one value a line.
func (r *result) lines(sort string) []string {
	var out []string
	for _, row := range r.rows {
		if sort == "valuesort" {
			out = append(out, row...)
		} else {
			out = append(out, strings.Join(row, "\t"))
		}
	}
	if sort == "rowsort" || sort == "valuesort" {
		slices.Sort(out)
	}
	return out
}

// hash returns the line that stands for a long result.
func (r *result) hash(sort string) string {
	h := md5.New()
	for _, l := range r.lines(sort) {
		for _, v := range strings.Split(l, "\t") {
			fmt.Fprintln(h, v)
		}
	}
	return fmt.Sprintf("%d values hashing to %x", r.values(), h.Sum(nil))
}

// isHash reports whether expected lines are a hash.
func isHash(lines []string) bool {
	return len(lines) == 1 && strings.Contains(lines[0], " values hashing to ")
}
