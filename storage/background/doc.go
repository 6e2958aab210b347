// Package background gives work that nobody waits for a lower priority than work that
// somebody does: a flush or a checkpoint that comes in together with events and
// readers takes what they leave, and they do not feel it. RocksDB does the same
// (Env::LowerThreadPoolCPUPriority).
//
// Priorities belong to threads, so such a goroutine has a thread of its own, which
// ends with it. What it holds a lock for takes longer on busy cores: Pebble's own
// mutex, and while a checkpoint commits, readers of rows that were set aside wait. So
// no long work is done under a lock that the path of events or of answers takes.
package background
