package agg

import (
	"fmt"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Accuracy is the largest error that values of an aggregate may have, in the unit
// of its family, and what becomes of the others. A value whose error is unknown is
// one of those.
type Accuracy struct {
	MaxError float64
	Beyond   Beyond
	Function string // for the error
	View     string // for the error
}

// Beyond is what becomes of a value whose error is larger.
type Beyond uint8

// What may become of such a value.
const (
	Keep   Beyond = iota // nothing: its row has to say so
	ToNull               // it is NULL, and so are its bounds
	Fail                 // the statement fails with TY005
)

// AccuracyOf returns the accuracy that values of a finaliser keep, and whether there is
// one.
func AccuracyOf(f Finaliser) (Accuracy, bool) {
	w, ok := f.(within)
	return w.accuracy, ok
}

// Exceeded reports whether the declared error of row i is larger, or unknown.
func (a Accuracy) Exceeded(errors *types.Vector, i int) bool {
	return errors.IsNull(i) || errors.Floats[i] > a.MaxError
}

// Within returns a finaliser whose values keep the accuracy; one of exact values
// is returned as it is. The declared errors are those of f.
func Within(f Finaliser, a Accuracy) Finaliser {
	if !f.Approximate() {
		return f
	}
	return within{f, a}
}

type within struct {
	Finaliser
	accuracy Accuracy
}

// String implements Finaliser.
func (w within) String() string {
	return fmt.Sprintf("%s within %v", w.Finaliser.String(), w.accuracy.MaxError)
}

// Finalise implements Finaliser.
func (w within) Finalise(states States, n int, confidence float64, out *types.Vector, bounds *Bounds) error {
	if w.accuracy.Beyond == Keep {
		return w.Finaliser.Finalise(states, n, confidence, out, bounds)
	}
	t := w.Type()
	values := types.NewVector(t, n)
	b := &Bounds{Lo: types.NewVector(t, n), Hi: types.NewVector(t, n), Error: types.NewVector(types.Of(types.Float8), n)}
	if err := w.Finaliser.Finalise(states, n, confidence, values, b); err != nil {
		return err
	}
	for i := range n {
		exceeded := w.accuracy.Exceeded(b.Error, i)
		if exceeded && w.accuracy.Beyond == Fail {
			return w.accuracy.Error(b.Error, i)
		}
		appendUnless(exceeded, out, values, i)
		if bounds != nil {
			appendUnless(exceeded, bounds.Lo, b.Lo, i)
			appendUnless(exceeded, bounds.Hi, b.Hi, i)
			appendUnless(false, bounds.Error, b.Error, i)
		}
	}
	return nil
}

func appendUnless(null bool, to, from *types.Vector, i int) {
	if null {
		to.AppendNull()
	} else {
		to.AppendDatum(from.Datum(i))
	}
}

// Error is that of a statement that reads row i, whose error is larger or unknown.
func (a Accuracy) Error(errors *types.Vector, i int) error {
	what := "unknown"
	if !errors.IsNull(i) {
		what = fmt.Sprintf("%.4g", errors.Floats[i])
	}
	return sqlerr.New(sqlerr.AccuracyExceeded, "the error of %s in %q is %s, max_error is %v", a.Function, a.View, what, a.MaxError).
		WithHint("Read other rows, SET confidence to less, or ALTER CONTINUOUS VIEW %s SET (max_error = …, on_bound_exceeded = 'label').", a.View)
}
