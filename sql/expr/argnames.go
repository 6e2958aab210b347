package expr

import "github.com/tallydb/tallydb/sql/types"

// Parameter is an argument that a call may name; Default is nil where it must be given.
type Parameter struct {
	Name    string
	Default Expr
}

// Parameters returns the names of a function's arguments, nil where they have none.
func Parameters(function string) []Parameter { return parameters[function] }

var parameters = func() map[string][]Parameter {
	zero, zeroSeconds, yes, no := NewConst(types.IntDatum(types.Int4, 0)), NewConst(types.FloatDatum(0)), NewConst(types.BoolDatum(true)), NewConst(types.BoolDatum(false))
	needed := func(names ...string) []Parameter {
		out := make([]Parameter, len(names))
		for i, n := range names {
			out[i].Name = n
		}
		return out
	}
	optional := func(list []Parameter, name string, value Expr) []Parameter {
		return append(list, Parameter{name, value})
	}
	interval := []Parameter{}
	for _, n := range []string{"years", "months", "weeks", "days", "hours", "mins"} {
		interval = optional(interval, n, zero)
	}
	return map[string][]Parameter{
		"make_interval":    optional(interval, "secs", zeroSeconds),
		"make_date":        needed("year", "month", "day"),
		"make_time":        needed("hour", "min", "sec"),
		"make_timestamp":   needed("year", "month", "mday", "hour", "min", "sec"),
		"make_timestamptz": needed("year", "month", "mday", "hour", "min", "sec", "timezone"),
		"jsonb_set":        optional(needed("jsonb_in", "path", "replacement"), "create_if_missing", yes),
		"jsonb_insert":     optional(needed("jsonb_in", "path", "replacement"), "insert_after", no),
	}
}()
