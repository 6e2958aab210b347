package bind_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/bind/bindtest"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

var lexemes = regexp.MustCompile(`'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_]*|[0-9.]+|\s+|[<>=!]+|.`)

var isWord = regexp.MustCompile(`^[A-Za-z_]`)

// TestMutatedStatements binds statements in which words were exchanged, repeated or left
// out. Whatever they say, even of themselves, is bound or refused: nothing panics, runs
// out of stack or is reported as our own mistake.
func TestMutatedStatements(t *testing.T) {
	statements := corpus(t)
	rounds := 60_000
	if testing.Short() {
		rounds = 4_000
	}
	env := bindtest.Env()
	rng := rand.New(rand.NewPCG(1, 2))
	bound := 0
	for range rounds {
		sql := mutated(rng, statements)
		list, err := parse.Parse(sql)
		if err != nil {
			continue
		}
		for _, p := range list {
			_, err := bind.Bind(env, p.Statement, nil)
			if sqlerr.CodeOf(err) == sqlerr.InternalError {
				t.Errorf("%s\n%v", sql, err)
			}
			bound++
		}
	}
	if bound < rounds/20 {
		t.Errorf("only %d of %d statements were syntax", bound, rounds)
	}
}

// corpus returns the statements of the golden files and of the SQL tests.
func corpus(t *testing.T) [][]string {
	t.Helper()
	var texts []string
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			texts = append(texts, d.Input)
			return d.Expected
		})
	})
	scripts, err := filepath.Glob("../../sqllogictest/testdata/pg/*.slt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range strings.Split(string(data), "\n\n") {
			head, sql, ok := strings.Cut(record, "\n")
			if sql, _, _ = strings.Cut(sql, "\n----"); ok && strings.HasPrefix(head, "query") && len(sql) < 400 {
				texts = append(texts, sql)
			}
		}
	}
	var out [][]string
	for _, text := range texts {
		out = append(out, lexemes.FindAllString(text, -1))
	}
	return out
}

// mutated is a statement with up to three changes, some with words of another one.
func mutated(rng *rand.Rand, statements [][]string) string {
	words := append([]string(nil), statements[rng.IntN(len(statements))]...)
	alike := func(a, b string) bool { // both are words, or both are something else
		return isWord.MatchString(a) == isWord.MatchString(b)
	}
	for range 1 + rng.IntN(3) {
		if len(words) < 2 {
			break
		}
		i, j := rng.IntN(len(words)), rng.IntN(len(words))
		other := statements[rng.IntN(len(statements))]
		switch rng.IntN(9) {
		case 0, 1, 2, 3, 4: // a name in the place of another, perhaps of another statement
			for k := 0; k < 20 && (!isWord.MatchString(words[i]) || words[i] == words[j] || !alike(words[i], words[j])); k++ {
				i, j = rng.IntN(len(words)), rng.IntN(len(words))
			}
			words[i] = words[j]
			if word := other[rng.IntN(max(1, len(other)))]; rng.IntN(3) == 0 && alike(words[i], word) {
				words[i] = word
			}
		case 5:
			words = append(words[:i:i], words[i+1:]...)
		case 6:
			words[i], words[j] = words[j], words[i]
		case 7: // a part of another statement
			if len(other) > 0 {
				k := rng.IntN(len(other))
				words = append(words[:i:i], append(append([]string{" "}, other[k:min(k+8, len(other))]...), words[i:]...)...)
			}
		case 8: // a part of itself, in parentheses
			part := append([]string(nil), words[min(i, j):max(i, j)]...)
			words = append(words[:i:i], append(append([]string{" ("}, part...), append([]string{") "}, words[i:]...)...)...)
		}
	}
	return strings.Join(words, "")
}
