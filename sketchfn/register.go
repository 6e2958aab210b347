package sketchfn

import (
	"github.com/tallydb/tallydb/sketchfn/bloom"
	"github.com/tallydb/tallydb/sketchfn/bucket"
	"github.com/tallydb/tallydb/sketchfn/countmin"
	"github.com/tallydb/tallydb/sketchfn/countsketch"
	"github.com/tallydb/tallydb/sketchfn/ddsketch"
	"github.com/tallydb/tallydb/sketchfn/decay"
	"github.com/tallydb/tallydb/sketchfn/gk"
	"github.com/tallydb/tallydb/sketchfn/graph"
	"github.com/tallydb/tallydb/sketchfn/histogram"
	"github.com/tallydb/tallydb/sketchfn/hll"
	"github.com/tallydb/tallydb/sketchfn/kll"
	"github.com/tallydb/tallydb/sketchfn/matrix"
	"github.com/tallydb/tallydb/sketchfn/minhash"
	"github.com/tallydb/tallydb/sketchfn/ranked"
	"github.com/tallydb/tallydb/sketchfn/req"
	"github.com/tallydb/tallydb/sketchfn/sample"
	"github.com/tallydb/tallydb/sketchfn/simhash"
	"github.com/tallydb/tallydb/sketchfn/tdigest"
	"github.com/tallydb/tallydb/sketchfn/theta"
	"github.com/tallydb/tallydb/sketchfn/topk"
	"github.com/tallydb/tallydb/sketchfn/triest"
	"github.com/tallydb/tallydb/sketchfn/value"
	"github.com/tallydb/tallydb/sketchfn/varopt"
	"github.com/tallydb/tallydb/sql/agg"
)

// Register registers the aggregates of every family, and the scalar functions
// that read their values.
func Register(r *agg.Registry) {
	fs := &value.Families{}
	fs.Register(r)
	registerPlan(r)
	hll.Register(r, fs)
	kll.Register(r, fs)
	topk.Register(r, fs)
	theta.Register(r, fs)
	countmin.Register(r, fs)
	countsketch.Register(r, fs)
	bloom.Register(r, fs)
	minhash.Register(r, fs)
	ranked.Register(r)
	sample.Register(r)
	histogram.Register(r)
	decay.Register(r)
	ddsketch.Register(r, fs)
	gk.Register(r, fs)
	req.Register(r, fs)
	tdigest.Register(r, fs)
	matrix.Register(r, fs)
	graph.Register(r, fs)
	triest.Register(r)
	varopt.Register(r, fs)
	simhash.Register(r, fs)
	bucket.Register(r, fs)
}
