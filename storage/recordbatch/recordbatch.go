// Package recordbatch encodes rows as columns in a log record's payload. The
// format is documented in docs/format/record-batch.md.
//
// Integers are stored as differences from the column's minimum, in the fewest
// whole bytes that hold the largest (frame of reference; Goldstein,
// Ramakrishnan, Shaft: Compressing relations and indexes, 1998). Decoding is a
// tight loop and needs no state beyond the payload.
package recordbatch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage"
)

// formatVersion is the first byte of a payload.
const formatVersion = 1

// MaxRows bounds a batch, so that a damaged header cannot ask for any memory.
const MaxRows = 1 << 22

const headerBytes = 8 // version, reserved, columns (2), rows (4)

// Encode appends the payload that holds the batch's columns.
func Encode(dst []byte, b *types.Batch) []byte {
	dst = append(dst, formatVersion, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(b.Cols)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Rows))
	for _, c := range b.Cols {
		dst = appendColumn(dst, c, b.Rows)
	}
	return dst
}

// appendColumn appends: kind, null words (4), the words, the values.
func appendColumn(dst []byte, v *types.Vector, rows int) []byte {
	words := 0
	if v.Nulls.Any() {
		words = (rows + 63) / 64
	}
	dst = append(dst, byte(v.Type.Kind()))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(words))
	for i := range words {
		var w uint64
		if i < len(v.Nulls) {
			w = v.Nulls[i]
		}
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	switch v.Type.Kind() {
	case types.KindInt:
		return appendInts(dst, v.Ints)
	case types.KindFloat:
		for _, f := range v.Floats {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
		}
		return dst
	default:
		return appendStrings(dst, v, rows)
	}
}

// appendInts appends: minimum (8), width (1), the differences.
func appendInts(dst []byte, xs []int64) []byte {
	var lo, hi int64
	if len(xs) > 0 {
		lo, hi = slices.Min(xs), slices.Max(xs)
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(lo))
	width := widthOf(uint64(hi) - uint64(lo)) // exact modulo 2^64
	dst = append(dst, width)
	at := len(dst)
	dst = slices.Grow(dst, int(width)*len(xs))[:at+int(width)*len(xs)]
	out := dst[at:]
	switch width {
	case 1:
		for i, x := range xs {
			out[i] = byte(x - lo)
		}
	case 2:
		for i, x := range xs {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(x-lo))
		}
	case 4:
		for i, x := range xs {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(x-lo))
		}
	case 8:
		for i, x := range xs {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(x)-uint64(lo))
		}
	}
	return dst
}

func widthOf(d uint64) byte {
	switch {
	case d == 0:
		return 0
	case d <= math.MaxUint8:
		return 1
	case d <= math.MaxUint16:
		return 2
	case d <= math.MaxUint32:
		return 4
	default:
		return 8
	}
}

// appendStrings appends: bytes of data (4), width of lengths (1), the lengths, the data.
func appendStrings(dst []byte, v *types.Vector, rows int) []byte {
	longest, total := uint32(0), uint32(0)
	if rows > 0 {
		total = v.Offsets[rows] - v.Offsets[0]
	}
	for i := range rows {
		longest = max(longest, v.Offsets[i+1]-v.Offsets[i])
	}
	width := widthOf(uint64(longest))
	dst = binary.LittleEndian.AppendUint32(dst, total)
	dst = append(dst, width)
	for i := range rows {
		n := v.Offsets[i+1] - v.Offsets[i]
		switch width {
		case 1:
			dst = append(dst, byte(n))
		case 2:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		case 4:
			dst = binary.LittleEndian.AppendUint32(dst, n)
		}
	}
	if rows > 0 {
		dst = append(dst, v.Data[v.Offsets[0]:v.Offsets[rows]]...)
	}
	return dst
}

// Columns returns how many columns a payload says it has.
func Columns(payload []byte) int {
	if len(payload) < headerBytes {
		return 0
	}
	return int(binary.LittleEndian.Uint16(payload[2:]))
}

// Decode replaces the contents of b, whose columns have the types that were
// encoded, by the rows of a payload. Columns of b that are nil are passed over.
// Errors wrap storage.ErrCorrupt or storage.ErrTooNew; b is then undefined.
func Decode(payload []byte, b *types.Batch) error {
	for _, c := range b.Cols {
		if c != nil {
			c.Reset()
		}
	}
	b.Rows = 0
	return Append(payload, b)
}

