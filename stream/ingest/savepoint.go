package ingest

import "github.com/tallydb/tallydb/stream/rows"

// Mark is how far an appender had collected when a savepoint was set.
type Mark struct {
	open    []openRows // by index of the open epoch's partitions
	full    int
	bytes   int
	rejects int // records of rejects
	last    int // rows of the last of them
	size    int
}

// openRows is a batch that was being filled, with as many rows as it had then.
type openRows struct {
	rows *rows.Rows
	n    int
}

// Mark notes what was collected so far. It is for appenders that hold everything
// until Commit; of what others have appended nothing can be taken back.
func (a *Appender) Mark() Mark {
	m := Mark{open: make([]openRows, len(a.open)), full: len(a.full), bytes: a.bytes, rejects: len(a.rejects), size: a.size}
	for p, r := range a.open {
		if r != nil {
			m.open[p] = openRows{r, r.Batch.Rows}
		}
	}
	if m.rejects > 0 {
		m.last = a.rejects[m.rejects-1].Rows
	}
	return m
}

// RollbackTo drops what was collected since the mark; marks set later than it
// must not be used any more. A batch that was being filled then, and is still
// the appender's, is cut back to the rows it had.
func (a *Appender) RollbackTo(m Mark) {
	later := a.full[m.full:]
	a.full = a.full[:m.full]
	for p, r := range a.open {
		if r != nil && r != m.open[p].rows {
			r.Release()
		}
		a.open[p] = m.open[p].rows
	}
	for _, f := range later {
		if f.rows != m.open[f.partition].rows {
			f.rows.Release()
		}
	}
	for _, o := range m.open {
		if o.rows != nil {
			o.rows.Truncate(o.n)
		}
	}
	a.bytes = m.bytes
	a.rejects, a.size = a.rejects[:m.rejects], m.size
	if m.rejects > 0 {
		a.rejects[m.rejects-1].Truncate(m.last)
	}
}
