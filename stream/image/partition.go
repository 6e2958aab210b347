package image

import (
	"context"
	"slices"
	"sort"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// A block ends with the record that brings it to so many rows, or to so many records.
const (
	blockRows    = 4096
	blockRecords = 1024
)

// Partition is the image of one partition's log.
type Partition struct {
	stream *Stream
	units  []*unit // by column
	blocks []*block
}

// block is some consecutive records, [from, to).
type block struct {
	from, to id.Offset
	ends     []int32         // rows up to the end of each record; nil before a column was decoded
	cols     []*types.Vector // nil where not decoded
}

// NewPartition returns the empty image of one of the stream's partitions.
func (s *Stream) NewPartition() *Partition {
	p := &Partition{stream: s}
	for c := range s.schema.Columns {
		p.units = append(p.units, &unit{partition: p, column: c})
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.partitions = append(s.partitions, p)
	return p
}

// Read decodes records of a partition: it appends their admitted rows to the columns of
// into that are not nil, and calls end after each record.
type Read func(ctx context.Context, from, to id.Offset, into *types.Batch, end func()) error

// Scan is one reading of some columns.
type Scan struct {
	image   *Partition
	columns []int
	read    Read
	number  uint64
}

// Scan begins to read columns. read is called for what the image does not hold, by
// whoever calls Batch.
func (p *Partition) Scan(columns []int, read Read) *Scan {
	c := p.stream.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scans++
	for _, col := range columns {
		p.units[col].used = c.scans
	}
	return &Scan{p, columns, read, c.scans}
}

// Span is the records of a batch.
type Span struct {
	From, To id.Offset
	block    *block // that holds them; nil if they are too few for one
}

// Spans cuts the records [from, to) into spans. rows says how many rows a record holds;
// records below from are no longer there.
func (s *Scan) Spans(from, to id.Offset, rows func(at id.Offset) int64) []Span {
	c := s.image.stream.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	s.image.trim(from)
	var out []Span
	at := sort.Search(len(s.image.blocks), func(i int) bool { return s.image.blocks[i].to > from })
	for ; at < len(s.image.blocks) && s.image.blocks[at].from <= from && from < to; at++ {
		b := s.image.blocks[at]
		out = append(out, Span{from, min(b.to, to), b})
		from = min(b.to, to)
	}
	for from < to {
		n, records, end := int64(0), 0, from
		for end < to && n < blockRows && records < blockRecords {
			n += rows(end)
			records++
			end++
		}
		var b *block
		if s.image.ends(from) && (n >= blockRows || records >= blockRecords) {
			b = &block{from: from, to: end, cols: make([]*types.Vector, len(s.image.units))}
			s.image.blocks = append(s.image.blocks, b)
		}
		out = append(out, Span{from, end, b})
		from = end
	}
	return out
}

// ends reports whether a block may begin at an offset: blocks follow each other.
func (p *Partition) ends(at id.Offset) bool {
	n := len(p.blocks)
	return n == 0 || p.blocks[n-1].to == at
}

// trim forgets the blocks below an offset.
func (p *Partition) trim(base id.Offset) {
	n := 0
	for n < len(p.blocks) && p.blocks[n].to <= base {
		for col, v := range p.blocks[n].cols {
			if v != nil {
				bytes := int64(v.MemoryBytes())
				p.units[col].bytes -= bytes
				p.stream.cache.held -= bytes
			}
		}
		n++
	}
	p.blocks = slices.Delete(p.blocks, 0, n)
}

// Batch returns the rows of a span. It is only read, also by others.
func (s *Scan) Batch(ctx context.Context, span Span) (*types.Batch, error) {
	b := span.block
	if b == nil || span.From > b.from { // what is before in the block may be trimmed
		return s.partly(ctx, span)
	}
	cols, ends := s.held(b)
	var missing []int
	for i, c := range s.columns {
		if cols[i] == nil {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 || ends == nil {
		into, read, err := s.decode(ctx, b.from, b.to, missing)
		if err != nil {
			return nil, err
		}
		ends = read
		s.keep(b, into, missing, ends)
		for i, c := range s.columns {
			if cols[i] == nil {
				cols[i] = into[c]
			}
		}
	}
	out := &types.Batch{Cols: cols, Rows: rowsOf(ends, len(ends))}
	for i, c := range s.columns {
		out.Cols[i] = s.image.stream.current(c, cols[i])
	}
	return out.Slice(0, rowsOf(ends, int(span.To-b.from))), nil
}

// rowsOf is how many rows the first n records have.
func rowsOf(ends []int32, n int) int {
	if n == 0 {
		return 0
	}
	return int(ends[n-1])
}

// partly reads records of which the image holds nothing, or no whole block.
func (s *Scan) partly(ctx context.Context, span Span) (*types.Batch, error) {
	into, ends, err := s.decode(ctx, span.From, span.To, s.columns)
	if err != nil {
		return nil, err
	}
	out := &types.Batch{Rows: rowsOf(ends, len(ends))}
	for _, c := range s.columns {
		out.Cols = append(out.Cols, s.image.stream.current(c, into[c]))
	}
	return out, nil
}

// held returns what a block has of the scan's columns.
func (s *Scan) held(b *block) ([]*types.Vector, []int32) {
	c := s.image.stream.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*types.Vector, len(s.columns))
	for i, col := range s.columns {
		out[i] = b.cols[col]
	}
	return out, b.ends
}

// decode reads columns of records, by number of the column.
func (s *Scan) decode(ctx context.Context, from, to id.Offset, columns []int) (into []*types.Vector, ends []int32, err error) {
	schema := s.image.stream.schema
	b := &types.Batch{Cols: make([]*types.Vector, len(schema.Columns))}
	for _, c := range columns {
		b.Cols[c] = types.NewVector(schema.Columns[c].Type, 0)
	}
	ends = make([]int32, 0, to-from)
	if err := s.read(ctx, from, to, b, func() { ends = append(ends, int32(b.Rows)) }); err != nil {
		return nil, nil, err
	}
	for _, c := range columns {
		b.Cols[c] = s.image.stream.encode(c, b.Cols[c])
	}
	return b.Cols, ends, nil
}

// keep puts decoded columns into a block, as far as there is memory.
func (s *Scan) keep(b *block, from []*types.Vector, columns []int, ends []int32) {
	c := s.image.stream.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	b.ends = ends
	if s.image.stream.closed || len(s.image.blocks) == 0 || b.from < s.image.blocks[0].from { // it was trimmed
		return
	}
	for _, col := range columns {
		v, u := from[col], s.image.units[col]
		if b.cols[col] == nil && c.reserve(u, int64(v.MemoryBytes())) {
			b.cols[col] = v
		}
	}
}
