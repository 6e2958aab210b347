package exec

import (
	"context"
	"hash/maphash"

	"github.com/tallydb/tallydb/sql/plan"
	"github.com/tallydb/tallydb/sql/spill"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

const (
	// spillParts is into how many files rows go by the hash of their keys.
	spillParts = 16
	// maxSpillLevel is how often such a file may be split again: equal keys stay
	// together however often that is done.
	maxSpillLevel = 6
)

// pressed reports whether a statement has used so much of its memory that what can
// spill should: the rest is for what cannot.
func (r *run) pressed() bool {
	return r.state.spill != nil && r.state.memory.used > r.state.memory.limit/8*5
}

// outOfMemory reports whether an error says that memory does not suffice, which
// spilling may help.
func (r *run) outOfMemory(err error) bool {
	return r.state.spill != nil && sqlerr.CodeOf(err) == sqlerr.OutOfMemory
}

// stats returns what EXPLAIN ANALYZE is to show of a node; what is noted is lost where
// nobody asked.
func (r *run) stats(n plan.Node) *plan.NodeStats {
	if r.env.Clock == nil {
		return &plan.NodeStats{}
	}
	s := r.state.stats[n]
	if s == nil {
		s = &plan.NodeStats{}
		if r.state.stats == nil {
			r.state.stats = map[plan.Node]*plan.NodeStats{}
		}
		r.state.stats[n] = s
	}
	return s
}

// partitioner spreads rows over files by the hash of their keys.
type partitioner struct {
	run    *run
	schema *types.Schema
	level  int
	files  [spillParts]*spill.File // nil: no rows
	sel    [spillParts][]int32
	buf    []byte
}

func (r *run) newPartitioner(schema *types.Schema, level int) *partitioner {
	return &partitioner{run: r, schema: schema, level: level}
}

// seedOf returns the seed of the hashes of a level. Rows that one level put into one
// file are spread by the next.
func (s *state) seedOf(level int) maphash.Seed {
	for len(s.seeds) <= level {
		s.seeds = append(s.seeds, maphash.MakeSeed())
	}
	return s.seeds[level]
}

// write writes those rows of a batch that sel names; keys are of the whole batch.
func (p *partitioner) write(b *types.Batch, keys []*types.Vector, sel []int32) error {
	seed := p.run.state.seedOf(p.level)
	for i := range p.sel {
		p.sel[i] = p.sel[i][:0]
	}
	for _, i := range sel {
		p.buf = appendKeys(p.buf[:0], keys, int(i))
		k := maphash.Bytes(seed, p.buf) % spillParts
		p.sel[k] = append(p.sel[k], i)
	}
	for k, rows := range p.sel {
		if len(rows) == 0 {
			continue
		}
		if p.files[k] == nil {
			f, err := p.run.state.spill.Create()
			if err != nil {
				return err
			}
			p.files[k] = f
		}
		if err := p.files[k].Write(b.Gather(rows)); err != nil {
			return err
		}
	}
	return nil
}

// all writes all rows of a source, and closes it.
func (p *partitioner) all(ctx context.Context, src Source, keys func(*types.Batch) ([]*types.Vector, error)) error {
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return closing(src, err)
		}
		if b == nil {
			return closing(src, p.finish())
		}
		cols, err := keys(b)
		if err != nil {
			return closing(src, err)
		}
		if err := p.write(b, cols, p.run.state.everyRow(b.Rows)); err != nil {
			return closing(src, err)
		}
	}
}

// closing closes a source, whose error comes second.
func closing(src Source, err error) error {
	if e := src.Close(); err == nil {
		err = e
	}
	return err
}

// finish ends the writing.
func (p *partitioner) finish() error {
	for _, f := range p.files {
		if f != nil {
			if err := f.Finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes is the size of the files.
func (p *partitioner) bytes() int64 {
	n := int64(0)
	for _, f := range p.files {
		if f != nil {
			n += f.Bytes()
		}
	}
	return n
}

// fileSource reads the rows of a file, which it removes when it is closed unless they
// are to be read again. Of a nil file it has none.
type fileSource struct {
	run    *run
	file   *spill.File
	schema *types.Schema
	reader *spill.Reader
	keep   bool
	batch  *types.Batch
}

// Next implements Source.
func (s *fileSource) Next(ctx context.Context) (*types.Batch, error) {
	if s.file == nil {
		return nil, nil
	}
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	if s.reader == nil {
		var err error
		if s.reader, err = s.file.Open(); err != nil {
			return nil, err
		}
		s.batch = types.NewBatch(s.schema, 0)
	}
	ok, err := s.reader.Next(s.batch)
	if err != nil || !ok {
		return nil, err
	}
	return s.batch, nil
}

// Close implements Source.
func (s *fileSource) Close() error {
	var err error
	if s.reader != nil {
		err = s.reader.Close()
		s.reader = nil
	}
	if s.file != nil && !s.keep {
		if e := s.file.Remove(); err == nil {
			err = e
		}
	}
	s.file = nil
	return err
}

// toFile writes rows to a new file, and releases their memory.
func (r *run) toFile(rows *rowSet) (*spill.File, error) {
	f, err := r.state.spill.Create()
	if err != nil {
		return nil, err
	}
	c := cursor{rows: &rows.Batch, all: true}
	for b := c.next(); b != nil; b = c.next() {
		if err := f.Write(b); err != nil {
			return nil, err
		}
	}
	rows.release(&r.state.memory)
	return f, nil
}
