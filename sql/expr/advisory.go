package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/types"
)

// LockKey names an advisory lock: one number of eight bytes, or two of four. The
// two kinds are different locks.
type LockKey struct {
	Pair bool
	A, B int64
}

// LockMode is how an advisory lock is taken.
type LockMode struct {
	Shared      bool // others may share it
	Try         bool // do not wait
	Transaction bool // until the end of the transaction, not of the session
}

// advisoryFunctions take and give back advisory locks. Without Sessions there is
// nobody to lock out.
func advisoryFunctions() []overload {
	key := func(a []types.Datum) LockKey {
		if len(a) == 2 {
			return LockKey{Pair: true, A: a[0].Int, B: a[1].Int}
		}
		return LockKey{A: a[0].Int}
	}
	void := types.TextDatum("")
	void.Type = types.Of(types.Void)
	var out []overload
	add := func(name, result, about string, row rowFunc) {
		for _, args := range []string{"(int8)", "(int4,int4)"} {
			out = append(out, fn(name+args+" "+result, about, row).volatile())
		}
	}
	for _, name := range []string{"advisory_lock", "advisory_xact_lock"} {
		for _, suffix := range []string{"", "_shared"} {
			mode := LockMode{Shared: suffix != "", Transaction: strings.Contains(name, "xact")}
			try := mode
			try.Try = true
			add("pg_"+name+suffix, "void", "take an advisory lock, waiting for it", func(ec *Context, a []types.Datum) (types.Datum, error) {
				if ec.Sessions == nil {
					return void, nil
				}
				_, err := ec.Sessions.AdvisoryLock(key(a), mode)
				return void, err
			})
			add("pg_try_"+name+suffix, "bool", "take an advisory lock if it is free", func(ec *Context, a []types.Datum) (types.Datum, error) {
				if ec.Sessions == nil {
					return types.BoolDatum(true), nil
				}
				ok, err := ec.Sessions.AdvisoryLock(key(a), try)
				return types.BoolDatum(ok), err
			})
		}
	}
	for _, suffix := range []string{"", "_shared"} {
		add("pg_advisory_unlock"+suffix, "bool", "give back an advisory lock", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return types.BoolDatum(ec.Sessions != nil && ec.Sessions.AdvisoryUnlock(key(a), suffix != "")), nil
		})
	}
	return append(out, fn("pg_advisory_unlock_all() void", "give back the advisory locks of the session", func(ec *Context, _ []types.Datum) (types.Datum, error) {
		if ec.Sessions != nil {
			ec.Sessions.AdvisoryUnlockAll()
		}
		return void, nil
	}).volatile())
}
