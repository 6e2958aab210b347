//go:build !linux

package background

// Lower does nothing here: priorities of threads are Linux's.
func Lower() {}
