package types

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// AppendFloats appends the elements of the stored form of a float8[] to dst,
// without making values of them. dims is the number of its dimensions, 0 for the
// empty array. An element that is NULL is 22004.
func AppendFloats(dst []float64, b []byte) (out []float64, dims int, err error) {
	if len(b) == 0 || b[0] == 0 {
		return dst, 0, nil
	}
	corrupt := sqlerr.New(sqlerr.DataCorrupted, "array value is damaged")
	dims, b = int(b[0]), b[1:]
	total := 1
	for range dims {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > maxArrayElements || total > maxArrayElements {
			return dst, dims, corrupt
		}
		_, k2 := binary.Varint(b[k:])
		if k2 <= 0 {
			return dst, dims, corrupt
		}
		b, total = b[k+k2:], total*int(n)
	}
	for range total {
		switch {
		case len(b) > 0 && b[0] == 0:
			return dst, dims, sqlerr.New(sqlerr.NullValueNotAllowed, "an element of the array is null")
		case len(b) < 9 || b[0] != 1:
			return dst, dims, corrupt
		}
		dst = append(dst, math.Float64frombits(binary.BigEndian.Uint64(b[1:])))
		b = b[9:]
	}
	return dst, dims, nil
}

// MatrixDatum returns rows of equal length as a float8[] of two dimensions.
func MatrixDatum(rows [][]float64) Datum {
	var items []Datum
	for _, row := range rows {
		for _, x := range row {
			items = append(items, FloatDatum(x))
		}
	}
	a := NewArray(Of(Float8), items)
	if len(items) > 0 {
		a.Dims, a.Lower = []int{len(rows), len(rows[0])}, []int{1, 1}
	}
	return a.Datum()
}
