package tablestore

import (
	"math"
	"slices"
	"sync"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
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
	mu       sync.Mutex
	versions map[id.Relation]uint64 // of a storage, one more with each change
	held     map[id.Relation]*image
	bytes    int64
	reads    uint64
}

func newImages() *images {
	return &images{versions: map[id.Relation]uint64{}, held: map[id.Relation]*image{}}
}

// read returns the image of a table, nil if there is none, and the version of the
// rows that whoever reads now will see.
func (m *images) read(table id.Relation) (*image, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.held[table]
	if i != nil {
		m.reads++
		i.used = m.reads
	}
	return i, m.versions[table]
}

// unchanged reports whether a version is still that of a table.
func (m *images) unchanged(table id.Relation, version uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.versions[table] == version
}

// changed takes rows out of the image of a table. It is called before a commit, so that
// nobody takes what is older than their snapshot for the rest of it, and after it, so
// that what was read and kept meanwhile goes too.
func (m *images) changed(table id.Relation, rows *touched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versions[table]++
	old := m.held[table]
	if old == nil {
		return
	}
	left := old.without(rows)
	if left == old {
		return
	}
	m.drop(table)
	if left != nil {
		m.held[table] = left
		m.bytes += left.bytes
	}
}

func (m *images) drop(table id.Relation) {
	if i := m.held[table]; i != nil {
		m.bytes -= i.bytes
		delete(m.held, table)
	}
}

// keep holds the image of a version of a table, unless that has changed since. Those
// that were not read for long make room.
func (m *images) keep(table id.Relation, version uint64, i *image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.versions[table] != version || i.bytes > ImageBytes {
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

// next returns the columns of the next batch, nil at the end.
func (s *imageSource) next() *types.Batch {
	if len(s.chunks) == 0 {
		return nil
	}
	b := s.chunks[0].batch
	s.chunks = s.chunks[1:]
	return columnsOf(b, s.columns)
}

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
