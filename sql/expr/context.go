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
	o := &types.TextOptions{Location: ec.Location, Now: ec.Now}
	if ec.Catalog == nil {
		return o
	}
	o.RegName = func(t types.OID, oid uint32) (string, bool) {
		if t != types.Regclass {
			if d, ok := ec.Catalog.(Definer); ok {
				return d.ObjectName(t, oid)
			}
			return "", false
		}
		return ec.Catalog.RelationName(oid, ec.SearchPath)
	}
	o.RegLookup = func(t types.OID, name string) (uint32, bool) {
		if t != types.Regclass {
			if d, ok := ec.Catalog.(Definer); ok {
				return d.ObjectOID(t, name)
			}
			return 0, false
		}
		return ec.Catalog.RelationOID(name, ec.SearchPath)
	}
	return o
}
