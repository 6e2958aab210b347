package theta

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// The formats of CompactSketch in Apache DataSketches: serial version 3, and version
// 4, which is compressed and only read. There is
// no k in it; what is imported gets one that keeps the sample, and no less than
// the default, so that sketches of default size merge.
const (
	dsFamily     byte = 3
	dsVersion    byte = 3
	dsCompressed byte = 4

	// dsSeedHash is the 16-bit hash of the usual seed, 9001.
	dsSeedHash = 0x93cc

	dsReadOnly = 1 << 1
	dsEmpty    = 1 << 2
	dsCompact  = 1 << 3
	dsOrdered  = 1 << 4
	dsSingle   = 1 << 5
)

func export(v value.Opened) ([]byte, error) {
	in := sampleOf(v.States, 0)
	out := []byte{0, dsVersion, dsFamily, 0, 0, dsReadOnly | dsCompact | dsOrdered, dsSeedHash & 0xff, dsSeedHash >> 8}
	switch n := len(in.Hashes); {
	case n == 0 && in.Theta == maxTheta:
		out[0], out[5] = 1, out[5]|dsEmpty
		return out, nil
	case n == 1 && in.Theta == maxTheta:
		out[0], out[5] = 1, out[5]|dsSingle
	case in.Theta == maxTheta:
		out[0] = 2
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	default:
		out[0] = 3
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
		out = binary.LittleEndian.AppendUint64(out, in.Theta)
	}
	for _, h := range in.Hashes {
		out = binary.LittleEndian.AppendUint64(out, h)
	}
	return out, nil
}

func importDataSketches(b []byte, _ string) (value.Value, error) {
	in := Sample{Theta: maxTheta}
	bad := value.NotDataSketches("a theta sketch")
	read := readSample
	switch b[1] {
	case dsVersion:
	case dsCompressed:
		read = readCompressed
	default:
		return value.Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "theta sketches of serial version %d are not supported, %d and %d are", b[1], dsVersion, dsCompressed).
			WithHint("Export it as a compact sketch.")
	}
	if b[5]&dsEmpty == 0 {
		if seed := binary.LittleEndian.Uint16(b[6:]); seed != dsSeedHash {
			return value.Value{}, sqlerr.New(sqlerr.IncompatibleState, "the theta sketch was made with another seed than 9001").
				WithDetail("Its seed hash is %04x.", seed)
		}
		var ok bool
		if in, ok = read(b); !ok {
			return value.Value{}, bad
		}
	}
	k := DefaultK
	switch n := len(in.Hashes); {
	case in.Theta < maxTheta && n > DefaultK: // what quick select keeps beyond its k
		k = 1 << (bits.Len(uint(n)) - 1)
	case n > DefaultK:
		k = 1 << bits.Len(uint(n-1))
	}
	if k > MaxK {
		return value.Value{}, tooMany(len(in.Hashes))
	}
	return value.Value{
		SeedID: value.DataSketchesSeed, Kind: kindOf(foreignTypeName, k, true), State: in.trim(k).append([]byte{codecV1}),
	}, nil
}

// readSample reads what is not empty: a single hash; hashes; theta and hashes.
func readSample(b []byte) (Sample, bool) {
	in, n, at := Sample{Theta: maxTheta}, 1, 8
	switch b[0] & 63 {
	case 1:
	case 2, 3:
		if len(b) < 16 {
			return in, false
		}
		n, at = int(binary.LittleEndian.Uint32(b[8:])), 16
		if b[0]&63 == 3 {
			if len(b) < 24 {
				return in, false
			}
			in.Theta, at = binary.LittleEndian.Uint64(b[16:]), 24
		}
	default:
		return in, false
	}
	if n > (len(b)-at)/8 || in.Theta == 0 || in.Theta > maxTheta {
		return in, false
	}
	for i := range n {
		in.Hashes = append(in.Hashes, binary.LittleEndian.Uint64(b[at+8*i:]))
	}
	slices.Sort(in.Hashes)
	return in, in.valid()
}

// readCompressed reads serial version 4: theta, if there are two words of preamble;
// the number of hashes in b[4] bytes; the differences of ascending hashes in b[3]
// bits each, the first bit the highest.
func readCompressed(b []byte) (Sample, bool) {
	in, rest := Sample{Theta: maxTheta}, b[8:]
	width, lengthBytes := int(b[3]), int(b[4])
	if b[0]&63 == 2 && len(rest) >= 8 {
		in.Theta, rest = binary.LittleEndian.Uint64(rest), rest[8:]
	} else if b[0]&63 != 1 {
		return in, false
	}
	if width < 1 || width > 63 || lengthBytes < 1 || lengthBytes > 4 || len(rest) < lengthBytes || in.Theta == 0 || in.Theta > maxTheta {
		return in, false
	}
	n := 0
	for i := range lengthBytes {
		n |= int(rest[i]) << (8 * i)
	}
	if rest = rest[lengthBytes:]; len(rest) != (n*width+7)/8 {
		return in, false
	}
	hash, bit := uint64(0), 0
	for range n {
		difference := uint64(0)
		for range width {
			difference = difference<<1 | uint64(rest[bit/8]>>(7-bit%8)&1)
			bit++
		}
		if hash += difference; hash > maxTheta {
			return in, false
		}
		in.Hashes = append(in.Hashes, hash)
	}
	return in, in.valid()
}

// valid reports whether the hashes ascend, from 1 on and below theta.
func (s Sample) valid() bool {
	for i, h := range s.Hashes {
		if h == 0 || h >= s.Theta || i > 0 && h == s.Hashes[i-1] {
			return false
		}
	}
	return true
}
