//go:build !race

package sqllogictest

const slow = false
