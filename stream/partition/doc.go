// Package partition runs one partition of a stream: it reads the partition's
// log, admits events (future guard, deduplication, watermark), folds them into
// the states of every continuous view, and answers for them. State is a pure
// function of the log's prefix (L-2): what a clock or an operator decides is a
// control record first.
//
// Goroutines: Worker.Run is the one owner of all state; everything else reaches
// it as a call that it runs between two records. Run is started and ended by
// its caller. It writes a checkpoint, of which it has copied what may go on to change,
// on a goroutine that ends with it. The log delivers on its own goroutine into a bounded queue; what
// does not fit is read back from the log.
//
// Invariants:
//
//  1. The admit state, the views' states, the rows set aside and the applied
//     offset move in one atomic batch.
//  2. A view's applied offset is never above the admit's; when they are equal
//     the view is live, otherwise it reads the retained log and its own copy of
//     the watermark.
//  3. A closed window (watermark at its end plus lateness) never changes.
//  4. What a checkpoint under way holds is still answered from memory, until the
//     store has it.
//  5. Every record is applied once and in order, whether it came through the
//     queue or from the log.
package partition
