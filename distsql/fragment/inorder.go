package fragment

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// workers is how many goroutines serve a scan.
func workers(req ScanRequest) int {
	if req.Limit > 0 {
		return 1 // what is read ahead would often be in vain
	}
	return runtime.GOMAXPROCS(0)
}

// result is what became of an item.
type result[R any] struct {
	value R
	err   error
}

// inOrder computes something of each item, several at a time, and calls fn with the
// values in the order of the items, on the caller's goroutine. Each goroutine has a
// work function of its own. It returns the first error, after all goroutines have
// ended; a few values more than fn was called with may have been computed in vain.
func inOrder[T, R any](ctx context.Context, goroutines int, items []T, work func() func(context.Context, T) (R, error), fn func(R) error) error {
	if goroutines = min(goroutines, len(items)); goroutines < 2 {
		one := work()
		for _, item := range items {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			value, err := one(ctx, item)
			if err == nil {
				err = fn(value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	results := make([]chan result[R], len(items))
	for i := range results {
		results[i] = make(chan result[R], 1)
	}
	ahead := make(chan struct{}, 2*goroutines) // has one for each item begun whose value fn has not had
	var next atomic.Int64
	for range goroutines {
		one := work()
		running.Add(1)
		go func() {
			defer running.Done()
			for {
				select {
				case ahead <- struct{}{}:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				results[i] <- recovered(ctx, one, items[i])
			}
		}()
	}
	for i := range items {
		select {
		case r := <-results[i]:
			if r.err == nil {
				r.err = fn(r.value)
			}
			if r.err != nil {
				return r.err
			}
			<-ahead
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// recovered runs work, of which a panic is an error: a defect of ours that an item has
// met, and that ends the statement alone.
func recovered[T, R any](ctx context.Context, work func(context.Context, T) (R, error), item T) (r result[R]) {
	defer func() {
		if with := recover(); with != nil {
			r.err = sqlerr.New(sqlerr.InternalError, "internal error: %v", with)
		}
	}()
	r.value, r.err = work(ctx, item)
	return r
}
