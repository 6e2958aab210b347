package pgcatalog

import "github.com/tallydb/tallydb/catalog"

// sequences calls row for every sequence.
func (c *Catalog) sequences(row func(r *catalog.Relation, q *catalog.Sequence)) {
	for _, o := range c.objects() {
		if o.kind == "S" {
			row(o.relation, o.relation.Sequence)
		}
	}
}

func fillSequences(c *Catalog, w *writer) {
	w.columns("seqrelid seqtypid seqstart seqincrement seqmax seqmin seqcycle")
	w.always("seqcache", int64(1))
	c.sequences(func(r *catalog.Relation, q *catalog.Sequence) {
		w.add(uint32(r.ID), uint32(q.Type), q.Start, q.Increment, q.Max, q.Min, q.Cycle)
	})
}

// fillSequenceView writes pg_sequences, but for how far each sequence is.
func fillSequenceView(c *Catalog, w *writer) {
	w.columns("schemaname sequencename sequenceowner data_type start_value min_value max_value increment_by cycle")
	w.always("cache_size", int64(1))
	c.sequences(func(r *catalog.Relation, q *catalog.Sequence) {
		w.add(r.Schema, r.Name, c.cfg.Rights.Owner(r.Owner), uint32(q.Type), q.Start, q.Min, q.Max, q.Increment, q.Cycle)
	})
}
