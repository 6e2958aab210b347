package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tallydb/tallydb/sqllogictest"
)

// sltFlags are the flags of "tally slt".
type sltFlags struct {
	connect    string
	restart    bool
	partitions int
	engine     string
	rewrite    bool
	quiet      bool
	oracle     string
	failures   string
	timeout    time.Duration
}

// sltCommand is "tally slt".
func sltCommand() *cobra.Command {
	var f sltFlags
	cmd := &cobra.Command{
		Use:   "slt PATH...",
		Short: "Run SQL tests (see sqllogictest/README.md)",
		Long: "Run SQL tests: files, or all *.slt files of folders. Without --partitions and\n" +
			"--restart-every-statement every file runs in all configurations, each on a\n" +
			"server of its own that is started for it.\n\n" +
			"With --oracle each PATH is a suite of another product: every record runs on the\n" +
			"oracle and on a server of ours, and those that the oracle answers as the suite\n" +
			"expects are counted, and of these those that we answer as the oracle does.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSLT(cmd, f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.connect, "connect", "", "postgres:// URL of a running server to test instead; each file gets a database")
	fl.StringVar(&f.engine, "engine", "tally", "name of the server under test in skipif and onlyif")
	fl.BoolVar(&f.restart, "restart-every-statement", false, "restart the server between statements")
	fl.IntVar(&f.partitions, "partitions", 0, "only this value of $partitions")
	fl.BoolVar(&f.rewrite, "rewrite", false, "replace what the files expect with what comes")
	fl.StringVar(&f.oracle, "oracle", "", "postgres:// URL of a PostgreSQL: count where it answers as other products' suites expect, and where we answer as it does")
	fl.StringVar(&f.failures, "failures", "", "with --oracle: write every record that is answered otherwise to this file")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Second, "with --oracle: the longest time for a record")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	return cmd
}

// configurations are those that the flags ask for.
func (f sltFlags) configurations() []sqllogictest.Configuration {
	if f.connect == "" && !f.restart && f.partitions == 0 && !f.rewrite {
		return sqllogictest.Configurations
	}
	c := sqllogictest.Configuration{Name: "as asked", Partitions: f.partitions, RestartOften: f.restart}
	if c.Partitions == 0 {
		c.Partitions = sqllogictest.Configurations[0].Partitions
	}
	return []sqllogictest.Configuration{c}
}

func runSLT(cmd *cobra.Command, f sltFlags, paths []string) error {
	if f.oracle != "" {
		return runComparison(cmd, f, paths)
	}
	files, err := sqllogictest.Files(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no test files found")
	}
	out := cmd.OutOrStdout()
	suite := &sqllogictest.Suite{
		Files: files, Configurations: f.configurations(), Results: out,
		Options: sqllogictest.Options{Engine: f.engine, Rewrite: f.rewrite}, Open: openSLTServer,
	}
	if f.connect != "" {
		suite.Open = remoteOpener(f.connect)
	}
	if !f.quiet {
		suite.Progress = cmd.ErrOrStderr()
	}
	total, err := suite.Run(cmd.Context())
	fmt.Fprintf(out, "%d passed, %d failed\n", total.Passed, total.Failed)
	if err == nil && total.Failed > 0 {
		err = fmt.Errorf("%d SQL tests failed", total.Failed)
	}
	return err
}

// remoteOpener makes databases on a running server.
func remoteOpener(url string) sqllogictest.Opener {
	return func(ctx context.Context) (sqllogictest.Target, func() error, error) {
		r, err := sqllogictest.OpenRemote(ctx, url)
		return r, func() error { return r.Close(context.WithoutCancel(ctx)) }, err
	}
}

// sltServer is a child server on a directory of its own.
type sltServer struct{ child *child }

// URL implements sqllogictest.Target.
func (s *sltServer) URL() string { return s.child.url() }

// Restart implements sqllogictest.Target.
func (s *sltServer) Restart(ctx context.Context) error {
	if err := s.child.stop(); err != nil {
		return fmt.Errorf("the server did not end well: %w", err)
	}
	next, err := startChild(ctx, s.child.dir, "--segment", "1")
	if err != nil {
		return err
	}
	s.child = next
	return nil
}

func openSLTServer(ctx context.Context) (sqllogictest.Target, func() error, error) {
	dir, err := os.MkdirTemp("", "tally-slt-")
	if err != nil {
		return nil, nil, err
	}
	c, err := startChild(ctx, dir, "--segment", "1")
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &sltServer{child: c}
	return s, func() error { return errors.Join(s.child.stop(), os.RemoveAll(dir)) }, nil
}
