package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

func lower(k ast.ObjectKind) string { return strings.ToLower(string(k)) }

func upper(s string) string { return strings.ToUpper(s) }

func containsKind(kinds []catalog.Kind, k catalog.Kind) bool { return slices.Contains(kinds, k) }

// optionReader reads a WITH list: each known option once, the rest refused with
// the nearest name.
type optionReader struct {
	what    string
	readers map[string]func(value string) error
}

func (r optionReader) read(opts []ast.Option) error {
	seen := map[string]bool{}
	for _, o := range opts {
		name := strings.ToLower(o.Name)
		fn, ok := r.readers[name]
		if !ok {
			var names []string
			for n := range r.readers {
				names = append(names, n)
			}
			slices.Sort(names)
			e := sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized option %q of a %s", o.Name, r.what).At(o.Position())
			if near := expr.NearestName(name, names); near != "" {
				return e.WithHint("Perhaps you meant %q.", near)
			}
			return e.WithHint("Options are %s.", strings.Join(names, ", "))
		}
		if seen[name] {
			return sqlerr.New(sqlerr.SyntaxError, "option %q specified more than once", o.Name).At(o.Position())
		}
		seen[name] = true
		if err := fn(optionText(o.Value)); err != nil {
			return sqlerr.From(err).At(o.Position())
		}
	}
	return nil
}

func durationOption(name string, into *time.Duration) func(string) error {
	return func(v string) error {
		d, err := parseDuration(v, time.Second)
		if err != nil {
			e := sqlerr.New(sqlerr.InvalidParameterValue, "option %q must be an interval that is not negative, not %q", name, v).
				WithHint("Say, for example, '10 minutes'.")
			if cause := sqlerr.From(err); cause.Code == sqlerr.InvalidParameterValue || cause.Code == sqlerr.DatetimeFieldOverflow {
				e = e.WithDetail("%s.", strings.ToUpper(cause.Message[:1])+cause.Message[1:]) // it has months, is too long or negative
			}
			return e
		}
		*into = d
		return nil
	}
}

func intOption(name string, lo, hi int64, into *int64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < lo || n > hi {
			return sqlerr.New(sqlerr.InvalidParameterValue, "option %q must be an integer between %d and %d, not %q", name, lo, hi, v)
		}
		*into = n
		return nil
	}
}

// columnsOption reads a comma-separated list of column names.
func columnsOption(name string, rel *catalog.Relation, into *[]int) func(string) error {
	return func(v string) error {
		for _, n := range strings.Split(v, ",") {
			n = strings.Trim(strings.TrimSpace(n), `"`)
			i := rel.Column(n)
			if i < 0 {
				return undefinedColumn(rel, n, name)
			}
			if slices.Contains(*into, i) {
				return sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in %s", n, name)
			}
			*into = append(*into, i)
		}
		return nil
	}
}

func undefinedColumn(rel *catalog.Relation, column, option string) error {
	var names []string
	for _, c := range rel.Columns {
		names = append(names, c.Name)
	}
	e := sqlerr.New(sqlerr.UndefinedColumn, "column %q named in %s does not exist", column, option)
	if near := expr.NearestName(column, names); near != "" {
		return e.WithHint("Perhaps you meant %q.", near)
	}
	return e
}
