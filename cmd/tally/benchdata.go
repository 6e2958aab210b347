package main

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// workload describes the events of a benchmark: five columns like those of the
// flights (id, key, user, value, time).
type workload struct {
	groups   int    // distinct keys
	ids      string // bigint or uuid
	nulls    int    // percent of NULL values and users
	escapes  int    // percent of users with a backslash sequence
	perMilli int    // events per millisecond of event time
	delay    int    // minutes that events may be late; ids are remembered for as long; 0: 20
}

// generator makes the rows of a workload; it is deterministic.
type generator struct {
	w      workload
	random uint64
	next   int64
	second int64
	prefix []byte // of the timestamp, up to the second
}

func newGenerator(w workload) *generator {
	return &generator{w: w, random: 88172645463325252, next: 1, second: -1}
}

func (g *generator) rand() uint64 { // xorshift64 (Marsaglia, 2003)
	g.random ^= g.random << 13
	g.random ^= g.random >> 7
	g.random ^= g.random << 17
	return g.random
}

// epoch is the event time of the first event.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// appendRow appends one row in COPY's text format.
func (g *generator) appendRow(b []byte) []byte {
	id := g.next
	g.next++
	r := g.rand()
	b = g.appendID(b, id)
	b = append(b, "\tsensor-"...)
	b = appendPadded(b, r%uint64(g.w.groups), 6)
	b = append(b, '\t')
	switch p := int(r >> 8 % 100); {
	case p < g.w.nulls:
		b = append(b, `\N`...)
	case p < g.w.nulls+g.w.escapes:
		b = append(b, `user\t`...)
		b = appendPadded(b, r>>20%100_000, 7)
	default:
		b = append(b, "user-"...)
		b = appendPadded(b, r>>20%100_000, 7)
	}
	b = append(b, '\t')
	if int(r>>12%100) < g.w.nulls {
		b = append(b, `\N`...)
	} else {
		v := r >> 40 % 1_000_000
		b = strconv.AppendUint(b, v/1000, 10)
		b = append(b, '.')
		b = appendPadded(b, v%1000, 3)
	}
	b = append(b, '\t')
	b = g.appendTime(b, id*1000/int64(g.w.perMilli))
	return append(b, '\n')
}

func (g *generator) appendID(b []byte, id int64) []byte {
	if g.w.ids != "uuid" {
		return strconv.AppendInt(b, id, 10)
	}
	var u [16]byte
	binary.BigEndian.PutUint64(u[:], uint64(id)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(u[8:], uint64(id))
	return fmt.Appendf(b, "%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// appendTime appends epoch + us.
func (g *generator) appendTime(b []byte, us int64) []byte {
	if s := us / 1_000_000; s != g.second {
		g.second = s
		g.prefix = epoch.Add(time.Duration(s)*time.Second).AppendFormat(g.prefix[:0], "2006-01-02 15:04:05")
	}
	b = append(b, g.prefix...)
	b = append(b, '.')
	b = appendPadded(b, uint64(us%1_000_000), 6)
	return append(b, "+00"...)
}

func appendPadded(b []byte, v uint64, width int) []byte {
	var t [20]byte
	for i := width - 1; i >= 0; i-- {
		t[i] = byte('0' + v%10)
		v /= 10
	}
	return append(b, t[:width]...)
}

// copies returns the data of n COPY statements of this many rows.
func (g *generator) copies(n, rows int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		b := make([]byte, 0, rows*80)
		for range rows {
			b = g.appendRow(b)
		}
		out[i] = b
	}
	return out
}
