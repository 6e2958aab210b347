package pgcatalog

import (
	"fmt"
	"hash/fnv"

	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/types"
)

// derived is a kind of object that a relation brings with it. Its number is the
// relation's with the kind in the upper four bits, above every relation's number.
type derived uint32

const (
	rowTypeOf derived = iota + 1
	indexOf
	constraintOf
	rejectedOf
	lateOf
	errorsOf
	ruleOf
	defaultOf // the column's number is in bits 18 to 27
)

// defaultColumnBits are the bits of a default's number that hold the relation.
const defaultColumnBits = 18

func (d derived) oid(relation uint32) uint32 { return uint32(d)<<28 | relation }

func defaultOID(relation id.Relation, column int) uint32 {
	return defaultOf.oid(uint32(relation)&(1<<defaultColumnBits-1) | uint32(column&0x3ff)<<defaultColumnBits)
}

// Numbers of objects that are not in any file.
const (
	ownerOID  = 10 // the role that owns everything
	firstCast = 20_000_000
)

// numbering gives functions and operators numbers that depend on their names and
// arguments, so that they stay when others are added.
type numbering map[uint32]bool

// hashedBase is the first of the numbers that are hashes; they end below those of
// derived objects.
const hashedBase = 1 << 27

func (taken numbering) number(kind, name string, args []types.OID) uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, kind, name, args)
	n := hashedBase | h.Sum32()&(hashedBase-1)
	for taken[n] {
		n = hashedBase | (n+1)&(hashedBase-1)
	}
	taken[n] = true
	return n
}

// classOID numbers the catalogs that pg_depend and pg_description name.
const (
	pgClassOID      = 1259
	pgTypeOID       = 1247
	pgProcOID       = 1255
	pgConstraintOID = 2606
	pgNamespaceOID  = 2615
	pgAttrdefOID    = 2604
	pgRewriteOID    = 2618
)
