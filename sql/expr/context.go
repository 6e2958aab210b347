package expr

import (
	"time"

	"github.com/tallydb/tallydb/sql/types"
)

var emptyContext = &Context{}

func (ec *Context) location() *time.Location {
	if ec.Location == nil {
		return time.UTC
	}
	return ec.Location
}

// TextOptions returns what the text form of values needs of the context.
func (ec *Context) TextOptions() *types.TextOptions {
	o := &types.TextOptions{Location: ec.Location, Now: ec.Now, Enums: ec.Enums}
	if ec.Catalog == nil {
		return o
	}
	o.RegName = func(t types.OID, oid uint32) (string, bool) {
		if t == types.Regclass {
			return ec.Catalog.RelationName(oid, ec.SearchPath)
		}
		d, ok := ec.Catalog.(Definer)
		switch {
		case !ok:
			return "", false
		case t == types.Regtype:
			return d.TypeName(types.OID(oid), ec.SearchPath)
		}
		return d.ObjectName(t, oid)
	}
	o.RegLookup = func(t types.OID, name string) (uint32, bool) {
		if t == types.Regclass {
			return ec.Catalog.RelationOID(name, ec.SearchPath)
		}
		d, ok := ec.Catalog.(Definer)
		switch {
		case !ok:
			return 0, false
		case t == types.Regtype:
			o, ok := d.TypeOID(name, ec.SearchPath)
			return uint32(o), ok
		}
		return d.ObjectOID(t, name)
	}
	return o
}
