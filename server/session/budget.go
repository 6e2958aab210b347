package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// groupOverhead is the bytes of a group's key, hash and place in the index.
const groupOverhead = 64

// manyRows is when sketches have become as large as they get.
const manyRows = 1 << 40

// checkGroupBudget refuses a view whose groups would not fit into memory, with what
// would (L-11): sketches are taken as large as they get, exact states as those of a
// group of one row, which is the least that they are.
func (s *Session) checkGroupBudget(groups int64, view *bind.ViewPlan, body string) error {
	budget := s.engine.MemoryBytes / int64(view.Stream.Stream.Options.Partitions)
	perGroup := s.bytesPerGroup(view.Fold)
	if perGroup <= budget/groups {
		return nil
	}
	e := sqlerr.New(sqlerr.ConfigurationLimitExceeded, "max_groups = %d needs up to %d MiB in each partition, more than its %d MiB", groups, (groups*perGroup)>>20, budget>>20)
	var fits []string
	if smaller := s.smallerSketches(view, body, budget/groups); smaller != "" {
		fits = append(fits, smaller)
	}
	if most := budget / perGroup; most > 0 {
		fits = append(fits, fmt.Sprintf("max_groups = %d", most))
	}
	return e.WithDetail("A group takes up to %d bytes.", perGroup).
		WithHint("%s", "It fits with "+strings.Join(append(fits, "more --memory for the server"), ", or with ")+".")
}

func (s *Session) bytesPerGroup(f *plan.Fold) int64 {
	rows := make([]int64, len(f.States))
	for i := range rows {
		rows[i] = 1
	}
	for _, a := range f.Aggs {
		if fn := s.engine.Registry.Lookup(a.Name); fn != nil && len(fn.Parameters) > 0 {
			rows[a.State] = manyRows
		}
	}
	total := int64(groupOverhead)
	for i, st := range f.States {
		total += st.Spec.BytesPerGroup(rows[i])
	}
	return total
}

// shrinking is the calls of a family in a view and the values of one parameter with
// which they take less memory, the largest first.
type shrinking struct {
	function, parameter string
	family              string
	steps               []shrunk
	at                  int // the chosen step; -1: as it is
}

type shrunk struct {
	value float64
	bytes int64 // of a group of the view, if all else stays
}

// smallerSketches says with which parameters a group of a view takes no more than so
// many bytes, "" if there are none.
func (s *Session) smallerSketches(view *bind.ViewPlan, body string, most int64) string {
	now := s.bytesPerGroup(view.Fold)
	var families []*shrinking
	for _, a := range view.Fold.Aggs {
		fn := s.engine.Registry.Lookup(a.Name)
		if fn == nil || slices.ContainsFunc(families, func(f *shrinking) bool { return f.family == fn.Family }) {
			continue
		}
		if f := s.shrink(fn, body, now); f != nil {
			families = append(families, f)
		}
	}
	total := now
	for total > most {
		var best *shrinking
		gain := int64(0)
		for _, f := range families { // the family that can give most gives next
			if left := f.bytes(now) - f.steps[len(f.steps)-1].bytes; left > gain {
				best, gain = f, left
			}
		}
		if best == nil {
			return ""
		}
		total -= best.bytes(now)
		best.at++
		total += best.bytes(now)
	}
	var out []string
	for _, f := range families {
		if f.at >= 0 {
			out = append(out, fmt.Sprintf("%s => %v in %s", f.parameter, f.steps[f.at].value, f.function))
		}
	}
	return strings.Join(out, " and ")
}

func (f *shrinking) bytes(now int64) int64 {
	if f.at < 0 {
		return now
	}
	return f.steps[f.at].bytes
}

// shrink finds the parameter of a function that makes the view smallest; nil if none
// makes it smaller.
func (s *Session) shrink(fn *agg.Function, body string, now int64) *shrinking {
	var best *shrinking
	for _, arg := range fn.Arguments() {
		p, ok := fn.Parameter(arg.Names[0])
		if !ok || !arg.Optional {
			continue
		}
		name := arg.Names[len(arg.Names)-1] // of "precision | rse" the one that says what it means
		if name != p.Name {
			p.Min, p.Max = 0.0005, 0.5
		}
		f := &shrinking{function: fn.Name, parameter: name, family: fn.Family, at: -1}
		for _, v := range roundNumbers(p.Min, p.Max) {
			if bytes, ok := s.bytesWith(fn, arg.Names, name, v, body); ok && bytes < now {
				f.steps = append(f.steps, shrunk{v, bytes})
			}
		}
		slices.SortFunc(f.steps, func(a, b shrunk) int { return int(b.bytes - a.bytes) })
		f.steps = slices.CompactFunc(f.steps, func(a, b shrunk) bool { return a.bytes == b.bytes })
		if n := len(f.steps); n > 0 && (best == nil || f.steps[n-1].bytes < best.steps[len(best.steps)-1].bytes) {
			best = f
		}
	}
	return best
}

// roundNumbers are 1, 2, 5, 10, 20, 50, … between two numbers.
func roundNumbers(lo, hi float64) []float64 {
	var out []float64
	for _, digits := range []string{"1", "2", "5"} {
		for exponent := -6; exponent < 9; exponent++ {
			if v, err := strconv.ParseFloat(fmt.Sprintf("%se%d", digits, exponent), 64); err == nil && v >= lo && v <= hi {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return out
}

// bytesWith binds the body of a view again, with a parameter of all calls of a family
// that have it, and returns the bytes of a group.
func (s *Session) bytesWith(fn *agg.Function, names []string, name string, value float64, body string) (int64, bool) {
	env := s.bindEnv(s.exprContext())
	query, err := env.Parse(body)
	if err != nil {
		return 0, false
	}
	ast.WalkExprs(query, func(e ast.Expr) bool {
		f, ok := e.(*ast.FuncCall)
		if !ok {
			return true
		}
		other := s.engine.Registry.Lookup(f.Name.Name)
		if other == nil || other.Family != fn.Family {
			return true
		}
		place := slices.IndexFunc(other.Arguments(), func(a agg.Argument) bool { return slices.Contains(a.Names, name) })
		if place < 0 {
			return true
		}
		literal := &ast.Literal{Pos: f.Pos, Kind: ast.IntegerLiteral, Text: strconv.FormatFloat(value, 'f', -1, 64)}
		if value != math.Trunc(value) {
			literal.Kind = ast.DecimalLiteral
		}
		f.Args = slices.DeleteFunc(slices.Clone(f.Args), func(a ast.Expr) bool {
			n, ok := a.(*ast.NamedArg)
			return ok && slices.Contains(names, n.Name)
		})
		if place < len(f.Args) {
			if _, named := f.Args[place].(*ast.NamedArg); !named {
				f.Args[place] = literal
				return true
			}
		}
		f.Args = append(f.Args, &ast.NamedArg{Pos: f.Pos, Name: name, Arg: literal})
		return true
	})
	changed, err := bind.ContinuousView(env, query, nil)
	if err != nil {
		return 0, false
	}
	return s.bytesPerGroup(changed.Fold), true
}

// readGroups reads the option max_groups of a view and checks that so many fit.
func (s *Session) readGroups(view *catalog.ContinuousView, asked int64, plan *bind.ViewPlan) error {
	if asked == 0 {
		return nil
	}
	view.MaxGroups = asked
	return s.checkGroupBudget(asked, plan, view.SQL)
}
