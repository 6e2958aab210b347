//go:build race

package sqllogictest

// slow says that the race detector makes everything take several times as long.
const slow = true
