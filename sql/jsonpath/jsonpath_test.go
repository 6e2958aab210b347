package jsonpath_test

import (
	"strings"
	"testing"

	"github.com/tallydb/tallydb/sql/jsonpath"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// FuzzPath: any text is a path or an error, and a path gives items or an error.
func FuzzPath(f *testing.F) {
	for _, s := range []string{
		"$", "$.a[*] ? (@ > 1)", "strict $.**{1 to last}.\"k\"", "$[0, 1 to last]", "-$.a + 2 * $x", "$ ? (@.a like_regex \"^x\" flag \"i\")",
		"!(exists($.a)) && $.b starts with \"c\"", "$.a.keyvalue().key", "($.a == 1) is unknown",
	} {
		f.Add(s)
	}
	doc, err := types.ParseJSON([]byte(`{"a":[1,{"b":"x"},null],"k":{"k":[[2]]}}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := jsonpath.Parse(s)
		if err != nil {
			return
		}
		if _, err := p.Query(doc, doc); err != nil && sqlerr.CodeOf(err) == sqlerr.InternalError {
			t.Fatalf("%q: %v", s, err)
		}
	})
}

func TestDeepPathsAreRefused(t *testing.T) {
	for _, s := range []string{strings.Repeat("(", 10_000) + "$", strings.Repeat("-", 10_000) + "1", strings.Repeat("!", 10_000) + "($)"} {
		if _, err := jsonpath.Parse(s); err == nil {
			t.Errorf("%.10q… was parsed", s)
		}
	}
}

func TestItemsAreBounded(t *testing.T) {
	doc, err := types.ParseJSON([]byte("[" + strings.Repeat("[1,2,3,4,5,6,7,8,9],", 5000) + "0]"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := jsonpath.Parse("$.**.**.**.**.**.**")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Query(doc, nil); sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		t.Fatalf("got %v", err)
	}
}
