package tablestore

import (
	"sync"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/types"
)

// ImageBytes limits the memory of all images of a store.
const ImageBytes = 256 << 20

// image is the committed rows of a table as columns: every column of the table,
// then the identities. Texts with few distinct values have a dictionary, one for the
// whole table. It is only read. A scan that reads a table to its end leaves one
// behind, so that the next scan need not take rows apart again.
type image struct {
	batches []*types.Batch
	bytes   int64
	used    uint64 // when it was read last, counted in reads
}

// images are the images of a store, within ImageBytes.
type images struct {
	mu       sync.Mutex
	versions map[id.Relation]uint64 // of a table, one more with each change
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

// changed forgets the image of a table whose rows are others now.
func (m *images) changed(table id.Relation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versions[table]++
	m.drop(table)
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

// imageSource reads columns of an image.
type imageSource struct {
	batches []*types.Batch
	columns []int
}

// next returns the columns of the next batch, nil at the end.
func (s *imageSource) next() *types.Batch {
	if len(s.batches) == 0 {
		return nil
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	return columnsOf(b, s.columns)
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
