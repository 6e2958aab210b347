package expr

import (
	"math"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// The trigonometric functions of degrees are exact at the angles that people know:
// what the machine computes there is divided by what it should be.
var (
	sin30     = math.Sin(math.Pi / 6)
	versine60 = 1 - math.Cos(math.Pi/3)
	asinHalf  = math.Asin(0.5)
	acosHalf  = math.Acos(0.5)
	atan1     = math.Atan(1)
)

func degreeFunctions() []overload {
	var out []overload
	add := func(name string, least, most float64, f func(float64) float64) {
		out = append(out, fn(name+"(float8) float8", name[:len(name)-1]+" in degrees", func(_ *Context, a []types.Datum) (types.Datum, error) {
			x := a[0].Float
			if x < least || x > most {
				return types.Datum{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
			}
			if math.IsNaN(x) {
				return types.FloatDatum(x), nil
			}
			return types.FloatDatum(f(x)), nil
		}))
	}
	add("sind", -math.MaxFloat64, math.MaxFloat64, sinDegrees)
	add("cosd", -math.MaxFloat64, math.MaxFloat64, cosDegrees)
	add("tand", -math.MaxFloat64, math.MaxFloat64, func(x float64) float64 { return positiveZero(sinDegrees(x) / cosDegrees(x) / tan45) })
	add("cotd", -math.MaxFloat64, math.MaxFloat64, func(x float64) float64 { return positiveZero(cosDegrees(x) / sinDegrees(x) / tan45) })
	add("asind", -1, 1, func(x float64) float64 { return math.Copysign(asinDegrees(math.Abs(x)), x) })
	add("acosd", -1, 1, func(x float64) float64 {
		if x >= 0 {
			return acosDegrees(x)
		}
		return 90 + asinDegrees(-x)
	})
	add("atand", math.Inf(-1), math.Inf(1), func(x float64) float64 { return math.Atan(x) / atan1 * 45 })
	return append(out, fn("atan2d(float8,float8) float8", "arc tangent of y / x in degrees", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.FloatDatum(math.Atan2(a[0].Float, a[1].Float) / atan1 * 45), nil
	}))
}

var tan45 = firstSin(45) / firstCos(45)

func positiveZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// firstSin is the sine of 0 to 90 degrees.
func firstSin(x float64) float64 {
	if x <= 30 {
		return math.Sin(x*(math.Pi/180)) / sin30 / 2
	}
	return 1 - (1-math.Cos((90-x)*(math.Pi/180)))/versine60/2
}

// firstCos is the cosine of 0 to 90 degrees.
func firstCos(x float64) float64 { return firstSin(90 - x) }

func sinDegrees(x float64) float64 {
	x = math.Mod(x, 360)
	sign := 1.0
	if x < 0 {
		x, sign = -x, -1
	}
	if x > 180 {
		x, sign = 360-x, -sign
	}
	if x > 90 {
		x = 180 - x
	}
	return sign * firstSin(x)
}

func cosDegrees(x float64) float64 {
	x = math.Abs(math.Mod(x, 360))
	if x > 180 {
		x = 360 - x
	}
	if x > 90 {
		return -firstCos(180 - x)
	}
	return firstCos(x)
}

// asinDegrees is the arc sine of 0 to 1.
func asinDegrees(x float64) float64 {
	if x <= 0.5 {
		return math.Asin(x) / asinHalf * 30
	}
	return 90 - math.Acos(x)/acosHalf*60
}

// acosDegrees is the arc cosine of 0 to 1.
func acosDegrees(x float64) float64 {
	if x <= 0.5 {
		return 90 - math.Asin(x)/asinHalf*30
	}
	return math.Acos(x) / acosHalf * 60
}
