package sqllogictest

import (
	"crypto/md5"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// meets reports whether a result is what a foreign script expects, whose ways to
// write it differ: a line is a row (with tabs or spaces) or a value, truth is t,
// true or 1, numbers may be rounded to three places.
func meets(rec *Record, got *result, expected []string) bool {
	if isHash(expected) {
		return slices.Contains(foreignHashes(rec, got), expected[0])
	}
	columns := len(got.types)
	want, ok := foreignRows(expected, columns, len(got.rows))
	if !ok {
		return false
	}
	rows := slices.Clone(got.rows)
	switch rec.Sort {
	case "rowsort":
		slices.SortFunc(rows, slices.Compare)
		slices.SortFunc(want, slices.Compare)
	case "valuesort":
		return valuesMeet(sorted(want), sorted(rows))
	}
	for i := range want {
		if !rowMeets(want[i], rows[i], got.types, rec.Types) {
			return false
		}
	}
	return true
}

// foreignRows cuts expected lines into rows of values.
func foreignRows(lines []string, columns, rows int) ([][]string, bool) {
	var out [][]string
	switch {
	case len(lines) == rows:
		for _, l := range lines {
			values := []string{l}
			if columns > 1 {
				if values = strings.Split(l, "\t"); len(values) != columns {
					values = strings.Fields(l)
				}
			}
			out = append(out, values)
		}
	case len(lines) == rows*columns:
		for i := 0; i < len(lines); i += columns {
			out = append(out, lines[i:i+columns])
		}
	default:
		return nil, false
	}
	return out, true
}

func rowMeets(want, got []string, types, asked string) bool {
	if len(want) != len(got) { // values with spaces in them, cut at spaces
		return slices.Equal(want, strings.Fields(strings.Join(got, " ")))
	}
	for i := range want {
		letter := byte('?')
		if i < len(asked) {
			letter = asked[i]
		}
		if !valueMeets(want[i], got[i], types[i], letter) {
			return false
		}
	}
	return true
}

func valueMeets(want, got string, letter, asked byte) bool {
	if want == got || want == "" && got == Empty {
		return true
	}
	switch letter {
	case 'B':
		truth := strings.ToLower(want)
		return got == "t" && (truth == "true" || want == "1") || got == "f" && (truth == "false" || want == "0")
	case 'I', 'R':
		return foreignNumber(got, asked) == want || close15(want, got)
	}
	return false
}

// foreignNumber is a number as the SQLite corpus writes it.
func foreignNumber(got string, asked byte) string {
	f, err := strconv.ParseFloat(got, 64)
	switch {
	case err != nil:
		return got
	case asked == 'R':
		return fmt.Sprintf("%.3f", f)
	case asked == 'I':
		return fmt.Sprintf("%.0f", math.Trunc(f))
	}
	return got
}

// close15 reports whether two numbers agree in their first digits, about 14 of them.
func close15(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && (x == y || math.Abs(x-y) <= 1e-14*math.Max(math.Abs(x), math.Abs(y)))
}

func valuesMeet(want, got []string) bool {
	return slices.EqualFunc(want, got, func(a, b string) bool { return a == b || close15(a, b) })
}

func sorted(rows [][]string) []string {
	out := slices.Concat(rows...)
	slices.Sort(out)
	return out
}

// foreignHashes are the lines that may stand for a long result: of the values as
// the server writes them, and as the SQLite corpus does.
func foreignHashes(rec *Record, got *result) []string {
	written := &result{types: got.types}
	for _, row := range got.rows {
		line := slices.Clone(row)
		for i, v := range line {
			asked := byte('?')
			if i < len(rec.Types) {
				asked = rec.Types[i]
			}
			switch {
			case got.types[i] == 'B' && asked == 'I':
				line[i] = map[string]string{"t": "1", "f": "0"}[v]
			case got.types[i] == 'B' && v != Null:
				line[i] = map[string]string{"t": "true", "f": "false"}[v]
			case got.types[i] != 'T':
				line[i] = foreignNumber(v, asked)
			}
		}
		written.rows = append(written.rows, line)
	}
	return []string{valueHash(got, rec.Sort), valueHash(written, rec.Sort)}
}

// valueHash is the hash of the values in the order of the sort mode.
func valueHash(r *result, sort string) string {
	rows := slices.Clone(r.rows)
	if sort == "rowsort" {
		slices.SortFunc(rows, slices.Compare)
	}
	values := slices.Concat(rows...)
	if sort == "valuesort" {
		slices.Sort(values)
	}
	h := md5.New()
	for _, v := range values {
		fmt.Fprintln(h, v)
	}
	return fmt.Sprintf("%d values hashing to %x", len(values), h.Sum(nil))
}
