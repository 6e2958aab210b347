//go:build !amd64

package sorted

const hasVectors = false

func mergeVectors(_, _, _, _ *uint64, _, _, _ int) { panic("sorted: no vectors") }

func sortBlock(_ *uint64, _ int) { panic("sorted: no vectors") }

func everyOtherVector(_, _ *uint64, _ int) { panic("sorted: no vectors") }
