package background

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Nice values go to 19. Ten more than the others' is a tenth of their weight for the
// scheduler, which still lets such a thread get on where every core is busy.
const (
	lower = 10
	most  = 19
)

// Lower gives the calling goroutine a thread of its own with a low priority, from now
// until it ends. Where the system does not allow it, the goroutine goes on as it is.
func Lower() {
	runtime.LockOSThread() // not unlocked: Go ends the thread with its goroutine
	if nice, err := niceness(); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), min(nice+lower, most))
	}
}

// niceness returns the nice value of the calling goroutine's thread.
func niceness() (int, error) {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	return 20 - n, err // the system call returns 1 to 40
}
