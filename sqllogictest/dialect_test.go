package sqllogictest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/server"
)

func script(t *testing.T, text string) *Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.slt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadScript(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRunnerNotices that wrong expectations fail, each for its reason.
func TestRunnerNotices(t *testing.T) {
	l, err := OpenLocal(server.Config{DataDir: t.TempDir(), SegmentBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	for want, text := range map[string]string{
		"":                     "query IT\nSELECT 1, 'a b'\n----\n1\ta b\n",
		"column types I":       "query T\nSELECT 1\n----\n1\n",
		"got\n1\nexpected\n2":  "query I\nSELECT 1\n----\n2\n",
		"expected SQLSTATE":    "statement error 42601\nSELECT 1/0\n",
		"succeeded":            "statement error\nSELECT 1\n",
		"error: 22012":         "statement ok\nSELECT 1/0\n",
		"no such notice":       "statement notice x\nSELECT 1\n",
		"differs from":         "query I nosort a\nSELECT 1\n----\n1\n\nquery I nosort a\nSELECT 2\n----\n2\n",
		"values hashing to":    "query I\nSELECT 1\n----\n1 values hashing to 0\n",
		"expected\n1\n1\n1\n1": "loop i 0 1\n\nquery I\nSELECT $i\n----\n1\n1\n1\n1\n\nendloop\n",
	} {
		o, err := Run(t.Context(), script(t, text), l, Options{Engine: "tally"})
		switch {
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case want == "" && o.Failed > 0:
			t.Errorf("%q: %v", text, o.Failures)
		case want != "" && (o.Failed != 1 || !strings.Contains(o.Failures[0].Text, want)):
			t.Errorf("%q: %v, want %q", text, o.Failures, want)
		}
	}
	s := script(t, "# kept\nquery\nSELECT x FROM (VALUES (2), (1)) v(x)\n----\n\nquery\nSELECT 1/0\n----\n\nskipif tally\nquery\nSELECT 1\n----\n")
	if _, err := Run(t.Context(), s, l, Options{Engine: "tally", Rewrite: true}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(s.Path)
	want := "# kept\nquery I rowsort\nSELECT x FROM (VALUES (2), (1)) v(x)\n----\n1\n2\n\nstatement error 22012\nSELECT 1/0\n\nskipif tally\nquery\nSELECT 1\n----\n"
	if err != nil || string(got) != want {
		t.Errorf("rewritten:\n%s%v", got, err)
	}
}

func TestBadScripts(t *testing.T) {
	for _, text := range []string{"sleep 1\n", "nosuch\n", "loop i 0 1\n", "endloop\n", "statement\n", "statement ok\n\n", "query X\nSELECT 1\n", "include nosuch\n"} {
		path := filepath.Join(t.TempDir(), "x.slt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadScript(path); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
