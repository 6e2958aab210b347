package main

import "github.com/spf13/cobra"

// benchCommand is "tally bench".
func benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measure this machine: ingest and queries"}
	cmd.AddCommand(benchIngestCommand(), benchQueryCommand(), benchRestartCommand(), benchSoakCommand())
	return cmd
}
