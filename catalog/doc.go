// Package catalog describes what a database holds: streams, continuous views,
// plain views and tables, as versioned, immutable descriptors, and snapshots of
// all of them.
//
// It knows nothing of how descriptors are stored (catalog/store), parsed or
// run. Descriptors are data: what is derived from them (bound plans) is derived
// by who needs it.
//
// Invariants:
//
//  1. A descriptor is never changed in place. DDL makes a new one with a higher
//     Version, and a new Snapshot that holds it.
//  2. Relation numbers are never reused; a dropped and recreated stream is a
//     new incarnation.
package catalog
