package segmentlog

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/storage/vfs"
)

// headerLength returns the length of the frame header that begins with fixed,
// or 0 if none does.
func headerLength(fixed []byte) int {
	n := binary.LittleEndian.Uint32(fixed[8:])
	if binary.LittleEndian.Uint32(fixed) != frameMagic || n > maxEntries {
		return 0
	}
	return frameFixed + int(n)*entryBytes
}

// findFrame looks for the last valid frame header after position from. Frames are
// aligned, so only multiples of 8 can begin one.
func findFrame(f vfs.File, from int64) (found frameHeader, ok bool) {
	window := int64(1 << 20)
	if st, err := f.Stat(); err == nil {
		window = min(window, int64(align8(int(st.Size()))))
	}
	buf := make([]byte, window+frameFixed)
	for at := (from + 7) &^ 7; ; at += window {
		n, err := readFull(f, buf, at)
		if err != nil || n < frameFixed {
			return found, ok
		}
		for i := 0; i+frameFixed <= n && i < int(window); i += 8 {
			length := headerLength(buf[i:])
			if length == 0 {
				continue
			}
			head := make([]byte, length)
			if m, err := readFull(f, head, at+int64(i)); err != nil || m < length {
				continue
			}
			if h, valid := decodeFrameHeader(head); valid {
				found, ok = h, true
			}
		}
	}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
