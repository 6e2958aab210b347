package main

import "github.com/spf13/cobra"

// benchCommand is "tally bench".
func benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measure this machine: ingest, queries and the protocol"}
	cmd.AddCommand(benchIngestCommand(), benchQueryCommand(), benchRestartCommand(), benchSoakCommand(), benchSQLCommand(), benchWireCommand())
	return cmd
}
