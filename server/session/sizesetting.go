package session

import (
	"math"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// sizeUnits are those of PostgreSQL's settings of sizes, from the largest, in kilobytes.
var sizeUnits = []struct {
	name string
	kb   int64
}{{"TB", 1 << 30}, {"GB", 1 << 20}, {"MB", 1 << 10}, {"kB", 1}}

// kilobytes reads one of PostgreSQL's settings in kilobytes, of which -1 is unlimited,
// and keeps it in the largest unit that it is a whole number of.
func kilobytes(name string) func(string) (string, error) {
	return func(v string) (string, error) {
		kb, err := parseKilobytes(name, v)
		if err != nil {
			return "", err
		}
		if kb <= 0 {
			return strconv.FormatInt(kb, 10), nil
		}
		for _, u := range sizeUnits {
			if kb%u.kb == 0 {
				return strconv.FormatInt(kb/u.kb, 10) + u.name, nil
			}
		}
		return strconv.FormatInt(kb, 10), nil
	}
}

func parseKilobytes(name, v string) (int64, error) {
	text := strings.TrimSpace(v)
	number, unit := text, 1.0
	for _, u := range append(sizeUnits, struct {
		name string
		kb   int64
	}{"B", 0}) {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			if number, unit = strings.TrimSpace(n), float64(u.kb); u.kb == 0 {
				unit = 1.0 / 1024
			}
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(n) {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, v).
			WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
	}
	kb := math.RoundToEven(n * unit)
	if kb < -1 || kb > math.MaxInt32 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "%.0f kB is outside the valid range for parameter %q (-1 .. %d)", kb, name, math.MaxInt32)
	}
	return int64(kb), nil
}

// tempFileBytes is temp_file_limit in bytes; -1 is unlimited.
func tempFileBytes(v string) int64 {
	kb, err := parseKilobytes("temp_file_limit", v)
	if err != nil || kb < 0 {
		return -1
	}
	return kb << 10
}
