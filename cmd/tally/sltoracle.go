package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tallydb/tallydb/sqllogictest"
)

// runComparison is "tally slt --oracle".
func runComparison(cmd *cobra.Command, f sltFlags, paths []string) (err error) {
	c := &sqllogictest.Comparison{
		Engine: "postgresql", Oracle: remoteOpener(f.oracle), Timeout: f.timeout,
	}
	if f.connect != "" {
		c.Target = remoteOpener(f.connect)
	} else {
		shared := &sharedServer{}
		defer shared.close() //nolint:errcheck // its data is thrown away; each script has seen whether it answers
		c.Target = shared.open
	}
	if !f.quiet {
		c.Progress = cmd.ErrOrStderr()
	}
	if f.failures != "" {
		file, err := os.Create(f.failures)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		c.Failures = file
	}
	var counts []*sqllogictest.SuiteCount
	for _, path := range paths {
		count, err := c.Run(cmd.Context(), path)
		if err != nil {
			return err
		}
		counts = append(counts, count)
	}
	writeComparison(cmd.OutOrStdout(), counts)
	return nil
}

// sharedServer gives each script a database on one child server, which is faster
// than a server for each. A new one starts after some databases, and after one
// that does not answer.
type sharedServer struct {
	server    sqllogictest.Target
	end       func() error
	databases int
}

// databasesPerServer bounds what a server has to keep for scripts that ended.
const databasesPerServer = 200

func (s *sharedServer) close() error {
	if s.end == nil {
		return nil
	}
	end := s.end
	s.server, s.end, s.databases = nil, nil, 0
	return end()
}

// open implements sqllogictest.Opener.
func (s *sharedServer) open(ctx context.Context) (sqllogictest.Target, func() error, error) {
	if s.databases == databasesPerServer {
		if err := s.close(); err != nil {
			return nil, nil, err
		}
	}
	if s.server == nil {
		var err error
		if s.server, s.end, err = openSLTServer(ctx); err != nil {
			return nil, nil, err
		}
	}
	s.databases++
	db, err := sqllogictest.OpenDatabase(ctx, s.server.URL())
	return db, func() error { return s.answers(ctx) }, err
}

// answers ends a server that does not answer any more.
func (s *sharedServer) answers(ctx context.Context) error {
	err := sqllogictest.Ping(ctx, s.server.URL())
	if err == nil {
		return nil
	}
	return errors.Join(err, s.close())
}

// writeComparison writes a line for each suite and then what fails, the most
// frequent first.
func writeComparison(out io.Writer, counts []*sqllogictest.SuiteCount) {
	fmt.Fprintln(out, "| suite | files | not read | records | skipped | as PostgreSQL | of these the same | share | timed out |")
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, c := range counts {
		share := 100.0
		if c.Expected > 0 {
			share = 100 * float64(c.Same) / float64(c.Expected)
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %d | %.2f %% | %d |\n",
			c.Name, c.Files, c.Unparsed, c.Records, c.Skipped, c.Expected, c.Same, share, c.TimedOut)
	}
	for _, c := range counts {
		fmt.Fprintf(out, "\n%s:\n", c.Name)
		for _, class := range c.Worst() {
			e := class.Example
			sql := strings.Join(strings.Fields(e.SQL), " ")
			const longest = 160
			if len(sql) > longest {
				sql = sql[:longest] + "…"
			}
			fmt.Fprintf(out, "%6d  %s\n        %s:%d: %s\n", class.Records, class.Name, e.File, e.Line, sql)
		}
	}
}
