package fragment

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

var errTest = errors.New("test")

// TestInOrder: values come in the order of the items, until the first error, a panic,
// the consumer's end or that of the context; no more than a few are computed ahead.
func TestInOrder(t *testing.T) {
	var items []int
	for i := range 100 {
		items = append(items, i)
	}
	for _, goroutines := range []int{1, 2, 7} {
		for _, c := range []struct {
			name  string
			fails func(item int) error // of the work
			ends  func(item int) error // of the consumer
			want  int                  // items that the consumer had
		}{
			{name: "all", want: 100},
			{name: "work", fails: func(i int) error { return errIf(i == 40 || i == 43) }, want: 40},
			{name: "panic", fails: func(i int) error {
				if i == 40 && goroutines > 1 {
					panic("test")
				}
				return errIf(i == 40)
			}, want: 40},
			{name: "consumer", ends: func(i int) error { return errIf(i == 39) }, want: 40},
		} {
			var begun atomic.Int64
			var got []int
			work := func() func(context.Context, int) (int, error) {
				return func(_ context.Context, i int) (int, error) {
					begun.Add(1)
					if c.fails != nil {
						if err := c.fails(i); err != nil {
							return 0, err
						}
					}
					return i, nil
				}
			}
			err := inOrder(context.Background(), goroutines, items, work, func(i int) error {
				got = append(got, i)
				if c.ends != nil {
					return c.ends(i)
				}
				return nil
			})
			if !slices.Equal(got, items[:c.want]) || (err == nil) != (c.want == 100) {
				t.Errorf("%s, %d goroutines: %d values, %v", c.name, goroutines, len(got), err)
			}
			if c.name == "panic" && goroutines > 1 && sqlerr.CodeOf(err) != sqlerr.InternalError {
				t.Errorf("a panic is %v", err)
			}
			if n := int(begun.Load()); n > c.want+2*goroutines+1 {
				t.Errorf("%s, %d goroutines: %d items were begun for %d", c.name, goroutines, n, c.want)
			}
		}
	}
}

func errIf(failed bool) error {
	if failed {
		return errTest
	}
	return nil
}

// TestInOrderIsCancelled: with the cause, and no goroutine is left.
func TestInOrderIsCancelled(t *testing.T) {
	for _, goroutines := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(context.Background())
		work := func() func(context.Context, int) (int, error) {
			return func(ctx context.Context, i int) (int, error) {
				if i == 5 {
					cancel(errTest)
				}
				return i, context.Cause(ctx)
			}
		}
		if err := inOrder(ctx, goroutines, make([]int, 50), work, func(int) error { return nil }); err != nil {
			t.Errorf("%d goroutines: %v", goroutines, err)
		}
		items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
		if err := inOrder(ctx, goroutines, items, work, func(int) error { return nil }); !errors.Is(err, errTest) {
			t.Errorf("%d goroutines: got %v", goroutines, err)
		}
		cancel(nil)
	}
}
