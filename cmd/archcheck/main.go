// Command archcheck fails when a package imports upward, when a vendor is
// imported anywhere but through its door, or when a package has no
// documentation.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const module = "github.com/tallydb/tallydb/"

// vocabulary packages may be imported by anyone and import only each other.
var vocabulary = set("catalog/id", "sql/types", "sql/sqlerr", "sql/keyhash", "stream/eventtime", "distsql/coverage")

// layers are the top-level folders from the bottom up; a package may import its
// own folder and any folder before it.
var layers = []string{"storage", "privacy", "catalog", "sql", "sketchfn", "stream", "distsql", "server", "sqllogictest", "cmd"}

// doors are the packages that may import each vendor.
var doors = map[string][]string{
	"github.com/cockroachdb/pebble":    {"storage/kv", "storage/vfs"},
	"github.com/twmb/franz-go":         {"storage/ingestlog/kafkalog"},
	"github.com/pingcap/tidb":          {"sql/parse"},
	"github.com/hashicorp/serf":        {"distsql/cluster"},
	"github.com/hashicorp/raft":        {"distsql/cluster"},
	"gonum.org/v1/gonum":               {"sketchfn/limits", "sketchfn/matrix"},
	"github.com/jackc/pgx/v5/pgproto3": {"server/pgwire"},
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Doc        string
	GoFiles    []string
}

func main() {
	bad, err := check()
	if err != nil {
		fmt.Fprintln(os.Stderr, "archcheck:", err)
		os.Exit(2)
	}
	for _, b := range bad {
		fmt.Println(b)
	}
	if len(bad) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with the packages of the module.
func check() ([]string, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Doc,GoFiles", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var bad []string
	for dec := json.NewDecoder(out); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		from := strings.TrimPrefix(p.ImportPath, module)
		if p.Doc == "" && len(p.GoFiles) > 0 {
			bad = append(bad, from+" has no package documentation")
		}
		for _, imp := range p.Imports {
			if why := violation(from, imp); why != "" {
				bad = append(bad, fmt.Sprintf("%s imports %s: %s", from, imp, why))
			}
		}
	}
	return bad, cmd.Wait()
}

// violation explains why from must not import imp, or returns "".
func violation(from, imp string) string {
	for vendor, allowed := range doors {
		if (imp == vendor || strings.HasPrefix(imp, vendor+"/")) && !contains(allowed, from) {
			return "only " + strings.Join(allowed, " and ") + " may import it"
		}
	}
	to, own := strings.CutPrefix(imp, module)
	switch {
	case !own || vocabulary[to]:
		return ""
	case vocabulary[from]:
		return "a vocabulary package imports only vocabulary"
	case rank(from) < 0:
		return "the folder " + top(from) + " has no layer"
	case rank(to) > rank(from):
		return fmt.Sprintf("%s is above %s", top(to), top(from))
	}
	return ""
}

func top(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

// rank returns the layer of a package, -1 if its folder has none.
func rank(path string) int {
	for i, l := range layers {
		if l == top(path) {
			return i
		}
	}
	return -1
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func set(paths ...string) map[string]bool {
	s := make(map[string]bool, len(paths))
	for _, p := range paths {
		s[p] = true
	}
	return s
}
