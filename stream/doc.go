// Package stream owns the streams of a node: one partition worker for each
// partition, their creation and end, and the ticks by which time passes in the
// logs of partitions whose input is idle.
//
// The parts are below: routing, dedup, watermark, window and fold are pure;
// state holds groups; partition is the worker; ingest is the way in.
//
// Goroutines: the ticker and one for each partition, under one group that Close
// ends.
package stream
