package types_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tallydb/tallydb/sql/types"
)

// BenchmarkAppendParsedRow parses rows of five columns: int8, two texts, float8
// and timestamptz.
func BenchmarkAppendParsedRow(b *testing.B) {
	oids := []types.OID{types.Int8, types.Text, types.Text, types.Float8, types.Timestamptz}
	const rows = 4096
	var fields [][]byte
	for i := range rows {
		line := fmt.Sprintf("%d\tgateway-%d\tuser-%d\t%d.%02d\t2026-11-29 %02d:%02d:%02d.%06d+00", i*7919, i%64, i*31%100000, i%900, i%100, i%24, i%60, i%60, i)
		fields = append(fields, bytes.Split([]byte(line), []byte("\t"))...)
	}
	cols := make([]*types.Vector, len(oids))
	for k, o := range oids {
		cols[k] = types.NewVector(types.Of(o), rows)
	}
	opts := &types.TextOptions{}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		i := n % rows
		if i == 0 {
			for _, c := range cols {
				c.Reset()
			}
		}
		for k, c := range cols {
			if err := types.AppendParsed(c, fields[i*5+k], opts); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAppendParsed(b *testing.B) {
	for _, c := range []struct {
		t    types.OID
		text string
	}{
		{types.Int8, "1234567890"},
		{types.Float8, "123.45"},
		{types.Text, "user-12345"},
		{types.Bool, "t"},
		{types.Timestamptz, "2026-11-29 12:34:56.123456+00"},
		{types.Date, "2026-11-29"},
		{types.UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{types.Numeric, "12345.6789"},
	} {
		b.Run(types.Of(c.t).String(), func(b *testing.B) {
			v := types.NewVector(types.Of(c.t), 4096)
			text := []byte(c.text)
			b.ReportAllocs()
			for n := 0; n < b.N; n++ {
				if n%4096 == 0 {
					v.Reset()
				}
				if err := types.AppendParsed(v, text, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
