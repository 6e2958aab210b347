package segmentlog

import (
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/storage/ingestlog"
)

// location says where a record's payload is.
type location struct {
	segment  uint32
	position uint32
	length   uint32
	crc      uint32
	rows     uint32
	kind     ingestlog.RecordKind
	schema   uint32
	time     int64
	fence    id.FencingToken
}

// partitionIndex holds where the records of one partition are.
type partitionIndex struct {
	base      id.Offset // of locations[0]
	locations []location
	trimTo    id.Offset
	deliver   map[int]func(*ingestlog.Record) // subscribers by number
}

func (p *partitionIndex) head() id.Offset { return p.base + id.Offset(len(p.locations)) }

// dropBelow forgets the records below offset.
func (p *partitionIndex) dropBelow(offset id.Offset) {
	if offset <= p.base {
		return
	}
	n := min(int(offset-p.base), len(p.locations))
	p.locations = append([]location(nil), p.locations[n:]...)
	p.base = offset
}
