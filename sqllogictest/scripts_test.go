package sqllogictest

import (
	"context"
	"strings"
	"testing"

	"github.com/tallydb/tallydb/server"
)

// TestScripts runs every script in every configuration on a node in this process.
func TestScripts(t *testing.T) {
	files, err := Files([]string{"testdata"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Configurations {
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range files {
				script, err := ReadScript(f)
				if err != nil {
					t.Fatal(err)
				}
				if !c.runs(script) {
					continue
				}
				if slow && c.RestartOften && strings.Contains(f, "/pg/") {
					continue // races of plain SQL are found without a restart after each statement
				}
				t.Run(f, func(t *testing.T) {
					t.Parallel()
					suite := &Suite{Options: Options{Engine: "tally"}, Open: func(context.Context) (Target, func() error, error) {
						l, err := OpenLocal(server.Config{DataDir: t.TempDir(), SegmentBytes: 1 << 20})
						return l, l.Close, err
					}}
					o, err := suite.one(t.Context(), script, c)
					if err != nil {
						t.Fatal(err)
					}
					for _, x := range o.Failures {
						t.Error(x)
					}
				})
			}
		})
	}
}
