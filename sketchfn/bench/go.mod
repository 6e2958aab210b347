module github.com/tallydb/tallydb/sketchfn/bench

go 1.26.0

require (
	github.com/DataDog/sketches-go v1.4.8
	github.com/apache/datasketches-go v0.1.0
	github.com/axiomhq/hyperloglog v0.3.0
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	github.com/caio/go-tdigest/v4 v4.1.0
	github.com/influxdata/tdigest v0.0.1
	github.com/tallydb/tallydb v0.0.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.2 // indirect
	github.com/cockroachdb/apd/v3 v3.2.3 // indirect
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/kamstrup/intmap v0.5.2 // indirect
	github.com/twmb/murmur3 v1.1.8 // indirect
	golang.org/x/exp v0.0.0-20250408133849-7e4ce0ab07d0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/tallydb/tallydb => ../..
