// Package background gives work that nobody waits for a lower priority than work that
// somebody does: a flush or a checkpoint that comes in together with events and
// readers takes what they leave, and they do not feel it. RocksDB does the same
// (Env::LowerThreadPoolCPUPriority).
//
// Priorities belong to threads, so such a goroutine has a thread of its own, which
// ends with it. Invariant: a goroutine here is never waited for while a lock is held
// that a reader or an append needs for longer than the critical section itself.
package background
