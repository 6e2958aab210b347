// Package id is the vocabulary of names: numbers that identify things for as
// long as they exist. Numbers are never reused.
package id

// Tenant is a database and the boundary of quotas, roles and seeds.
type Tenant uint32

// Relation identifies a stream, a view or a table within the whole catalog. It
// is also the OID that pg_class shows. A dropped and recreated stream is a new
// incarnation with a new number.
type Relation uint32

// FirstRelation is the lowest number given to a user's relation; those below
// belong to the system catalogs, as in PostgreSQL.
const FirstRelation Relation = 16_385

// Partition numbers a partition within its stream: the unit of log order and of
// ownership.
type Partition uint32

// KeyGroups is the number of key groups of every stream, for its life.
const KeyGroups = 1024

// KeyGroup is the unit of state movement: keyed hash of the routing key modulo KeyGroups.
type KeyGroup uint16

// Epoch numbers the mappings of key groups to partitions in the order they took effect.
type Epoch uint32

// FencingToken orders the owners of a partition: a higher one wins (L-10).
type FencingToken uint64

// Offset numbers a batch record in a partition's log. The first record is 0.
type Offset uint64

// StreamPartition names one partition's log.
type StreamPartition struct {
	Tenant    Tenant
	Stream    Relation
	Partition Partition
}
