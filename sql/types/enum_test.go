package types_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// TestEnumPositions: a label that is put between two others has a position between
// theirs, and there is room for thirty at one place.
func TestEnumPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var positions []int64
		for range rapid.IntRange(1, 60).Draw(t, "labels") {
			at := rapid.IntRange(0, len(positions)).Draw(t, "at")
			lower, upper := int64(math.MinInt64), int64(math.MaxInt64)
			if at > 0 {
				lower = positions[at-1]
			}
			if at < len(positions) {
				upper = positions[at]
			}
			p, ok := types.EnumBetween(lower, upper)
			if ok != (upper-lower > 1 || upper-lower < 0) || ok && (p <= lower || p >= upper) {
				t.Fatalf("between %d and %d: %d, %v", lower, upper, p, ok)
			}
			if ok {
				positions = slices.Insert(positions, at, p)
			}
		}
	})
	upper := int64(types.EnumSpacing)
	for n := range 32 {
		p, ok := types.EnumBetween(0, upper)
		if !ok {
			t.Fatalf("no room after %d labels", n)
		}
		upper = p
	}
	if p, ok := types.EnumBetween(0, upper); ok {
		t.Errorf("room at %d between 0 and %d", p, upper)
	}
}

// TestEnumForms: text and binary form of a value are its label, those of a session
// whose transaction renamed it the new one.
func TestEnumForms(t *testing.T) {
	const o = types.LastEnum - 1
	mood := &types.Enum{
		OID: o, Name: "mood", Array: "_mood", Shown: "mood",
		Labels:  []types.EnumLabel{{Position: 1, Text: "sad"}, {Position: 5, Text: "happy"}},
		Unsafe:  []types.EnumLabel{{Position: 3, Text: "ok"}},
		Renamed: []types.EnumLabel{{Position: 5, Text: "glad"}},
	}
	types.PublishEnum(mood)
	defer types.ForgetEnum(o)
	within := &types.TextOptions{Enums: map[types.OID]*types.Enum{o: {OID: o, Labels: []types.EnumLabel{{Position: 1, Text: "sad"}, {Position: 5, Text: "glad"}}}}}
	for label, want := range map[string]int64{"sad": 1, "happy": 5, "glad": 5} {
		for _, read := range []func() (types.Datum, error){
			func() (types.Datum, error) { return types.Parse(types.Of(o), []byte(label), nil) },
			func() (types.Datum, error) { return types.ParseBinary(types.Of(o), []byte(label)) },
		} {
			if d, err := read(); err != nil || d.Int != want {
				t.Errorf("%s is %d, %v, want %d", label, d.Int, err, want)
			}
		}
	}
	for label, want := range map[string]sqlerr.Code{"ok": sqlerr.UnsafeNewEnumValue, "Sad": sqlerr.InvalidTextRepresentation} {
		if _, err := types.Parse(types.Of(o), []byte(label), nil); sqlerr.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", label, err, want)
		}
	}
	happy := types.Datum{Type: types.Of(o), Int: 5}
	both := types.NewArray(types.Of(o), []types.Datum{happy, types.NullOf(types.Of(o))}).Datum()
	for opts, want := range map[*types.TextOptions]string{nil: "happy", within: "glad"} {
		if got := types.FormatDatum(happy, opts); got != want {
			t.Errorf("text %s, want %s", got, want)
		}
		if got := string(types.AppendDatumBinary(nil, happy, opts)); got != want {
			t.Errorf("binary %s, want %s", got, want)
		}
		if got := types.FormatDatum(both, opts); got != "{"+want+",NULL}" {
			t.Errorf("array %s of %s", got, want)
		}
		if got := types.AppendDatumBinary(nil, both, opts); !bytes.Contains(got, []byte(want)) {
			t.Errorf("binary array %q of %s", got, want)
		}
	}
	if got := types.Of(o + 1).String(); got != "mood[]" {
		t.Errorf("array type %s", got)
	}
	types.ForgetEnum(o)
	if got := types.FormatDatum(happy, nil); got != "5" {
		t.Errorf("a value without its type is %s", got)
	}
}
