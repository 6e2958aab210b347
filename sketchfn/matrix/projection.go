package matrix

import (
	"math"

	"github.com/tallydb/tallydb/sketchfn/cells"
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sketchfn/valuehash"
	"github.com/tallydb/tallydb/sql/types"
)

// projected is the state of a random projection: l rows.
type projected struct{ matrix }

// projection is cells.Algebra of random projections onto l rows. The hash of a row's
// identifier gives its l signs, so that a row has the same ones wherever it is
// read, and rows with equal numbers have others.
type projection struct{ l int }

// Add implements cells.Algebra.
func (s projection) Add(c *projected, in []*types.Vector, row int, hash uint64) error {
	var buf [64]float64
	x, energy, err := c.read(buf[:0], in[1], row)
	if err != nil {
		return err
	}
	if c.d == 0 {
		c.d, c.rows = len(x), cells.Make[float64](s.l*len(x))
	}
	c.n, c.energy = c.n+1, c.energy+energy
	signs := uint64(0)
	for i := range s.l {
		if i%64 == 0 {
			signs = valuehash.Row(hash, i/64)
		}
		to := c.row(i)
		if signs>>(i%64)&1 == 1 {
			for j, v := range x {
				to[j] -= v
			}
		} else {
			for j, v := range x {
				to[j] += v
			}
		}
	}
	return nil
}

// Merge implements cells.Algebra.
func (s projection) Merge(dst, src *projected) error {
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
	add(dst.rows, src.rows, 1)
	return nil
}

// covariance returns BᵀB, where B is the rows over sqrt(l).
func (s projection) covariance(c *projected) [][]float64 {
	out := c.covariance()
	for _, row := range out {
		for j := range row {
			row[j] /= float64(s.l)
		}
	}
	return out
}

// relativeError is that of ‖AᵀA - BᵀB‖_F to ‖A‖²_F at a confidence: the expected
// square of the difference is (‖A‖⁴_F + ‖AAᵀ‖²_F)/l at most, and the rest is
// Markov's.
func (s projection) relativeError(confidence float64) float64 {
	return math.Sqrt(2 / float64(s.l) / max(1-confidence, 1e-12))
}

// The portable form of a projection, version 1, behind the version byte: uvarint d,
// 0 for the empty state. Else uvarint rows of A, the energy, l times d numbers.

// Append implements cells.Algebra.
func (projection) Append(dst []byte, c *projected) []byte {
	dst = c.append(dst)
	for _, x := range c.rows {
		dst = appendFloat(dst, x)
	}
	return dst
}

// Read implements cells.Algebra.
func (s projection) Read(r *statecodec.Reader) projected {
	var c projected
	if !c.parse(r) {
		return c
	}
	if len(r.Rest()) != 8*s.l*c.d {
		r.Fail()
		return projected{}
	}
	c.rows = cells.Make[float64](s.l * c.d)
	readRows(r, c.rows, float64(s.l)*float64(c.n)*c.energy*(1+rounding)) // by Cauchy and Schwarz
	return c
}

// Bytes implements cells.Algebra.
func (projection) Bytes(c *projected) int64 { return 8 * int64(cap(c.rows)) }