// Append is Decode, but keeps the rows that b has before those of the payload.
func Append(payload []byte, b *types.Batch) error {
	if len(payload) < headerBytes {
		return corrupt("payload of %d bytes", len(payload))
	}
	if payload[0] > formatVersion {
		return fmt.Errorf("record batch of version %d: %w", payload[0], storage.ErrTooNew)
	}
	cols := int(binary.LittleEndian.Uint16(payload[2:]))
	rows := int(binary.LittleEndian.Uint32(payload[4:]))
	if payload[0] != formatVersion || cols != len(b.Cols) || rows > MaxRows {
		return corrupt("version %d, %d columns, %d rows", payload[0], cols, rows)
	}
	d := decoder{rest: payload[headerBytes:], rows: rows, before: b.Rows}
	for i, c := range b.Cols {
		var err error
		if c == nil {
			err = d.skip()
		} else {
			err = d.column(c)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	if len(d.rest) != 0 {
		return corrupt("%d bytes after the last column", len(d.rest))
	}
	b.Rows += rows
	return nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("record batch: "+format+": %w", append(args, storage.ErrCorrupt)...)
}

type decoder struct {
	rest   []byte
	rows   int
	before int // rows that are there already
}

// take returns the next n bytes.
func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.rest) {
		return nil, corrupt("ends early")
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b, nil
}

// skip passes over a column.
func (d *decoder) skip() error {
	head, err := d.take(5)
	if err != nil {
		return err
	}
	if _, err := d.take(8 * int(binary.LittleEndian.Uint32(head[1:]))); err != nil {
		return err
	}
	kind, values := types.Kind(head[0]), 8*d.rows
	switch kind {
	case types.KindFloat:
	case types.KindInt:
		if head, err = d.take(9); err != nil {
			return err
		}
		values = int(head[8]) * d.rows
	case types.KindBytes:
		if head, err = d.take(5); err != nil {
			return err
		}
		values = int(head[4])*d.rows + int(binary.LittleEndian.Uint32(head))
	default:
		return corrupt("holds kind %d", kind)
	}
	_, err = d.take(values)
	return err
}

func (d *decoder) column(v *types.Vector) error {
	head, err := d.take(5)
	if err != nil {
		return err
	}
	if types.Kind(head[0]) != v.Type.Kind() {
		return corrupt("holds kind %d, want %d", head[0], v.Type.Kind())
	}
	words := int(binary.LittleEndian.Uint32(head[1:]))
	if words != 0 && words != (d.rows+63)/64 {
		return corrupt("%d null words for %d rows", words, d.rows)
	}
	nulls, err := d.take(8 * words)
	if err != nil {
		return err
	}
	for i := range words {
		word := binary.LittleEndian.Uint64(nulls[8*i:])
		if n := d.rows - 64*i; n < 64 {
			word &= 1<<n - 1
		}
		d.nulls(v, word, d.before+64*i)
	}
	switch v.Type.Kind() {
	case types.KindInt:
		return d.ints(v)
	case types.KindFloat:
		return d.floats(v)
	default:
		return d.strings(v)
	}
}

// nulls adds a word of NULLs, of the rows from a number on.
func (d *decoder) nulls(v *types.Vector, word uint64, from int) {
	for ; word != 0; word &= word - 1 {
		v.Nulls.Set(from + bits.TrailingZeros64(word))
	}
}

func (d *decoder) ints(v *types.Vector) error {
	head, err := d.take(9)
	if err != nil {
		return err
	}
	lo, width := int64(binary.LittleEndian.Uint64(head)), int(head[8])
	in, err := d.take(width * d.rows)
	if err != nil {
		return err
	}
	v.Ints = slices.Grow(v.Ints, d.rows)[:len(v.Ints)+d.rows]
	out := v.Ints[len(v.Ints)-d.rows:]
	switch width {
	case 0:
		for i := range out {
			out[i] = lo
		}
	case 1:
		for i := range out {
			out[i] = lo + int64(in[i])
		}
	case 2:
		for i := range out {
			out[i] = lo + int64(binary.LittleEndian.Uint16(in[2*i:]))
		}
	case 4:
		for i := range out {
			out[i] = lo + int64(binary.LittleEndian.Uint32(in[4*i:]))
		}
	case 8:
		for i := range out {
			out[i] = lo + int64(binary.LittleEndian.Uint64(in[8*i:]))
		}
	default:
		return corrupt("integers of %d bytes", width)
	}
	return nil
}

func (d *decoder) floats(v *types.Vector) error {
	in, err := d.take(8 * d.rows)
	if err != nil {
		return err
	}
	v.Floats = slices.Grow(v.Floats, d.rows)[:len(v.Floats)+d.rows]
	for i, out := 0, v.Floats[len(v.Floats)-d.rows:]; i < d.rows; i++ {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(in[8*i:]))
	}
	return nil
}

func (d *decoder) strings(v *types.Vector) error {
	head, err := d.take(5)
	if err != nil {
		return err
	}
	total, width := binary.LittleEndian.Uint32(head), int(head[4])
	lengths, err := d.take(width * d.rows)
	if err != nil {
		return err
	}
	data, err := d.take(int(total))
	if err != nil {
		return err
	}
	if uint64(len(v.Data))+uint64(total) > math.MaxUint32 {
		return corrupt("values of more than 4 GiB")
	}
	if len(v.Offsets) == 0 {
		v.Offsets = append(v.Offsets, 0)
	}
	v.Offsets = slices.Grow(v.Offsets, d.rows)
	var at uint64
	base := uint32(len(v.Data))
	for i := range d.rows {
		switch width {
		case 0:
		case 1:
			at += uint64(lengths[i])
		case 2:
			at += uint64(binary.LittleEndian.Uint16(lengths[2*i:]))
		case 4:
			at += uint64(binary.LittleEndian.Uint32(lengths[4*i:]))
		default:
			return corrupt("lengths of %d bytes", width)
		}
		if at > uint64(total) {
			return corrupt("values exceed their data")
		}
		v.Offsets = append(v.Offsets, base+uint32(at))
	}
	if at != uint64(total) {
		return corrupt("data exceeds its values")
	}
	v.Data = append(v.Data, data...)
	return nil
}
