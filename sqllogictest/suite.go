package sqllogictest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Configuration is one way to run every script.
type Configuration struct {
	Name         string
	Partitions   int
	RestartOften bool
}

// Configurations are those that every script of ours passes in. Scripts that do
// not name $partitions run with one number of partitions only.
var Configurations = []Configuration{
	{Name: "one node", Partitions: 4},
	{Name: "one partition", Partitions: 1},
	{Name: "seven partitions", Partitions: 7},
	{Name: "restarted between statements", Partitions: 4, RestartOften: true},
}

// runs reports whether a script says something new in a configuration.
func (c Configuration) runs(s *Script) bool {
	return c.Partitions == Configurations[0].Partitions || s.Mentions("$partitions")
}

// Files returns the scripts under paths in order: files as they are, and all
// *.slt below folders.
func Files(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if path == p || strings.HasSuffix(path, ".slt") {
				out = append(out, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Suite runs scripts in configurations.
type Suite struct {
	Files          []string
	Configurations []Configuration
	Options        Options // Engine, Rewrite, Timeout
	// Open makes the server of one script.
	Open     Opener
	Results  io.Writer // a line for each file
	Progress io.Writer // what runs now; may be nil
}

// Run runs all and returns the sum. Failures are written to Results.
func (s *Suite) Run(ctx context.Context) (Outcome, error) {
	var total Outcome
	for _, c := range s.Configurations {
		for i, file := range s.Files {
			script, err := ReadScript(file)
			if err != nil {
				return total, err
			}
			if len(s.Configurations) > 1 && !c.runs(script) {
				continue
			}
			if s.Progress != nil {
				fmt.Fprintf(s.Progress, "%s: %d of %d: %s\n", c.Name, i+1, len(s.Files), file)
			}
			o, err := s.one(ctx, script, c)
			total.Passed, total.Failed, total.Skipped = total.Passed+o.Passed, total.Failed+o.Failed, total.Skipped+o.Skipped
			total.Failures = append(total.Failures, o.Failures...)
			for _, f := range o.Failures {
				fmt.Fprintf(s.Results, "FAIL %s\n", f)
			}
			if err != nil {
				return total, fmt.Errorf("%s (%s): %w", file, c.Name, err)
			}
			verdict := "ok  "
			if o.Failed > 0 {
				verdict = "FAIL"
			}
			fmt.Fprintf(s.Results, "%s %s (%s): %d passed, %d failed\n", verdict, file, c.Name, o.Passed, o.Failed)
		}
	}
	return total, nil
}

func (s *Suite) one(ctx context.Context, script *Script, c Configuration) (Outcome, error) {
	target, closeTarget, err := s.Open(ctx)
	if err != nil {
		return Outcome{}, err
	}
	opts := s.Options
	opts.RestartOften = c.RestartOften
	opts.Variables = map[string]string{"partitions": strconv.Itoa(c.Partitions)}
	o, err := Run(ctx, script, target, opts)
	return o, errors.Join(err, closeTarget())
}
