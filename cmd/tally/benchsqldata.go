package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tallydb/tallydb/cmd/tally/flights"
)

const flightColumns = `seq bigint, arrival_time timestamptz, event_time timestamptz, carrier text, tail text,
	origin text, destination text, delay_min bigint, distance_mi bigint`

// flightFiles is the data of "tally bench sql" as CSV.
type flightFiles struct {
	path     string // of the flights
	airports []byte
}

// carrierCodes are those of 2001; the bundled flights do not tell theirs.
var carrierCodes = []string{"AA", "AS", "CO", "DL", "HP", "MQ", "NW", "TW", "UA", "US", "WN"}

// makeFlightFiles writes the flights to a file, unless it is there with as many
// rows. The flights of the demonstration come again and again, two weeks later each
// time; carrier and tail number are hashes of the route and the row, delays differ by
// up to three minutes, and one flight in 64 has none.
func makeFlightFiles(dir string, rows int) (*flightFiles, error) {
	data, err := flights.Load()
	if err != nil {
		return nil, err
	}
	f := &flightFiles{path: filepath.Join(dir, fmt.Sprintf("flights-%d.csv", rows)), airports: airportRows(data)}
	if _, err := os.Stat(f.path); err == nil {
		return f, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	b := make([]byte, 0, rows*80)
	for i := range rows {
		b = appendFlight(b, &data[i%len(data)], i, i/len(data))
	}
	return f, os.WriteFile(f.path, b, 0o644)
}

func appendFlight(b []byte, f *flights.Flight, i, round int) []byte {
	later := time.Duration(round) * 14 * 24 * time.Hour
	h := mix(uint64(i))
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(b, ',')
	b = f.Arrival.Add(later).AppendFormat(b, "2006-01-02 15:04:05+00,")
	b = f.Event.Add(later).AppendFormat(b, "2006-01-02 15:04:05+00,")
	carrier := mix(uint64(f.Origin[0])+h%3) % uint64(len(carrierCodes))
	b = append(b, carrierCodes[carrier]...)
	b = append(b, ",N"...)
	b = appendPadded(b, carrier*500+h>>8%(200+50*carrier), 4)
	b = append(b, carrierCodes[carrier]...)
	b = append(b, ',')
	b = append(b, f.Origin...)
	b = append(b, ',')
	b = append(b, f.Destination...)
	b = append(b, ',')
	if h>>32%64 != 0 {
		b = strconv.AppendInt(b, f.DelayMinutes+int64(h>>40%7)-3, 10)
	}
	b = append(b, ',')
	b = strconv.AppendInt(b, f.DistanceMiles, 10)
	return append(b, '\n')
}

// mix is the finaliser of splitmix64 (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// airportRows is a row for each airport: its code, a made-up region, runways.
func airportRows(data []flights.Flight) []byte {
	var codes []string
	for _, f := range data {
		codes = append(codes, f.Origin, f.Destination)
	}
	slices.Sort(codes)
	var b []byte
	for _, c := range slices.Compact(codes) {
		h := mix(uint64(c[0])<<16 | uint64(c[1])<<8 | uint64(c[2]))
		b = fmt.Appendf(b, "%s,region %02d,%d\n", c, h%20, 1+h>>32%6)
	}
	return b
}

// chunks calls fn with so many rows of the flights at a time.
func (f *flightFiles) chunks(rows int, fn func([]byte) error) error {
	all, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	for len(all) > 0 {
		end := 0
		for n := 0; n < rows && end < len(all); n++ {
			end += bytes.IndexByte(all[end:], '\n') + 1
		}
		if err := fn(all[:end]); err != nil {
			return err
		}
		all = all[end:]
	}
	return nil
}
