// Package exec runs logical plans on one node: vectorised pull operators over
// batches of columns.
//
// It knows nothing of syntax, of where partitions live (Leaves), of how tables
// are stored (Tables), or of what the columns mean: the envelope is columns like
// any other, computed by what the plan says. It starts no goroutine; a statement
// is run by the goroutine that calls Next.
//
// Invariants:
//
//  1. Every operator looks at its context before it works on, so that a statement
//     ends soon after it is cancelled (57014).
//  2. What an operator keeps is charged to the statement's budget before it is
//     kept; a statement that needs more spills to temporary files, from five eighths
//     of the budget on, or fails with 53200 (L-11).
//  3. A batch belongs to who received it until the next call of Next; operators
//     do not write into batches that they received.
//  4. Texts may have a dictionary (types.Dict) between operators; expressions, states
//     that do not ask for one, and whoever receives the rows get flat columns.
package exec
