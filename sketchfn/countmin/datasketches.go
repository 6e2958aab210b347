package countmin

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// The format of CountMinSketch in Apache DataSketches, serial version 1: two words of
// preamble; then, unless it is empty, the total and the counters, row by row, 8 bytes
// little-endian each. Go and Java write integers, Python floats; which it is the format
// does not say, but a float that is a count is no integer that could be one.
//
// There, implementations draw the seeds of rows each with a generator of its own, so
// values cannot be looked up in what another one wrote, nor in what we do: totals are
// kept, and sketches of one origin merge.
const (
	dsFamily  byte = 18
	dsVersion byte = 1
	dsEmpty   byte = 1

	// dsSeedHash is the 16-bit hash of the usual seed, 9001.
	dsSeedHash = 0x93cc

	dsPreamble = 16

	// foreignTypeName stands for the type of values that DataSketches hashed; kinds of
	// it have as their third parameter how weights are written.
	foreignTypeName = "any"
	foreignInts     = 1
	foreignFloats   = 2
)

func isForeign(k value.Kind) bool {
	return k.Type == foreignTypeName && (k.Params[2] == foreignInts || k.Params[2] == foreignFloats)
}

// notKnown is the error for a value that is looked up in a sketch of another library.
func notKnown() error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "values cannot be looked up in a Count-Min sketch of Apache DataSketches").
		WithDetail("Its format has a hash of the seed 9001, and not the seeds of the rows, which each library draws from it with a generator of its own.").
		WithHint("Look them up in the library that made the sketch. Here freq_total, sketch_info, sketch_merge and sketch_export work.")
}

func export(v value.Opened) ([]byte, error) {
	c, shape := read(v.States, 0)
	out := []byte{2, dsVersion, dsFamily, 0, 0, 0, 0, 0}
	out = binary.LittleEndian.AppendUint32(out, uint32(shape.width))
	out = append(out, byte(shape.depth), dsSeedHash&0xff, dsSeedHash>>8, 0)
	if c.total == 0 {
		out[3] = dsEmpty
		return out, nil
	}
	spread := cell{total: c.total, entries: slices.Clone(c.entries), n: c.n, counters: c.counters}
	if spread.counters == nil {
		shape.spread(&spread)
	}
	for _, x := range append([]uint64{spread.total}, spread.counters...) {
		if v.Kind.Params[2] == foreignFloats {
			x = math.Float64bits(float64(x))
		}
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	return out, nil
}

// readWeight returns a weight that is at most another one; ok is false if it is none
// of a count.
func readWeight(b []byte, most uint64, floats bool) (x uint64, ok bool) {
	x = binary.LittleEndian.Uint64(b)
	if floats {
		f := math.Float64frombits(x)
		if !(f >= 0 && f < 1<<53) || f != math.Trunc(f) {
			return 0, false
		}
		x = uint64(f)
	}
	return x, x <= most
}

func importDataSketches(b []byte, _ string) (value.Value, error) {
	bad := value.NotDataSketches("a Count-Min sketch")
	if len(b) < dsPreamble || b[0] != 2 || b[1] != dsVersion {
		return value.Value{}, bad
	}
	width, depth := binary.LittleEndian.Uint32(b[8:]), int(b[12])
	if seed := binary.LittleEndian.Uint16(b[13:]); seed != dsSeedHash {
		return value.Value{}, sqlerr.New(sqlerr.IncompatibleState, "the Count-Min sketch was made with another seed than 9001").
			WithDetail("Its seed hash is %04x.", seed)
	}
	if width < 2 || width > maxWidth || depth < 1 || depth > maxDepth {
		return value.Value{}, sqlerr.New(sqlerr.ProgramLimitExceeded, "a Count-Min sketch of %d rows of %d counters", depth, width).
			WithHint("At most %d rows of %d counters are supported.", maxDepth, maxWidth)
	}
	kind := kindOf(foreignTypeName, int(width), depth)
	kind.Params[2] = foreignInts
	out := value.Value{SeedID: value.DataSketchesSeed, Kind: kind}
	if b[3]&dsEmpty != 0 {
		out.State = algebra{newShape(int(width), depth)}.Append([]byte{codecV1}, &cell{})
		return out, nil
	}
	if len(b) != dsPreamble+8+8*int(width)*depth {
		return value.Value{}, bad
	}
	floats := binary.LittleEndian.Uint64(b[dsPreamble:]) >= math.Float64bits(1)
	if floats {
		out.Kind.Params[2] = foreignFloats
	}
	c := cell{counters: make([]uint64, int(width)*depth)}
	var ok bool
	if c.total, ok = readWeight(b[dsPreamble:], maxTotal-1, floats); !ok {
		return value.Value{}, bad
	}
	for i := range c.counters {
		if c.counters[i], ok = readWeight(b[dsPreamble+8+8*i:], c.total, floats); !ok {
			return value.Value{}, bad
		}
	}
	out.State = algebra{newShape(int(width), depth)}.Append([]byte{codecV1}, &c)
	return out, nil
}
