package expr

import (
	"errors"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// MaxVectorBytes is what the values of one evaluation over a batch may take
// together, so that an expression cannot take all memory before a statement's
// budget sees its result. Whoever evaluates may try again with fewer rows; see
// TooLarge.
const MaxVectorBytes = 64 << 20

// room refuses a value of this many bytes for the next row of out, one of n. A
// value that is alone may be larger, up to what a function may return at all.
func room(out *types.Vector, bytes, n int) error {
	total := len(out.Data) + bytes
	if total <= MaxVectorBytes || n == 1 && total <= maxText {
		return nil
	}
	return &RowError{Row: out.Len(), Err: tooLarge(n)}
}

func tooLarge(n int) error {
	if n == 1 {
		return sqlerr.New(sqlerr.OutOfMemory, "a value of an expression needs more than %d MiB", maxText>>20)
	}
	return sqlerr.New(sqlerr.OutOfMemory, "the values of an expression over %d rows need more than %d MiB", n, MaxVectorBytes>>20).
		WithHint("Make the values shorter, or filter earlier.")
}

// TooLarge reports whether an evaluation failed because its values together take
// too much memory: fewer rows may succeed.
func TooLarge(err error) bool {
	var row *RowError
	return errors.As(err, &row) && sqlerr.CodeOf(row.Err) == sqlerr.OutOfMemory
}

// appendDatum appends the value of the next row of n.
func appendDatum(out *types.Vector, d types.Datum, n int) error {
	if !d.Null && len(d.Bytes) > 0 {
		if err := room(out, len(d.Bytes), n); err != nil {
			return err
		}
	}
	out.AppendDatum(d)
	return nil
}

// repeated is a vector of n rows that all hold d.
func repeated(d types.Datum, n int) (*types.Vector, error) {
	if !d.Null && len(d.Bytes) > 0 && n > 1 && len(d.Bytes) > MaxVectorBytes/n {
		return nil, &RowError{Err: tooLarge(n)}
	}
	return types.Repeat(d, n), nil
}
