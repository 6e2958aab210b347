package image

import (
	"sync"

	"github.com/tallydb/tallydb/sql/types"
)

// Cache is the memory of a node's images.
type Cache struct {
	// mu guards what all images hold. It is never held while rows are decoded.
	mu    sync.Mutex
	limit int64
	held  int64
	scans uint64
	units map[*unit]struct{} // those that hold memory
}

// unit is a column of a partition's image: what is dropped together.
type unit struct {
	partition *Partition
	column    int
	bytes     int64
	used      uint64 // by which scan last
}

// NewCache returns a cache of this many bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, units: map[*unit]struct{}{}}
}

// Bytes returns how many bytes are held.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// reserve takes bytes for a unit. The units that were not used for longest make room,
// but not for those that were used as late: what a scan keeps is not dropped for the
// rest of it. mu is held.
func (c *Cache) reserve(u *unit, bytes int64) bool {
	for c.held+bytes > c.limit {
		oldest := u
		for o := range c.units {
			if o.used < oldest.used {
				oldest = o
			}
		}
		if oldest == u {
			return false
		}
		oldest.drop()
	}
	c.held += bytes
	u.bytes += bytes
	c.units[u] = struct{}{}
	return true
}

// drop forgets the vectors of a column; the cache's mu is held.
func (u *unit) drop() {
	for _, b := range u.partition.blocks {
		b.cols[u.column] = nil
	}
	c := u.partition.stream.cache
	c.held -= u.bytes
	u.bytes = 0
	delete(c.units, u)
}

// Stream is what the images of a stream's partitions have in common.
type Stream struct {
	cache      *Cache
	schema     *types.Schema
	dicts      []*dictionary // of each column; nil where its type has none
	partitions []*Partition
	closed     bool
}

// dictionary is that of one column. As long as it grows, vectors of earlier blocks have
// an earlier one; it is put in when they are handed out.
type dictionary struct {
	mu      sync.Mutex
	builder *types.DictBuilder // nil: the column has too many values
	charged int64
}

// NewStream returns the images of a stream with this schema.
func (c *Cache) NewStream(schema *types.Schema) *Stream {
	s := &Stream{cache: c, schema: schema, dicts: make([]*dictionary, len(schema.Columns))}
	for i, col := range schema.Columns {
		if types.DictType(col.Type) {
			s.dicts[i] = &dictionary{builder: types.NewDictBuilder(col.Type)}
		}
	}
	return s
}

// Close gives the memory back.
func (s *Stream) Close() {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.closed = true
	for _, p := range s.partitions {
		for _, u := range p.units {
			u.drop()
		}
		p.blocks = nil
	}
	for _, d := range s.dicts {
		if d != nil {
			s.cache.held -= d.charged
			d.charged = 0
		}
	}
}

// encode gives a flat column of a block the codes of the stream's dictionary. Where
// the column has none, it is left as it is.
func (s *Stream) encode(column int, v *types.Vector) *types.Vector {
	d := s.dicts[column]
	if d == nil {
		return v
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.builder == nil {
		return v
	}
	before := d.builder.Len()
	codes, ok := d.builder.Add(make([]uint16, 0, v.Len()), v)
	if !ok {
		d.builder = nil
		s.forget(column, d)
		return v
	}
	if d.builder.Len() > before {
		s.charge(d)
	}
	return &types.Vector{Type: v.Type, Nulls: v.Nulls, Codes: codes, Dict: d.builder.Dict()}
}

// charge counts what a dictionary has grown by. It is small, and not refused.
func (s *Stream) charge(d *dictionary) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.closed {
		return
	}
	bytes := int64(d.builder.MemoryBytes())
	s.cache.held += bytes - d.charged
	d.charged = bytes
}

// forget drops the vectors that have a dictionary that the column has no more.
func (s *Stream) forget(column int, d *dictionary) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	for _, p := range s.partitions {
		p.units[column].drop()
	}
	s.cache.held -= d.charged
	d.charged = 0
}

// current returns a vector with the dictionary as it is now, which extends its own.
func (s *Stream) current(column int, v *types.Vector) *types.Vector {
	if v.Dict == nil {
		return v
	}
	d := s.dicts[column]
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.builder == nil || d.builder.Dict() == v.Dict {
		return v
	}
	out := *v
	out.Dict = d.builder.Dict()
	return &out
}
