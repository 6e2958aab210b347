package shadow

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/types"
)

const (
	family         = "values"
	codecV1   byte = 1
	perValue       = 80      // bytes of a map's entry, a count and a short key
	maxValues      = 1 << 60 // of a group, so that sums do not overflow
)

// Of returns the twin of an aggregate of one input, of type in: result makes a value
// of type out of all values of a group, and is not called for a group without any,
// whose value is NULL.
func Of(in, out types.Type, result func(v *Values) types.Datum) *agg.Shadow {
	return of(in, out, func(v *Values) types.Datum {
		if v.Total() == 0 {
			return types.NullOf(out)
		}
		return result(v)
	})
}

// Count is Of for counts, which are 0 for a group without values.
func Count(in types.Type, result func(v *Values) uint64) *agg.Shadow {
	return of(in, types.Of(types.Int8), func(v *Values) types.Datum {
		return types.IntDatum(types.Int8, int64(result(v)))
	})
}

func of(in, out types.Type, result func(v *Values) types.Datum) *agg.Shadow {
	return &agg.Shadow{
		State: cells.Spec[cell]{
			Family: family, ID: "values(" + in.String() + ") v1", Version: codecV1,
			Algebra: func(agg.Config) cells.Algebra[cell] { return &algebra{typ: in} },
			Group:   func(n int64) int64 { return perValue * n },
		},
		Final: final{out, result},
	}
}

// cell is the values of a group: a count for each, by its key encoding.
type cell struct {
	places map[string]int // in counts
	counts []uint64
	total  uint64
	bytes  int64 // of the keys
}

func (c *cell) add(key []byte, n uint64) {
	at, ok := c.places[string(key)]
	if !ok {
		if c.places == nil {
			c.places = map[string]int{}
		}
		at = len(c.counts)
		c.places[string(key)] = at
		c.counts = append(c.counts, 0)
		c.bytes += int64(len(key))
	}
	c.counts[at] += n
	c.total += n
}

type algebra struct {
	typ types.Type
	key []byte
}

// Add implements cells.Algebra.
func (a *algebra) Add(c *cell, in []*types.Vector, row int, _ uint64) error {
	a.key = types.AppendKey(a.key[:0], in[0], row)
	c.add(a.key, 1)
	return nil
}

// Merge implements cells.Algebra.
func (a *algebra) Merge(dst, src *cell) error {
	for key, at := range src.places {
		dst.add([]byte(key), src.counts[at])
	}
	return nil
}

// Append implements cells.Algebra: the number of values; then, in order, the length of
// each key, the key and the count.
func (a *algebra) Append(dst []byte, c *cell) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.counts)))
	for _, key := range sortedKeys(c) {
		dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
		dst = binary.AppendUvarint(dst, c.counts[c.places[key]])
	}
	return dst
}

func sortedKeys(c *cell) []string {
	keys := make([]string, 0, len(c.places))
	for key := range c.places {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Read implements cells.Algebra.
func (a *algebra) Read(r *statecodec.Reader) cell {
	var c cell
	last := []byte(nil)
	for range r.Uvarint(maxValues) {
		key := r.Bytes(int(r.Uvarint(math.MaxInt32)))
		count := r.Uvarint(maxValues)
		if r.Bad() || count == 0 || c.total+count > maxValues || last != nil && string(last) >= string(key) || !a.valid(key) {
			r.Fail()
			return cell{}
		}
		c.add(key, count)
		last = key
	}
	return c
}

func (a *algebra) valid(key []byte) bool {
	d, ok := ranked.Decode(a.typ, key)
	return ok && !d.Null && string(types.AppendDatumKey(nil, d)) == string(key)
}

// Bytes implements cells.Algebra.
func (a *algebra) Bytes(c *cell) int64 { return c.bytes + perValue*int64(len(c.counts)) }

// Values are the values of a group.
type Values struct {
	typ    types.Type
	cell   *cell
	sorted []string
	upto   []uint64 // how many values there are up to each of sorted
}

// Total returns how many values there are.
func (v *Values) Total() uint64 { return v.cell.total }

// Distinct returns how many differ.
func (v *Values) Distinct() uint64 { return uint64(len(v.cell.counts)) }

// Count returns how often a value, row 0 of a column of the input's type, occurs.
func (v *Values) Count(column *types.Vector) uint64 {
	at, ok := v.cell.places[string(types.AppendKey(nil, column, 0))]
	if !ok {
		return 0
	}
	return v.cell.counts[at]
}

// All returns the distinct values in order, each with how often it occurs.
func (v *Values) All() iter.Seq2[types.Datum, uint64] {
	return func(yield func(types.Datum, uint64) bool) {
		for _, key := range sortedKeys(v.cell) {
			if !yield(v.datum(key), v.cell.counts[v.cell.places[key]]) {
				return
			}
		}
	}
}

// At returns the value of a rank, from 1 to Total, of the values in order.
func (v *Values) At(rank uint64) types.Datum {
	v.sort()
	i := sort.Search(len(v.upto)-1, func(i int) bool { return v.upto[i] >= rank })
	return v.datum(v.sorted[i])
}

// AtMost returns how many values are at most x, which is of the input's type.
func (v *Values) AtMost(x types.Datum) uint64 {
	v.sort()
	key := string(types.AppendDatumKey(nil, x))
	i := sort.Search(len(v.sorted), func(i int) bool { return v.sorted[i] > key })
	if i == 0 {
		return 0
	}
	return v.upto[i-1]
}

func (v *Values) sort() {
	if v.sorted != nil {
		return
	}
	v.sorted = sortedKeys(v.cell)
	sum := uint64(0)
	for _, key := range v.sorted {
		sum += v.cell.counts[v.cell.places[key]]
		v.upto = append(v.upto, sum)
	}
}

func (v *Values) datum(key string) types.Datum {
	d, _ := ranked.Decode(v.typ, []byte(key)) // Add and Read let no other key in
	return d
}

// final makes values of a group a value.
type final struct {
	typ    types.Type
	result func(v *Values) types.Datum
}

// Type implements agg.Finaliser.
func (f final) Type() types.Type { return f.typ }

// Approximate implements agg.Finaliser.
func (final) Approximate() bool { return false }

// Kind implements agg.Finaliser.
func (final) Kind() agg.ErrorKind { return agg.Exact }

// String implements agg.Finaliser.
func (final) String() string { return "exact" }

// Finalise implements agg.Finaliser.
func (f final) Finalise(states agg.States, n int, _ float64, out *types.Vector, _ *agg.Bounds) error {
	s := states.(*cells.States[cell])
	for g := range uint32(n) {
		out.AppendDatum(f.result(&Values{typ: s.Algebra().(*algebra).typ, cell: s.Cell(g)}))
	}
	return nil
}
