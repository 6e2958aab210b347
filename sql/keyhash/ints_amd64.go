package keyhash

import "golang.org/x/sys/cpu"

// blockWords is how many words sipBlocks hashes at a time.
const blockWords = 8

// sipBlocks replaces blocks*blockWords words by their hashes; initial is the state
// before the first. It needs AVX2.
//
//go:noescape
func sipBlocks(initial *[4]uint64, words *uint64, blocks int)

// sipInts replaces words by their hashes, as many from the first on as it returns;
// initial is the state before them.
func sipInts(initial [4]uint64, words []uint64) int {
	blocks := len(words) / blockWords
	if blocks == 0 || !cpu.X86.HasAVX2 {
		return 0
	}
	sipBlocks(&initial, &words[0], blocks)
	return blocks * blockWords
}
