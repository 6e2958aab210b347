package routing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/keyhash"
	"github.com/tallydb/tallydb/sql/types"
)

var schema = &types.Schema{Columns: []types.Column{
	{Name: "id", Type: types.Of(types.Int8)}, {Name: "k", Type: types.Of(types.Text)}, {Name: "n", Type: types.Of(types.Numeric)}, {Name: "f", Type: types.Of(types.Float8)},
}}

func stream(partitions int, key, dedup []int) *catalog.Stream {
	epoch := catalog.RoutingEpoch{}
	for p := range partitions {
		epoch.Partitions = append(epoch.Partitions, id.Partition(p))
	}
	return &catalog.Stream{
		Seed: keyhash.Seed{K0: 1, K1: 2}, Epochs: []catalog.RoutingEpoch{epoch},
		Options: catalog.StreamOptions{PartitionKey: key, DedupKey: dedup},
	}
}

func addRow(t *rapid.T, b *types.Batch) {
	b.Cols[0].AppendInt(rapid.Int64().Draw(t, "id"))
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		b.Cols[1].AppendNull()
	} else {
		b.Cols[1].AppendString(rapid.StringN(0, 12, -1).Draw(t, "k"))
	}
	n, err := types.Parse(types.Of(types.Numeric), []byte(rapid.SampledFrom([]string{"1", "1.0", "1.00", "2.5", "-3"}).Draw(t, "n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Cols[2].AppendDatum(n)
	b.Cols[3].AppendFloat(rapid.SampledFrom([]float64{0, 1.5, -2}).Draw(t, "f"))
	b.Rows++
}

// TestHashesDependOnTheRowAlone: a row's hash and identity are the same alone and
// in any batch, whatever else is in it; and equal to what a query for its key gets.
func TestHashesDependOnTheRowAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([][]int{{0}, {1}, {2}, {3}, {1, 0}}).Draw(t, "key")
		r := New(stream(8, key, []int{0}))
		b := types.NewBatch(schema, 0)
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			addRow(t, b)
		}
		hashes := r.Hashes(b, nil)
		digests := r.Digests(b, hashes, nil)
		for i := range b.Rows {
			one := b.Gather([]int32{int32(i)})
			h := r.Hashes(one, nil)
			if h[0] != hashes[i] || r.Digests(one, h, nil)[0] != digests[i] {
				t.Fatalf("row %d hashes differently alone", i)
			}
			var values []types.Datum
			null := false
			for _, c := range key {
				values = append(values, b.Cols[c].Datum(i))
				null = null || b.Cols[c].IsNull(i)
			}
			if !null && r.HashKey(values) != hashes[i] {
				t.Fatalf("row %d: a query for its key would look elsewhere", i)
			}
		}
	})
}

// TestEqualNumbersAreOneKey: 1, 1.0 and 1.00 route to one partition.
func TestEqualNumbersAreOneKey(t *testing.T) {
	r := New(stream(8, []int{2}, nil))
	var want uint64
	for i, text := range []string{"1", "1.0", "1.00"} {
		n, err := types.Parse(types.Of(types.Numeric), []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		h := r.HashKey([]types.Datum{n})
		if i == 0 {
			want = h
		}
		if h != want {
			t.Errorf("%s hashes to %#x, 1 to %#x", text, h, want)
		}
	}
}

// TestPartitionsGetEqualShares: keyed hashing spreads keys evenly over any number
// of partitions (within five standard deviations).
func TestPartitionsGetEqualShares(t *testing.T) {
	const keys = 100_000
	for _, partitions := range []int{2, 7, 8, 64} {
		r := New(stream(partitions, []int{0}, nil))
		counts := make([]int, partitions)
		for k := range keys {
			counts[r.Partition(r.HashKey([]types.Datum{types.IntDatum(types.Int8, int64(k))}))]++
		}
		for p, n := range counts {
			// Key groups are dealt to partitions, some get one group more.
			groups := float64((id.KeyGroups-p-1)/partitions + 1)
			mean := keys * groups / id.KeyGroups
			if d := float64(n) - mean; d*d > 25*mean {
				t.Errorf("%d partitions: partition %d has %d of %d keys, expected about %.0f", partitions, p, n, keys, mean)
			}
		}
	}
}

// TestDigestsTellKeysApart: the same update id under another routing key is
// another event.
func TestDigestsTellKeysApart(t *testing.T) {
	r := New(stream(8, []int{1}, []int{0}))
	b := types.NewBatch(schema, 0)
	for _, k := range []string{"a", "b", "a"} {
		b.Cols[0].AppendInt(7)
		b.Cols[1].AppendString(k)
		b.Cols[2].AppendNull()
		b.Cols[3].AppendFloat(0)
		b.Rows++
	}
	d := r.Digests(b, r.Hashes(b, nil), nil)
	if d[0] == d[1] || d[0] != d[2] {
		t.Errorf("digests %v", d)
	}
}
