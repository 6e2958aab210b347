package sample

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/jsonvalue"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// weighing is ranked.Algebra for rows with weights, which it checks.
type weighing struct{ *ranked.Algebra }

// Add implements cells.Algebra.
func (a weighing) Add(c *ranked.Cell, in []*types.Vector, row int, hash uint64) error {
	if w := in[1].Floats[row]; !validWeight(w) {
		return badWeight(w)
	}
	return a.Algebra.Add(c, in, row, hash)
}

// prioritySpec ranks rows by their priority, weight/u with u in (0, 1) made of the
// hash, the largest first. Of k+1 rows, the last one's priority is the threshold.
// The key is the inverted priority and the hash; the payload the weight and the value.
func prioritySpec(id, x types.Type, k int) agg.StateSpec {
	return cells.Spec[ranked.Cell]{
		Family: "sample", ID: fmt.Sprintf("priority(%s, %s) k=%d siphash13 v%d", id, x, k, ranked.CodecV1),
		Version: ranked.CodecV1, HashUse: keyhash.UseSample,
		Algebra: func(agg.Config) cells.Algebra[ranked.Cell] {
			return weighing{&ranked.Algebra{
				N: k + 1, Unique: true,
				Row: func(key, payload []byte, in []*types.Vector, row int, hash uint64) ([]byte, []byte) {
					w := in[1].Floats[row]
					key = binary.BigEndian.AppendUint64(key, ^math.Float64bits(priority(w, hash)))
					key = binary.BigEndian.AppendUint64(key, hash)
					payload = binary.BigEndian.AppendUint64(payload, math.Float64bits(w))
					return key, types.AppendKey(payload, in[2], row)
				},
				Valid: func(e ranked.Entry) bool { return validEntry(x, e) },
			}}
		},
		Group: func(rows int64) int64 { return 100 * min(rows, int64(k+1)) },
	}
}

// priority is weight/u, at most the largest float.
func priority(w float64, hash uint64) float64 {
	u := (float64(hash>>11) + 0.5) / (1 << 53)
	return min(w/u, math.MaxFloat64)
}

// validEntry checks that an entry has the priority of its weight and hash.
func validEntry(x types.Type, e ranked.Entry) bool {
	if len(e.Key) != 16 || len(e.Payload) < 8 {
		return false
	}
	w := weightOf(e)
	hash := binary.BigEndian.Uint64(e.Key[8:])
	_, ok := ranked.Decode(x, e.Payload[8:])
	return ok && validWeight(w) && ^math.Float64bits(priority(w, hash)) == binary.BigEndian.Uint64(e.Key)
}

func weightOf(e ranked.Entry) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(e.Payload))
}

// priorityFinal makes a state the list of the sampled rows, each with the estimate
// that it stands for: the larger of its weight and the threshold.
type priorityFinal struct {
	elem types.Type
	k    int
}

// Type implements agg.Finaliser.
func (priorityFinal) Type() types.Type { return types.Of(types.JSONB) }

// Approximate implements agg.Finaliser.
func (priorityFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (priorityFinal) Kind() agg.ErrorKind { return agg.NoBound }

// String implements agg.Finaliser.
func (f priorityFinal) String() string { return fmt.Sprintf("priority sample of %d", f.k) }

// Finalise implements agg.Finaliser.
func (f priorityFinal) Finalise(states agg.States, n int, _ float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*cells.States[ranked.Cell])
	var buf []byte
	for g := range uint32(n) {
		entries := s.Cell(g).Entries
		threshold := 0.0
		if len(entries) > f.k {
			threshold = math.Float64frombits(^binary.BigEndian.Uint64(entries[f.k].Key))
			entries = entries[:f.k]
		}
		if len(entries) == 0 {
			out.AppendNull()
		} else {
			buf = append(buf[:0], '[')
			for i, e := range entries {
				if i > 0 {
					buf = append(buf, ", "...)
				}
				w := weightOf(e)
				d, _ := ranked.Decode(f.elem, e.Payload[8:])
				buf = jsonvalue.Append(append(buf, `{"value": `...), d)
				buf = appendNumber(append(buf, `, "weight": `...), w)
				buf = append(appendNumber(append(buf, `, "estimate": `...), max(w, threshold)), '}')
			}
			buf = append(buf, ']')
			d, err := types.Parse(types.Of(types.JSONB), buf, nil)
			if err != nil {
				return err
			}
			out.AppendDatum(d)
		}
		appendUnknown(bounds, threshold > 0)
	}
	return nil
}

func appendNumber(dst []byte, x float64) []byte {
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}
