package expr

import (
	"bytes"

	"github.com/tallydb/tallydb/sql/types"
)

// likeKernel matches a constant pattern without _: its pieces between % have to be
// found one after the other. nil is for other patterns. Bytes may be compared, because
// both sides are UTF-8.
func likeKernel(not bool) func(*Context, []arg) kernel {
	return func(_ *Context, args []arg) kernel {
		if args[1].mask != 0 || args[1].v.IsNull(0) {
			return nil
		}
		pieces, ok := likePieces(args[1].v.Bytes(0))
		if !ok {
			return nil
		}
		return func(args []arg, n int, out *types.Vector) error {
			v, mask := args[0].v, args[0].mask
			for i := range out.Ints[:n] {
				out.Ints[i] = int64(b2i(matchPieces(v.Bytes(i&mask), pieces) != not))
			}
			return nil
		}
	}
}

// likePieces returns what is between the % of a pattern: one piece is the whole value.
func likePieces(pattern []byte) (pieces [][]byte, ok bool) {
	piece := []byte{}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '_':
			return nil, false
		case '%':
			pieces = append(pieces, piece)
			piece = []byte{}
		case '\\':
			if i++; i == len(pattern) {
				return nil, false // an error, but only of values that get this far
			}
			piece = append(piece, pattern[i])
		default:
			piece = append(piece, pattern[i])
		}
	}
	return append(pieces, piece), true
}

func matchPieces(s []byte, pieces [][]byte) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		return bytes.Equal(s, first)
	}
	if len(s) < len(first)+len(last) || !bytes.HasPrefix(s, first) || !bytes.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, p := range pieces[1 : len(pieces)-1] {
		at := bytes.Index(s, p)
		if at < 0 {
			return false
		}
		s = s[at+len(p):]
	}
	return true
}
