package matrix

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/types"
)

// directions is the state of Frequent Directions.
type directions struct {
	matrix
	shrinkage float64 // how much ‖Ax‖² may exceed ‖Bx‖², but for rounding
	compacted bool    // rows are no longer those that came
}

// frequent is cells.Algebra of Frequent Directions with l directions.
type frequent struct{ l int }

// Add implements cells.Algebra.
func (s frequent) Add(c *directions, in []*types.Vector, row int, _ uint64) error {
	kept := len(c.rows)
	x, energy, err := c.read(c.rows, in[0], row)
	if err != nil {
		return err
	}
	c.d, c.n, c.energy = len(x)-kept, c.n+1, c.energy+energy
	c.rows = x
	s.compact(c)
	return nil
}

// read in matrix appends to the rows themselves; the length of what was appended
// is that of the row alone.
func (c *directions) read(rows []float64, in *types.Vector, row int) ([]float64, float64, error) {
	x, energy, err := c.matrix.read(rows[len(rows):], in, row)
	if err != nil {
		return nil, 0, err
	}
	return append(rows, x...), energy, nil
}

// Merge implements cells.Algebra: the rows of both, in an order of their own, so
// that it does not show which came first.
func (s frequent) Merge(dst, src *directions) error {
	if src.d == 0 {
		return nil
	}
	if dst.d == 0 {
		*dst = *src
		dst.rows = append(cells.Make[float64](len(src.rows))[:0], src.rows...)
		return nil
	}
	if err := dst.join(&src.matrix); err != nil {
		return err
	}
	dst.shrinkage += src.shrinkage
	dst.compacted = dst.compacted || src.compacted
	dst.rows = append(dst.rows, src.rows...)
	dst.sort()
	s.compact(dst)
	return nil
}

// sort orders the rows by their numbers, -0 before 0.
func (c *directions) sort() {
	rows := make([][]float64, c.height())
	for i := range rows {
		rows[i] = c.row(i)
	}
	slices.SortFunc(rows, func(a, b []float64) int {
		return slices.CompareFunc(a, b, func(x, y float64) int {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return int(math.Float64bits(y)>>63) - int(math.Float64bits(x)>>63)
		})
	})
	c.rows = slices.Concat(rows...)
}

// compact makes 2l or more rows l: along the principal axes of the rows, each
// loses the square length of the (l+1)-th, so that that one and what is behind it
// vanish. At least l+1 axes lose that much, which is what bounds the sum of the
// losses.
func (s frequent) compact(c *directions) {
	if c.height() < 2*s.l {
		return
	}
	axes, squares := c.axes()
	loss := 0.0
	if len(squares) > s.l {
		loss = max(squares[s.l], 0)
		axes, squares = axes[:s.l], squares[:s.l]
	}
	rows := cells.Make[float64](2 * s.l * c.d)[:0]
	for i, axis := range axes {
		if squares[i] <= loss {
			break
		}
		scale := math.Sqrt(squares[i] - loss)
		for _, x := range axis {
			rows = append(rows, x*scale)
		}
	}
	c.rows, c.shrinkage, c.compacted = rows, c.shrinkage+loss, true
}

// axes returns the right singular vectors of the rows and the squares of the
// singular values, the largest first, without those that are lost in rounding: from
// the eigenvectors of the smaller of BᵀB and BBᵀ. The largest number of an axis is
// positive.
func (c *directions) axes() (axes [][]float64, squares []float64) {
	m := c.height()
	if m == 0 {
		return nil, nil
	}
	wide := c.d > m
	var small *mat.SymDense
	if wide {
		small = mat.NewSymDense(m, nil)
		for i := range m {
			for j := range i + 1 {
				small.SetSym(i, j, dot(c.row(i), c.row(j)))
			}
		}
	} else {
		small = mat.NewSymDense(c.d, slices.Concat(c.covariance()...))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(small, true) {
		panic("no eigenvalues of finite numbers")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	floor := values[len(values)-1] * 0x1p-50
	for i := len(values) - 1; i >= 0 && values[i] > floor; i-- {
		axis := make([]float64, c.d)
		for j := range len(values) {
			if wide {
				add(axis, c.row(j), vectors.At(j, i)/math.Sqrt(values[i]))
			} else {
				axis[j] = vectors.At(j, i)
			}
		}
		orient(axis)
		axes, squares = append(axes, axis), append(squares, values[i])
	}
	return axes, squares
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func add(dst, src []float64, scale float64) {
	for i, x := range src {
		dst[i] += x * scale
	}
}

func orient(axis []float64) {
	largest := 0
	for i, x := range axis {
		if math.Abs(x) > math.Abs(axis[largest])*(1+1e-9) {
			largest = i
		}
	}
	if axis[largest] < 0 {
		for i := range axis {
			axis[i] = -axis[i]
		}
	}
}

// bound is how much ‖Ax‖² exceeds ‖Bx‖² at most for a unit vector x; 0 while the
// rows are those of A.
func (c *directions) bound() float64 {
	if !c.compacted {
		return 0
	}
	return c.shrinkage + rounding*c.energy
}

// The portable form of Frequent Directions, version 1, behind the version byte:
// uvarint d, 0 for the empty state. Else uvarint rows of A, the energy (all numbers
// are 8 bytes, little-endian), the shrinkage; a byte, 1 if rows were compacted;
// uvarint rows kept, and their numbers.
const codecV1 byte = 1

// Append implements cells.Algebra.
func (frequent) Append(dst []byte, c *directions) []byte {
	if dst = c.append(dst); c.d == 0 {
		return dst
	}
	flag := byte(0)
	if c.compacted {
		flag = 1
	}
	dst = append(appendFloat(dst, c.shrinkage), flag)
	dst = binary.AppendUvarint(dst, uint64(c.height()))
	for _, x := range c.rows {
		dst = appendFloat(dst, x)
	}
	return dst
}

// Read implements cells.Algebra.
func (s frequent) Read(r *statecodec.Reader) directions {
	var c directions
	if !c.parse(r) {
		return c
	}
	c.shrinkage = readFloat(r)
	flag := r.Byte()
	n := int(r.Uvarint(uint64(2*s.l - 1)))
	if c.compacted = flag == 1; flag > 1 || c.shrinkage < 0 || c.shrinkage > c.energy*(1+rounding) ||
		!c.compacted && (c.shrinkage != 0 || uint64(n) != c.n) || len(r.Rest()) != 8*n*c.d {
		r.Fail()
		return directions{}
	}
	c.rows = cells.Make[float64](n * c.d)
	readRows(r, c.rows, c.energy*(1+rounding))
	return c
}

// Bytes implements cells.Algebra.
func (frequent) Bytes(c *directions) int64 { return 8 * int64(cap(c.rows)) }
