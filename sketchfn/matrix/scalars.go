package matrix

import (
	"strconv"

	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

type evaluation = func(*expr.Context, []types.Datum) (types.Datum, error)

func registerScalars(r *agg.Registry, fs *value.Families) {
	// Of AᵀA - BᵀB, whose eigenvalues are between 0 and the bound, so are the numbers
	// on the diagonal; the others are within half of it.
	covariance := func(margins func(c *directions) (diagonal, other float64)) evaluation {
		return fs.Eval("fd_covariance", "fd", func(_ *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c := frequentCell(in[0].States, 0)
			diagonal, other := margins(c)
			return shifted(c.covariance(), diagonal, other), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "fd_covariance(sketch) float8[]", Description: "sum of the products of each two numbers of a row, over all rows",
		Eval:  covariance(func(*directions) (float64, float64) { return 0, 0 }),
		Lower: covariance(func(c *directions) (float64, float64) { return c.shrinkage - c.bound(), -c.bound() / 2 }),
		Upper: covariance(func(c *directions) (float64, float64) { return c.bound(), c.bound() / 2 }),
	})
	projected := func(side float64) evaluation {
		return fs.Eval("projection_covariance", "projection", func(ec *expr.Context, in []value.Opened, _ []types.Datum) (types.Datum, error) {
			c, shape := projectionCell(in[0].States, 0)
			margin := side * c.energy * shape.relativeError(ec.Confidence())
			return shifted(shape.covariance(c), margin, margin), nil
		})
	}
	r.Scalars().Register(expr.Function{
		Signature: "projection_covariance(sketch) float8[]", Description: "sum of the products of each two numbers of a row, over all rows",
		Eval: projected(0), Lower: projected(-1), Upper: projected(1),
	})
	r.Scalars().Register(expr.Function{
		Signature: "fd_top_directions(sketch,int4) jsonb", Description: "the directions with most energy: its limits and a unit vector, each",
		Eval: fs.Eval("fd_top_directions", "fd", topDirections),
	})
}

func shifted(rows [][]float64, diagonal, other float64) types.Datum {
	for i, row := range rows {
		for j := range row {
			if i == j {
				row[j] += diagonal
			} else {
				row[j] += other
			}
		}
	}
	return types.MatrixDatum(rows)
}

// topDirections lists k axes of B and the energy of A along each.
func topDirections(_ *expr.Context, in []value.Opened, rest []types.Datum) (types.Datum, error) {
	k := rest[0].Int
	if k < 1 || k > maxDims {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "the number of directions must be between 1 and %d", maxDims)
	}
	c := frequentCell(in[0].States, 0)
	axes, squares := c.axes()
	text := []byte{'['}
	for i := range min(int(k), len(axes)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = number(append(text, `{"energy": `...), squares[i])
		text = number(append(text, `, "energy_hi": `...), squares[i]+c.bound())
		text = append(text, `, "direction": [`...)
		for j, x := range axes[i] {
			if j > 0 {
				text = append(text, ',')
			}
			text = number(text, x)
		}
		text = append(text, "]}"...)
	}
	return types.Parse(types.Of(types.JSONB), append(text, ']'), nil)
}

func number(dst []byte, x float64) []byte { return strconv.AppendFloat(dst, x, 'g', -1, 64) }
