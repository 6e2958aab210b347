package hll

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

// A sketch value says by itself what it may merge with:
//
//	version   1 byte, 1
//	seed      8 bytes little-endian, keyhash.Seed.ID
//	type      uvarint length, name of the type of the values
//	state     the portable form
const valueV1 byte = 1

// maxTypeName limits the name of a type in a value.
const maxTypeName = 255

// appendValue appends the sketch value of a state.
func appendValue(dst []byte, typ string, seedID uint64, states *States, g uint32) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, valueV1), seedID)
	dst = append(binary.AppendUvarint(dst, uint64(len(typ))), typ...)
	return states.Append(dst, g)
}

// readValue takes a sketch value apart. The state is not checked but for its precision.
func readValue(value []byte) (seedID uint64, s spec, state []byte, err error) {
	r := statecodec.NewReader("hll", valueV1, value)
	seedID = r.Word()
	s.typ = string(r.Bytes(int(r.Uvarint(maxTypeName))))
	state = r.Rest()
	if r.Bad() || s.typ == "" || len(state) < 2 || state[0] != codecV1 || state[1] < MinPrecision || state[1] > MaxPrecision {
		return 0, spec{}, nil, statecodec.Corrupt("hll")
	}
	s.p = uint(state[1])
	return seedID, s, state, nil
}

// EstimateValue returns what a sketch value of hll_agg or hll_union says, at a
// confidence in (0, 1). Bytes that are no such value are XX001.
func EstimateValue(value []byte, confidence float64) (Estimate, error) {
	_, s, state, err := readValue(value)
	if err != nil {
		return Estimate{}, err
	}
	states := newStates(s.p, keyhash.Seed{})
	states.Grow(1)
	if err := states.Merge(0, state); err != nil {
		return Estimate{}, err
	}
	return states.estimate(0, confidence), nil
}

// sketchFinal makes a state a sketch value.
type sketchFinal struct{ spec spec }

// Type implements agg.Finaliser.
func (sketchFinal) Type() types.Type { return types.Of(types.Sketch) }

// Approximate implements agg.Finaliser.
func (sketchFinal) Approximate() bool { return true }

// Kind implements agg.Finaliser.
func (sketchFinal) Kind() agg.ErrorKind { return agg.Asymptotic }

// String implements agg.Finaliser.
func (sketchFinal) String() string { return "sketch" }

// Finalise implements agg.Finaliser. Sketches have no order, so no limits; the
// error is that of the number they stand for.
func (f sketchFinal) Finalise(states agg.States, n int, confidence float64, out *types.Vector, bounds *agg.Bounds) error {
	s := states.(*States)
	var buf []byte
	for g := range n {
		buf = appendValue(buf[:0], f.spec.typ, s.seedID, s, uint32(g))
		out.AppendBytes(buf)
		if bounds != nil {
			bounds.Lo.AppendNull()
			bounds.Hi.AppendNull()
			bounds.Error.AppendFloat(s.estimate(uint32(g), confidence).Error)
		}
	}
	return nil
}
