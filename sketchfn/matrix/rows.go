package matrix

import (
	"encoding/binary"
	"math"

	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

const (
	// maxDims limits the numbers of a row, and so the memory of a state.
	maxDims = 1024
	// maxEnergy limits the sum of all squares, so that no product overflows.
	maxEnergy = 1e280
	maxRows   = 1 << 53
	// rounding is what compacting rows may lose, as a share of the energy.
	rounding = 0x1p-40
)

// matrix is what both families keep: rows of d numbers, one behind the other.
type matrix struct {
	d      int     // numbers of a row; 0 before the first
	n      uint64  // rows of A
	energy float64 // ‖A‖²_F
	rows   []float64
}

// row returns row i.
func (m *matrix) row(i int) []float64 { return m.rows[i*m.d : (i+1)*m.d] }

// height is the number of rows that are kept.
func (m *matrix) height() int {
	if m.d == 0 {
		return 0
	}
	return len(m.rows) / m.d
}

// read appends a row of the input to buf and returns it and its sum of squares.
func (m *matrix) read(buf []float64, in *types.Vector, row int) ([]float64, float64, error) {
	x, dims, err := types.AppendFloats(buf, in.Bytes(row))
	switch {
	case err != nil:
		return x, 0, err
	case dims != 1:
		return x, 0, sqlerr.New(sqlerr.InvalidParameterValue, "a row of a matrix must be an array of one dimension that is not empty")
	case len(x) > maxDims:
		return x, 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "a row of a matrix has at most %d numbers, not %d", maxDims, len(x))
	case m.d != 0 && len(x) != m.d:
		return x, 0, otherLength(m.d, len(x))
	}
	energy := 0.0
	for _, v := range x {
		energy += v * v
	}
	return x, energy, m.admit(1, energy)
}

func otherLength(a, b int) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "the rows of a matrix have %d numbers, not %d", a, b)
}

// admit refuses rows with which the limits would not hold, NaN among them.
func (m *matrix) admit(n uint64, energy float64) error {
	if !(m.energy+energy <= maxEnergy) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "the numbers of a matrix must be finite, and the sum of their squares at most %g", maxEnergy)
	}
	if m.n+n > maxRows {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a matrix of more than 2^53 rows")
	}
	return nil
}

// join checks that src's rows can be taken, and takes its counts.
func (m *matrix) join(src *matrix) error {
	if m.d != 0 && m.d != src.d {
		return otherLength(m.d, src.d)
	}
	if err := m.admit(src.n, src.energy); err != nil {
		return err
	}
	m.d, m.n, m.energy = src.d, m.n+src.n, m.energy+src.energy
	return nil
}

// covariance returns BᵀB.
func (m *matrix) covariance() [][]float64 {
	out := make([][]float64, m.d)
	for i := range out {
		out[i] = make([]float64, m.d)
	}
	for r := range m.height() {
		row := m.row(r)
		for i, x := range row {
			for j := range i + 1 {
				out[i][j] += x * row[j]
			}
		}
	}
	for i := range out {
		for j := range i {
			out[j][i] = out[i][j]
		}
	}
	return out
}

// append writes the common part of the portable forms: uvarint d and, if it is
// not 0, uvarint n, the bits of the energy, 8 bytes.
func (m *matrix) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(m.d))
	if m.d == 0 {
		return dst
	}
	return appendFloat(binary.AppendUvarint(dst, m.n), m.energy)
}

func appendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

// parse reads what append wrote; false for the empty state.
func (m *matrix) parse(r *statecodec.Reader) bool {
	if m.d = int(r.Uvarint(maxDims)); m.d == 0 {
		return false
	}
	m.n = r.Uvarint(maxRows)
	if m.energy = readFloat(r); m.n == 0 || m.energy < 0 || m.energy > maxEnergy {
		r.Fail()
	}
	return true
}

// readFloat reads a finite number.
func readFloat(r *statecodec.Reader) float64 {
	x := math.Float64frombits(r.Word())
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.Fail()
	}
	return x
}

// readRows reads n numbers whose squares are at most most.
func readRows(r *statecodec.Reader, dst []float64, most float64) {
	energy := 0.0
	for i := range dst {
		dst[i] = readFloat(r)
		energy += dst[i] * dst[i]
	}
	if !(energy <= most) {
		r.Fail()
	}
}
