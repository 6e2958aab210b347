package background

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is the nice value of background threads: the scheduler weighs them a tenth
// of the others, and they still get on where every core is busy.
const niceness = 10

// Lower gives the calling goroutine a thread of its own with a low priority, from now
// until it ends. Where the system does not allow it, the goroutine goes on as it is.
func Lower() {
	runtime.LockOSThread() // not unlocked: Go ends the thread with its goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness)
}
