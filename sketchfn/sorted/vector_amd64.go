package sorted

import "golang.org/x/sys/cpu"

// hasVectors is whether the processor compares eight words at once.
var hasVectors = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI2

// mergeVectors merges a and b from both ends: so many times eight words upwards from out,
// and as many downwards from outLast. Neither a nor b is empty.
//
//go:noescape
func mergeVectors(out, outLast, a, b *uint64, lenA, lenB, vectors int)

// sortBlock sorts n words, at most blockWords.
//
//go:noescape
func sortBlock(words *uint64, n int)

// everyOtherVector copies every other word, n of them.
//
//go:noescape
func everyOtherVector(out, from *uint64, n int)
