package session

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// accuracyOptions reads the options of an accuracy contract; resolve checks them
// together.
type accuracyOptions struct {
	max    *float64
	action string
}

func (a *accuracyOptions) readers() map[string]func(string) error {
	return map[string]func(string) error{
		"max_error": func(v string) error {
			x, err := strconv.ParseFloat(v, 64)
			if err != nil || !(x >= 0 && x <= 1) || math.IsNaN(x) {
				return sqlerr.New(sqlerr.InvalidParameterValue, "option %q must be a number between 0 and 1, not %q", "max_error", v)
			}
			a.max = &x
			return nil
		},
		"on_bound_exceeded": func(v string) error {
			switch a.action = strings.ToLower(v); a.action {
			case catalog.LabelExceeded, catalog.NullExceeded, catalog.FailExceeded, catalog.ExactExceeded:
				return nil
			}
			return sqlerr.New(sqlerr.InvalidParameterValue, "option %q must be 'label', 'null', 'error' or 'exact', not %q", "on_bound_exceeded", v)
		},
	}
}

// resolve makes the contract of the options, over the one that there was.
func (a *accuracyOptions) resolve(old *catalog.Accuracy) (*catalog.Accuracy, error) {
	if a.max == nil && a.action == "" {
		return old, nil
	}
	out := catalog.Accuracy{OnExceeded: catalog.LabelExceeded}
	if old != nil {
		out = *old
	} else if a.max == nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "option %q needs %q", "on_bound_exceeded", "max_error")
	}
	if a.max != nil {
		out.MaxError = *a.max
	}
	if a.action != "" {
		out.OnExceeded = a.action
	}
	return &out, nil
}

// alterContinuousView runs ALTER CONTINUOUS VIEW name SET and RESET of what changes
// no state: how accurate and how fresh results have to be.
func (s *Session) alterContinuousView(_ context.Context, x *ast.AlterContinuousView) (string, error) {
	rel, err := s.lookup(x.Name)
	if err != nil {
		return "", err
	}
	if rel.ContinuousView == nil {
		return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a continuous view", rel.Name).At(x.Name.Position())
	}
	if err := s.mustOwn(rel); err != nil {
		return "", err
	}
	var accuracy accuracyOptions
	var staleness time.Duration
	readers := accuracy.readers()
	readers["max_staleness"] = durationOption("max_staleness", &staleness)
	options := x.Options
	switch x.Action {
	case ast.SetOptions:
	case ast.ResetOptions:
		for name := range readers {
			readers[name] = func(string) error { return nil }
		}
	default:
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER CONTINUOUS VIEW is not supported").
			WithHint("Supported are SET and RESET of max_error, on_bound_exceeded and max_staleness.").At(x.Position())
	}
	if err := (optionReader{"continuous view that can be changed", readers}).read(options); err != nil {
		return "", err
	}
	named := func(name string) bool {
		return slices.ContainsFunc(options, func(o ast.Option) bool { return strings.EqualFold(o.Name, name) })
	}
	plan, err := bind.ViewOf(s.bindEnv(s.exprContext()), rel)
	if err != nil {
		return "", err
	}
	_, err = s.engine.Catalog.Update(s.tenant.Database, rel.ID, func(r *catalog.Relation) error {
		v := *r.ContinuousView
		r.ContinuousView = &v
		if named("max_staleness") {
			v.MaxStaleness = staleness
		}
		if x.Action == ast.ResetOptions {
			switch {
			case named("max_error"):
				v.Accuracy = nil
			case named("on_bound_exceeded") && v.Accuracy != nil:
				v.Accuracy = &catalog.Accuracy{MaxError: v.Accuracy.MaxError, OnExceeded: catalog.LabelExceeded}
			}
			return nil
		}
		changed, err := accuracy.resolve(v.Accuracy)
		if err == nil {
			err = plan.CheckAccuracy(changed)
		}
		v.Accuracy = changed
		return err
	})
	return "ALTER CONTINUOUS VIEW", err
}
