package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tallydb/tallydb/sketchfn"
	"github.com/tallydb/tallydb/sql/agg"
)

// oneDeviation is the confidence of one standard deviation of a normal variable.
var oneDeviation = math.Erf(1 / math.Sqrt2)

// calcCommand is "tally calc": which parameters of a sketch keep an error, and what
// they cost.
func calcCommand() *cobra.Command {
	var wanted, rse, confidence float64
	var groups int64
	c := &cobra.Command{
		Use:   "calc FUNCTION|FAMILY",
		Short: "Find the smallest sketch that keeps an error",
		Long:  "Finds the smallest sketch that keeps an error, for " + strings.Join(sketchfn.Planned(), ", ") + ".",
		Example: "  tally calc hll --rse 0.01\n" +
			"  tally calc approx_quantile --error 0.005 --confidence 0.99 --groups 80000",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (wanted > 0) == (rse > 0) {
				return fmt.Errorf("give either --error or --rse")
			}
			if rse > 0 {
				wanted, confidence = rse, oneDeviation
			}
			r := agg.NewRegistry()
			sketchfn.Register(r)
			p, err := sketchfn.PlanFor(r, args[0], wanted, confidence)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "call\t%s\n", p.Call)
			fmt.Fprintf(w, "parameters\t%s\n", p.Parameters)
			fmt.Fprintf(w, "error\t%.6g at confidence %.4g, %s\n", p.Error, p.Confidence, p.Unit)
			fmt.Fprintf(w, "memory\t%d bytes a group, %d bytes for %d groups\n", p.Bytes, p.Bytes*groups, groups)
			fmt.Fprintf(w, "guarantee\t%s\n", r.Lookup(p.Function).Guarantee)
			return w.Flush()
		},
	}
	c.Flags().Float64Var(&wanted, "error", 0, "largest error, in the unit of the family")
	c.Flags().Float64Var(&rse, "rse", 0, "largest standard error: --error at the confidence of one standard deviation")
	c.Flags().Float64Var(&confidence, "confidence", 0.95, "confidence that the error holds with")
	c.Flags().Int64Var(&groups, "groups", 1, "groups, for the memory of all")
	return c
}
