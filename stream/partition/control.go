package partition

import (
	"encoding/binary"
	"fmt"

	"github.com/tallydb/tallydb/storage"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// tickRecord is the first byte of a tick's payload.
const tickRecord = 1

// EncodeTick returns the payload of a control record that says that wall time
// has passed: the record's append time is the time. floor is a watermark that a
// partition without active sources may advance to.
func EncodeTick(floor eventtime.Watermark) []byte {
	return binary.LittleEndian.AppendUint64([]byte{tickRecord}, uint64(floor))
}

// DecodeTick is the inverse of EncodeTick.
func DecodeTick(b []byte) (eventtime.Watermark, error) {
	if len(b) == 0 || b[0] != tickRecord {
		return 0, fmt.Errorf("control record of an unknown kind: %w", storage.ErrTooNew)
	}
	if len(b) != 9 {
		return 0, fmt.Errorf("tick of %d bytes: %w", len(b), storage.ErrCorrupt)
	}
	return eventtime.Watermark(binary.LittleEndian.Uint64(b[1:])), nil
}
