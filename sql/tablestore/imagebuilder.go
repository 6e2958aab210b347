package tablestore

import (
	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/types"
)

// imageBuilder makes an image of batches that come one after the other. It gives a
// column of texts a dictionary as long as it has few distinct values.
type imageBuilder struct {
	batches []*types.Batch
	rows    int
	bytes   int64
	dicts   []*types.DictBuilder // of each column; nil where it has none
}

func newImageBuilder(table *catalog.Relation) *imageBuilder {
	b := &imageBuilder{}
	for _, c := range table.RowSchema().Columns {
		var d *types.DictBuilder
		if types.DictType(c.Type) {
			d = types.NewDictBuilder(c.Type)
		}
		b.dicts = append(b.dicts, d)
	}
	b.dicts = append(b.dicts, nil) // the identities
	return b
}

// add takes the rows of a batch, whose memory it shares.
func (b *imageBuilder) add(all *types.Batch) {
	if all.Rows == 0 {
		return
	}
	b.rows += all.Rows
	out := &types.Batch{Rows: all.Rows, Cols: make([]*types.Vector, len(all.Cols))}
	for i, v := range all.Cols {
		out.Cols[i] = v
		if b.dicts[i] == nil {
			continue
		}
		if codes, ok := b.dicts[i].Add(make([]uint16, 0, v.Len()), v); ok {
			out.Cols[i] = &types.Vector{Type: v.Type, Nulls: v.Nulls, Codes: codes}
		} else {
			b.giveUp(i)
		}
	}
	b.batches = append(b.batches, out)
	b.bytes += int64(out.MemoryBytes())
}

// giveUp drops the dictionary of a column.
func (b *imageBuilder) giveUp(column int) {
	dict := b.dicts[column].Dict()
	b.dicts[column] = nil
	for _, batch := range b.batches {
		v := batch.Cols[column]
		b.bytes -= int64(v.MemoryBytes())
		v.Dict = dict
		batch.Cols[column] = v.Flat()
		b.bytes += int64(batch.Cols[column].MemoryBytes())
	}
}

// image returns what was built. The builder is of no use then.
func (b *imageBuilder) image() *image {
	for i, d := range b.dicts {
		if d == nil {
			continue
		}
		if 2*d.Len() > b.rows+2 {
			b.giveUp(i)
			continue
		}
		dict := d.Dict()
		dict.Ranks() // before it is shared
		b.bytes += int64(dict.MemoryBytes() + d.MemoryBytes())
		for _, batch := range b.batches {
			batch.Cols[i].Dict = dict
		}
	}
	out := &image{rows: b.rows, bytes: b.bytes, dicts: &dictionaries{of: b.dicts}}
	for _, batch := range b.batches {
		out.chunks = append(out.chunks, chunkOf(batch, len(out.chunks) == 0))
	}
	return out
}
