package copyfmt

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// signature begins binary COPY data; flags and the length of an extension follow.
const signature = "PGCOPY\n\xff\r\n\x00"

const binaryHeader = len(signature) + 8

func badFile(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, format, args...)
}

// binaryRows parses rows of the binary format.
func (r *Reader) binaryRows(data []byte, b *types.Batch) ([]byte, error) {
	if !r.started {
		if len(data) < binaryHeader {
			return data, nil
		}
		if string(data[:len(signature)]) != signature {
			return nil, badFile("COPY file signature not recognized")
		}
		extension := int(binary.BigEndian.Uint32(data[len(signature)+4:]))
		if extension > MaxLine {
			return nil, badFile("invalid COPY file header")
		}
		if len(data) < binaryHeader+extension {
			return data, nil
		}
		data, r.started = data[binaryHeader+extension:], true
	}
	for len(data) >= 2 {
		n := int16(binary.BigEndian.Uint16(data))
		if n == -1 {
			r.ended = true
			return nil, nil
		}
		if int(n) != len(r.columns) {
			r.line++
			return nil, r.context(badFile("row field count is %d, expected %d", n, len(r.columns)), -1, nil)
		}
		rest, whole, err := r.binaryRow(data[2:], b)
		if err != nil {
			return nil, err
		}
		if !whole {
			return data, nil
		}
		data = rest
	}
	return data, nil
}

// binaryRow appends one row; whole is false if its end has not come yet.
func (r *Reader) binaryRow(data []byte, b *types.Batch) (rest []byte, whole bool, err error) {
	at := data
	for range r.columns {
		if len(at) < 4 {
			return nil, false, nil
		}
		n := int32(binary.BigEndian.Uint32(at))
		if n < -1 || n > MaxLine {
			return nil, false, r.context(badFile("invalid field size"), -1, nil)
		}
		if at = at[4:]; int(max(n, 0)) > len(at) {
			return nil, false, nil
		}
		at = at[max(n, 0):]
	}
	r.line++
	for c := range r.columns {
		n := int32(binary.BigEndian.Uint32(data))
		data = data[4:]
		if n < 0 {
			b.Cols[c].AppendNull()
			continue
		}
		if err := types.ReadBinary(b.Cols[c], data[:n]); err != nil {
			return at, true, r.bad(b, sqlerr.From(err), c, nil, nil)
		}
		data = data[n:]
	}
	b.Rows++
	return at, true, nil
}

func (r *Reader) finishBinary() error {
	if !r.ended && (len(r.carry) > 0 || !r.started) {
		return r.context(badFile("unexpected EOF in COPY data"), -1, nil)
	}
	return nil
}
