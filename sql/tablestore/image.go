package tablestore

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/storage/kv"
)

// ImageBytes limits the memory of all images of a store.
const ImageBytes = 256 << 20

// image is the committed rows of a table as columns: every column of the table,
// then the identities. Texts with few distinct values have a dictionary, one for the
// whole table. It is only read. A scan that reads a table to its end leaves one behind,
// so that the next scan need not take rows apart again; a change of rows takes out the
// chunks that have them, and the next scan reads these alone.
type image struct {
	chunks []chunk
	rows   int // of the chunks that are there
	bytes  int64
	dicts  *dictionaries
	used   uint64 // when it was read last, counted in reads
}

// dictionaries are those of an image's columns, which grow with chunks that are read
// again: the images that come one after the other have them in common.
type dictionaries struct {
	mu sync.Mutex
	of []*types.DictBuilder // of each column; nil where it has none
}

// encode gives the columns of a batch their dictionaries. A column with too many values
// for one has none from here on.
func (d *dictionaries) encode(all *types.Batch) *types.Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &types.Batch{Rows: all.Rows, Cols: slices.Clone(all.Cols)}
	for i, v := range all.Cols {
		if d.of[i] == nil {
			continue
		}
		codes, ok := d.of[i].Add(make([]uint16, 0, v.Len()), v)
		if !ok {
			d.of[i] = nil
			continue
		}
		out.Cols[i] = &types.Vector{Type: v.Type, Nulls: v.Nulls, Codes: codes, Dict: d.of[i].Dict()}
	}
	return out
}

// chunk is the rows from an identity to that of the next chunk.
type chunk struct {
	from  int64
	batch *types.Batch // nil: has to be read
}

// chunkOf makes a chunk of rows; the first one has all identities before it.
func chunkOf(all *types.Batch, first bool) chunk {
	if first {
		return chunk{batch: all}
	}
	return chunk{from: all.Cols[len(all.Cols)-1].Ints[0], batch: all}
}

// complete reports whether nothing has to be read.
func (i *image) complete() bool {
	return !slices.ContainsFunc(i.chunks, func(c chunk) bool { return c.batch == nil })
}

// without returns the image without the chunks that have the rows; nil where little
// would be left of it. It returns i if they are out already.
func (i *image) without(rows *touched) *image {
	if rows.all || 4*rows.count > i.rows || len(i.chunks) == 0 {
		return nil
	}
	out := i
	for _, r := range rows.ranges {
		first, _ := slices.BinarySearchFunc(i.chunks, r.first, func(c chunk, row int64) int {
			if c.from > row {
				return 1
			}
			return -1
		})
		for k := max(first-1, 0); k < len(i.chunks) && i.chunks[k].from <= r.last; k++ {
			b := out.chunks[k].batch
			if b == nil {
				continue
			}
			if out == i {
				out = &image{chunks: slices.Clone(i.chunks), rows: i.rows, bytes: i.bytes, dicts: i.dicts, used: i.used}
			}
			out.chunks[k].batch = nil
			out.rows -= b.Rows
			out.bytes -= int64(b.MemoryBytes())
		}
	}
	return out
}

// touched is the rows that a transaction has written in a storage, by their identities.
type touched struct {
	ranges []rowRange
	count  int
	all    bool // too many ranges to know
}

type rowRange struct{ first, last int64 }

// maxTouched limits the ranges that are remembered.
const maxTouched = 1024

func (t *touched) add(row int64) {
	if t.all {
		return
	}
	t.count++
	if n := len(t.ranges); n > 0 {
		last := &t.ranges[n-1]
		if row >= last.first && row <= last.last {
			return
		}
		if row == last.last+1 {
			last.last = row
			return
		}
	}
	if len(t.ranges) == maxTouched {
		t.all, t.ranges = true, nil
		return
	}
	t.ranges = append(t.ranges, rowRange{row, row})
}

// images are the images of a store, within ImageBytes.
type images struct {
	mu        sync.Mutex
	epoch     uint64                 // one more with each change
	changedAt map[id.Relation]uint64 // the epoch of a storage's last change, if any moment is older
	moments   int                    // that have not ended
	pending   map[id.Relation]bool   // storages of the commit that is under way; there is one at a time
	held      map[id.Relation]*image
	bytes     int64
	reads     uint64
}

func newImages() *images {
	return &images{changedAt: map[id.Relation]uint64{}, pending: map[id.Relation]bool{}, held: map[id.Relation]*image{}}
}

