package sketchfn

import (
	"github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sketchfn/kll"
	"github.com/tallydb/tallydb/sketchfn/topk"
	"github.com/tallydb/tallydb/sql/agg"
)

// Register registers the aggregates of every family.
func Register(r *agg.Registry) {
	hll.Register(r)
	kll.Register(r)
	topk.Register(r)
}
