package types

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones must not depend on the host

	"github.com/tallydb/tallydb/sql/sqlerr"
)

var zones sync.Map // lower-case name → *time.Location

// LoadZone resolves a time zone as SET TIME ZONE and AT TIME ZONE do: a name of
// the tz database in any case, an abbreviation, or a POSIX offset (UTC+3 is west).
func LoadZone(name string) (*time.Location, error) {
	key := strings.ToLower(strings.TrimSpace(name))
	if key == "utc" || key == "gmt" || key == "z" {
		return time.UTC, nil
	}
	if l, ok := zones.Load(key); ok {
		return l.(*time.Location), nil
	}
	l := findZone(key, strings.TrimSpace(name))
	if l == nil {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
	}
	zones.Store(key, l)
	return l, nil
}

// upperCity writes what follows the last slash in capitals, as in Etc/UTC.
func upperCity(name string) string {
	at := strings.LastIndexByte(name, '/') + 1
	return name[:at] + strings.ToUpper(name[at:])
}

// ruleZones are names of the tz database that look like POSIX zones with the rules of
// the United States.
var ruleZones = map[string]bool{"est5edt": true, "cst6cdt": true, "mst7mdt": true, "pst8pdt": true}

func findZone(key, name string) *time.Location {
	if ruleZones[key] {
		if l, err := time.LoadLocation(strings.ToUpper(key)); err == nil {
			return l
		}
	}
	if h, ok := zoneAbbreviations[key]; ok {
		return time.FixedZone(strings.ToUpper(key), int(h*3600))
	}
	if strings.Contains(key, "/") || len(key) > 2 && !strings.ContainsAny(key, "+-0123456789.\\ ") {
		for _, k := range []string{name, zoneCase(key), strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:], upperCity(zoneCase(key))} {
			if strings.EqualFold(k, "local") || strings.Contains(k, "..") {
				continue
			}
			if l, err := time.LoadLocation(k); err == nil {
				return l
			}
		}
	}
	prefix, rest := leading(key, func(c byte) bool { return c >= 'a' && c <= 'z' })
	if rest == "" || prefix == "" && rest[0] != '+' && rest[0] != '-' {
		return nil
	}
	if isDigit(rest[0]) {
		rest = "+" + rest
	}
	if rest[0] != '+' && rest[0] != '-' {
		return nil
	}
	off, tail, ok := scanOffset(rest)
	if !ok || tail != "" || off <= -168*3600 || off >= 168*3600 {
		return nil
	}
	return time.FixedZone(string(AppendOffset([]byte("<"), -off, false))+">"+rest, -off)
}

// zoneCase restores the capitals of a tz database name.
func zoneCase(key string) string {
	b := []byte(key)
	up := true
	for i, c := range b {
		if up && c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
		up = c == '/' || c == '_' || c == '-'
	}
	s := string(b)
	for _, small := range []string{"_Of_", "-Au-", "-Es-", "/Port-Of-", "_Es_"} {
		s = strings.ReplaceAll(s, small, strings.ToLower(small))
	}
	return strings.Replace(s, "Etc/Gmt", "Etc/GMT", 1)
}
