package agg_test

import (
	"testing"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

func TestEnvelopeRules(t *testing.T) {
	float, text, i8 := types.Of(types.Float8), types.Of(types.Text), types.Of(types.Int8)
	f := types.FloatDatum
	s := types.TextDatum
	n := func(x int64) types.Datum { return types.IntDatum(types.Int8, x) }
	order := []string{"complete", "stale", "partial"}
	for _, c := range []struct {
		spec       agg.EnvelopeSpec
		a, b, want types.Datum
	}{
		{agg.EnvelopeSpec{Rule: agg.Smallest, Type: float}, f(1), f(0.5), f(0.5)},
		{agg.EnvelopeSpec{Rule: agg.Smallest, Type: float}, f(1), types.NullOf(float), f(1)},
		{agg.EnvelopeSpec{Rule: agg.Largest, Type: i8}, n(3), n(7), n(7)},
		{agg.EnvelopeSpec{Rule: agg.LargestKnown, Type: float}, f(0.1), f(0.2), f(0.2)},
		{agg.EnvelopeSpec{Rule: agg.LargestKnown, Type: float}, f(0.1), types.NullOf(float), types.NullOf(float)},
		{agg.EnvelopeSpec{Rule: agg.AllBits, Type: i8}, n(1), n(4), n(5)},
		{agg.EnvelopeSpec{Rule: agg.UnionBound, Type: float}, f(0.75), f(0.5), f(0.25)},
		{agg.EnvelopeSpec{Rule: agg.UnionBound, Type: float}, f(0.25), f(0.25), f(0)},
		{agg.EnvelopeSpec{Rule: agg.WorstOf, Type: text, Order: order}, s("complete"), s("partial"), s("partial")},
		{agg.EnvelopeSpec{Rule: agg.WorstOf, Type: text, Order: order}, s("stale"), s("complete"), s("stale")},
		{agg.EnvelopeSpec{Rule: agg.WorstOf, Type: text, Order: order}, s("unheard of"), s("partial"), s("unheard of")},
		{agg.EnvelopeSpec{Rule: agg.WorstOf, Type: text}, s("cut 1"), s("cut 2"), s("cut 2")},
	} {
		for _, got := range []types.Datum{c.spec.Merge(c.a, c.b), c.spec.Merge(c.b, c.a)} {
			if got.Null != c.want.Null || got.Float != c.want.Float || got.Int != c.want.Int || string(got.Bytes) != string(c.want.Bytes) {
				t.Errorf("rule %d of %+v and %+v: got %+v, want %+v", c.spec.Rule, c.a, c.b, got, c.want)
			}
		}
	}
}
