package expr

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPiecesMatchAsPatterns: where a pattern has pieces, they decide as it does.
func TestPiecesMatchAsPatterns(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aab%_ä\\")), 0, 9, -1)
		s, p := text.Draw(t, "value"), text.Draw(t, "pattern")
		pieces, ok := likePieces([]byte(p))
		if !ok {
			return
		}
		taken++
		want, err := likeMatch(s, p, '\\', false)
		if err != nil {
			t.Fatal(err)
		}
		if got := matchPieces([]byte(s), pieces); got != want {
			t.Fatalf("%q LIKE %q: %v, want %v", s, p, got, want)
		}
	})
	if taken == 0 {
		t.Fatal("no pattern had pieces")
	}
}
