package value

import (
	"encoding/binary"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
)

// A sketch value, version 2:
//
//	version   1 byte, 2
//	seed      8 bytes little-endian, keyhash.Seed.ID; 0 where nothing is hashed;
//	          9001 for the hashes of Apache DataSketches
//	family    uvarint length, name
//	type      uvarint length, name of the type of the values
//	params    uvarint number, without zeros at the end; each as a uvarint
//	state     the portable form
//
// Version 1 was only HyperLogLog's: version, seed, type, state.
const (
	codecV1 byte = 1
	codecV2 byte = 2
)

// DataSketchesSeed stands in values for the seed that Apache DataSketches hashes
// with where nobody chose another.
const DataSketchesSeed = 9001

// maxName limits the names of a family and of a type in a value.
const maxName = 255

// Kind is what states must have in common to merge, but for the seed.
type Kind struct {
	Family string
	Type   string    // name of the type of the values; empty where there is none
	Params [3]uint64 // as the family has them
}

// Value is a sketch value taken apart.
type Value struct {
	SeedID uint64
	Kind   Kind
	State  []byte // portable form; aliases the value's bytes
}

// Append appends the value's bytes. v.State may be appended by the caller instead.
func Append(dst []byte, v Value) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, codecV2), v.SeedID)
	for _, name := range []string{v.Kind.Family, v.Kind.Type} {
		dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
	}
	n := len(v.Kind.Params)
	for n > 0 && v.Kind.Params[n-1] == 0 {
		n--
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for _, p := range v.Kind.Params[:n] {
		dst = binary.AppendUvarint(dst, p)
	}
	return append(dst, v.State...)
}

// parse takes a value apart. Neither its kind nor its state is checked.
func parse(b []byte) (Value, error) {
	if len(b) > 0 && b[0] == codecV1 {
		return parseV1(b)
	}
	r := statecodec.NewReader("sketch", codecV2, b)
	v := Value{SeedID: r.Word()}
	v.Kind.Family = string(r.Bytes(int(r.Uvarint(maxName))))
	v.Kind.Type = string(r.Bytes(int(r.Uvarint(maxName))))
	n := int(r.Uvarint(uint64(len(v.Kind.Params))))
	for i := range n {
		v.Kind.Params[i] = r.Uvarint(1<<64 - 1)
	}
	v.State = r.Rest()
	if r.Bad() || n > 0 && v.Kind.Params[n-1] == 0 {
		return Value{}, statecodec.Corrupt("sketch")
	}
	return v, nil
}

// parseV1 reads what the first release wrote for HyperLogLog: the precision is
// the second byte of the state.
func parseV1(b []byte) (Value, error) {
	r := statecodec.NewReader("sketch", codecV1, b)
	v := Value{SeedID: r.Word(), Kind: Kind{Family: "hll"}}
	v.Kind.Type = string(r.Bytes(int(r.Uvarint(maxName))))
	v.State = r.Rest()
	if r.Bad() || v.Kind.Type == "" || len(v.State) < 2 {
		return Value{}, statecodec.Corrupt("sketch")
	}
	v.Kind.Params[0] = uint64(v.State[1])
	return v, nil
}
