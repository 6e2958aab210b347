package types

// dictBytes limits the values of a dictionary together. Columns of longer texts have
// none: codes would save little there.
const dictBytes = 4 << 20

// DictBuilder collects the distinct values of a column, batch after batch. It is used
// by one goroutine at a time; the dictionaries that it gives are not affected by what
// it adds later.
type DictBuilder struct {
	codes  map[string]uint16
	values *Vector
	rows   int
	dict   *Dict // of all values; nil if some came since
	family *dictFamily
}

// NewDictBuilder returns a builder without values, for a column of a DictType.
func NewDictBuilder(t Type) *DictBuilder {
	b := &DictBuilder{codes: map[string]uint16{"": 0}, values: NewVector(t, 1), family: &dictFamily{}}
	b.values.AppendString("")
	return b
}

// Add appends the codes of a flat column's values to codes. It reports false where
// there are too many distinct ones for so many rows: such a column is better off
// without a dictionary, and the builder of no further use.
func (b *DictBuilder) Add(codes []uint16, v *Vector) ([]uint16, bool) {
	n := v.Len()
	b.rows += n
	for i := range n {
		if v.Nulls.Has(i) {
			codes = append(codes, 0)
			continue
		}
		code, known := b.codes[string(v.Bytes(i))]
		if !known {
			var ok bool
			if code, ok = b.add(v.Bytes(i)); !ok {
				return nil, false
			}
		}
		codes = append(codes, code)
	}
	return codes, true
}

func (b *DictBuilder) add(value []byte) (code uint16, ok bool) {
	n := b.values.Len()
	if n == MaxDictRows || b.rows > MaxDictRows && 2*n > b.rows || len(b.values.Data)+len(value) > dictBytes {
		return 0, false
	}
	b.values.AppendBytes(value)
	b.codes[string(value)] = uint16(n)
	b.dict = nil
	return uint16(n), true
}

// Len returns the number of values.
func (b *DictBuilder) Len() int { return b.values.Len() }

// Dict returns the dictionary of all values so far. One that is returned later extends
// it: what has a code in both has the same.
func (b *DictBuilder) Dict() *Dict {
	if b.dict == nil {
		n := b.values.Len()
		v := &Vector{Type: b.values.Type, Offsets: b.values.Offsets[: n+1 : n+1]}
		v.Data = b.values.Data[:v.Offsets[n]:v.Offsets[n]]
		b.dict = NewDict(v)
		b.dict.of = b.family
	}
	return b.dict
}

// MemoryBytes returns about how many bytes are held, dictionaries included.
func (b *DictBuilder) MemoryBytes() int { return 3*len(b.values.Data) + 64*b.values.Len() }