// begin begins a moment: the images that there are of these storages go with the view
// that open returns, since no commit begins or ends in between. While a commit is under
// way its rows are in no image, so it does not matter whether the view has them.
func (m *images) begin(storages []id.Relation, open func() (kv.View, error)) (*moment, error) {
	out := &moment{images: make(map[id.Relation]*image, len(storages))}
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		clear(out.images)
		for _, storage := range storages {
			if i := m.held[storage]; i != nil {
				m.reads++
				i.used = m.reads
				out.images[storage] = i
			}
		}
		out.epoch = m.epoch
		m.moments++ // so that changes from here on are remembered
		m.mu.Unlock()
		rows, err := open()
		m.mu.Lock()
		if err == nil && m.epoch == out.epoch {
			out.rows = rows
			return out, nil
		}
		m.forget()
		if err == nil {
			err = rows.Close()
		}
		if err != nil {
			return nil, err
		}
	}
}

// forget counts a moment less.
func (m *images) forget() {
	m.moments--
	if m.moments == 0 {
		clear(m.changedAt)
	}
}

// end ends a moment: nothing of it is read any more.
func (o *moment) end(m *images) {
	if o.ended {
		return
	}
	o.ended = true
	_ = o.rows.Close() // what was to be read of it has been
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
}

// commitBegins takes the rows of a commit out of the images, before it.
func (m *images) commitBegins(changed map[id.Relation]*touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	for storage, rows := range changed {
		m.changedAt[storage], m.pending[storage] = m.epoch, true
		old := m.held[storage]
		if old == nil {
			continue
		}
		left := old.without(rows)
		if left == old {
			continue
		}
		m.drop(storage)
		if left != nil {
			m.held[storage] = left
			m.bytes += left.bytes
		}
	}
}

// commitEnds is called after a commit, whether it failed or not.
func (m *images) commitEnds(changed map[id.Relation]*touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	for storage := range changed {
		m.changedAt[storage] = m.epoch
	}
	clear(m.pending)
	if m.moments == 0 {
		clear(m.changedAt)
	}
}

// discard drops the image of a storage that nobody reads any more.
func (m *images) discard(table id.Relation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(table)
}

func (m *images) drop(table id.Relation) {
	if i := m.held[table]; i != nil {
		m.bytes -= i.bytes
		delete(m.held, table)
	}
}

// keep holds the image of a table at a moment of this epoch that has not ended, unless
// the table has changed since, or does now. Those that were not read for long make room.
func (m *images) keep(table id.Relation, epoch uint64, i *image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changedAt[table] > epoch || m.pending[table] || i.bytes > ImageBytes {
		return
	}
	m.drop(table)
	for m.bytes+i.bytes > ImageBytes {
		oldest := id.Relation(0)
		for t, other := range m.held {
			if o := m.held[oldest]; o == nil || other.used < o.used {
				oldest = t
			}
		}
		m.drop(oldest)
	}
	m.reads++
	i.used = m.reads
	m.held[table] = i
	m.bytes += i.bytes
}

// imageSource reads columns of an image that is complete.
type imageSource struct {
	chunks  []chunk
	columns []int
}

// Next implements exec.Source.
func (s *imageSource) Next(context.Context) (*types.Batch, error) {
	if len(s.chunks) == 0 {
		return nil, nil
	}
	b := s.chunks[0].batch
	s.chunks = s.chunks[1:]
	return columnsOf(b, s.columns), nil
}

// Close implements exec.Source.
func (s *imageSource) Close() error { return nil }

// patched is an image while what was taken out of it is read again.
type patched struct {
	left []chunk // still to come
	made *image
}

func patch(held *image) *patched {
	return &patched{left: held.chunks, made: &image{rows: held.rows, bytes: held.bytes, dicts: held.dicts}}
}

// next returns the batch that comes next, or the rows that have to be read instead;
// neither at the end.
func (p *patched) next() (b *types.Batch, missing *rowRange) {
	if len(p.left) == 0 {
		return nil, nil
	}
	if c := p.left[0]; c.batch != nil {
		p.left = p.left[1:]
		if len(p.made.chunks) == 0 {
			c.from = 0
		}
		p.made.chunks = append(p.made.chunks, c)
		return c.batch, nil
	}
	missing = &rowRange{p.left[0].from, math.MaxInt64}
	for len(p.left) > 0 && p.left[0].batch == nil {
		p.left = p.left[1:]
	}
	if len(p.left) > 0 {
		missing.last = p.left[0].from - 1
	}
	return nil, missing
}

// add takes rows that were read, and returns them as the image has them.
func (p *patched) add(all *types.Batch) *types.Batch {
	if all.Rows == 0 {
		return all
	}
	all = p.made.dicts.encode(all)
	p.made.chunks = append(p.made.chunks, chunkOf(all, len(p.made.chunks) == 0))
	p.made.rows += all.Rows
	p.made.bytes += int64(all.MemoryBytes())
	return all
}

// columnsOf picks columns of a batch that holds those of a table and the identities.
func columnsOf(b *types.Batch, columns []int) *types.Batch {
	out := &types.Batch{Rows: b.Rows, Cols: make([]*types.Vector, len(columns))}
	for i, c := range columns {
		if c == plan.RowID {
			c = len(b.Cols) - 1
		}
		out.Cols[i] = b.Cols[c]
	}
	return out
}
