package expr

import (
	"time"

	"github.com/tallydb/tallydb/sql/types"
)

// Sessions is what functions do with the sessions of the server.
type Sessions interface {
	// Notify sends a message to who listens, when the transaction is committed.
	Notify(channel, payload string) error
	// Cancel ends the statement of a session; false if there is no such session. It fails
	// where the session's role may not.
	Cancel(pid int64) (bool, error)
	// Terminate ends a session; false if there is no such session. It fails where the
	// session's role may not.
	Terminate(pid int64) (bool, error)
	// AdvisoryLock takes a lock; false if another session is in the way and the
	// mode is not to wait.
	AdvisoryLock(key LockKey, how LockMode) (bool, error)
	// AdvisoryUnlock gives back one hold of the session; false if there is none.
	AdvisoryUnlock(key LockKey, shared bool) bool
	// AdvisoryUnlockAll gives back all of the session's.
	AdvisoryUnlockAll()
	// Started is when the server started.
	Started() time.Time
}

// sessionFunctions act on sessions. Without Sessions they do nothing.
func sessionFunctions() []overload {
	notify := func(ec *Context, a []types.Datum) (types.Datum, error) {
		void := types.TextDatum("")
		void.Type = types.Of(types.Void)
		if ec.Sessions == nil {
			return void, nil
		}
		channel, payload := "", ""
		if !a[0].Null {
			channel = str(a[0])
		}
		if !a[1].Null {
			payload = str(a[1])
		}
		return void, ec.Sessions.Notify(channel, payload)
	}
	signal := func(send func(Sessions, int64) (bool, error)) rowFunc {
		return func(ec *Context, a []types.Datum) (types.Datum, error) {
			if ec.Sessions == nil {
				return types.BoolDatum(false), nil
			}
			sent, err := send(ec.Sessions, a[0].Int)
			return types.BoolDatum(sent), err
		}
	}
	started := func(ec *Context, _ []types.Datum) (types.Datum, error) {
		if ec.Sessions == nil {
			return types.NullOf(types.Of(types.Timestamptz)), nil
		}
		return types.IntDatum(types.Timestamptz, types.FromTime(ec.Sessions.Started())), nil
	}
	return []overload{
		fn("pg_notify(text,text) void", "send a message to the sessions that listen", notify).onNull().volatile(),
		fn("pg_cancel_backend(int4) bool", "end the statement of a session", signal(Sessions.Cancel)).volatile(),
		fn("pg_terminate_backend(int4) bool", "end a session", signal(Sessions.Terminate)).volatile(),
		fn("pg_terminate_backend(int4,int8) bool", "end a session", signal(Sessions.Terminate)).volatile(),
		fn("pg_postmaster_start_time() timestamptz", "when the server started", started).stable(),
		fn("pg_conf_load_time() timestamptz", "when the server started", started).stable(),
	}
}
