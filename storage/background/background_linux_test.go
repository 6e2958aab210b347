package background

import "testing"

// TestLower: the goroutine's thread has the low priority; the thread ends with it, so
// no other goroutine ever runs on one.
func TestLower(t *testing.T) {
	got := func() int {
		n, err := niceness()
		if err != nil {
			t.Error(err)
		}
		return n
	}
	before := got()
	for range 100 {
		lowered := make(chan int)
		go func() {
			Lower()
			lowered <- got()
		}()
		if n := <-lowered; n != min(before+lower, most) {
			t.Fatalf("the nice value of a background thread is %d", n)
		}
		after := make(chan int)
		go func() { after <- got() }()
		if n := <-after; n != before {
			t.Fatalf("the nice value of another thread is %d, of this one %d", n, before)
		}
	}
}
