package sketchfn_test

import (
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Every plan keeps the error that was asked for, and its call can be made.
func TestPlansKeepTheError(t *testing.T) {
	for _, name := range sketchfn.Planned() {
		for _, e := range []float64{0.02, 0.1} {
			for _, confidence := range []float64{0.8, 0.95} {
				p, err := sketchfn.PlanFor(registry(), name, e, confidence)
				if err != nil {
					if sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue || e > 0.05 {
						t.Errorf("%s %v at %v: %v", name, e, confidence, err)
					}
					continue
				}
				if p.Error > e || p.Error <= 0 || p.Bytes <= 0 || !strings.HasPrefix(p.Call, p.Function+"(x") {
					t.Errorf("%s %v at %v: %+v", name, e, confidence, p)
				}
			}
		}
	}
}

func TestPlansAreTheSmallest(t *testing.T) {
	p, err := sketchfn.PlanFor(registry(), "hll", 0.01, 0.6826894921)
	if err != nil || p.Parameters != "precision = 14" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = sketchfn.PlanFor(registry(), "approx_quantile", 0.0133, 0.99)
	if err != nil || p.Parameters != "k = 200" || p.Call != "approx_quantile(x, 0.5, 200)" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	for name, want := range map[string]sqlerr.Code{"hll": sqlerr.InvalidParameterValue, "count": sqlerr.UndefinedObject, "": sqlerr.UndefinedObject} {
		if _, err := sketchfn.PlanFor(registry(), name, 1e-6, 0.95); sqlerr.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sketchfn.PlanFor(registry(), "hll", 2, 0.95); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Errorf("%v", err)
	}
}
