package slots

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

func workers() int { return 2 * runtime.GOMAXPROCS(0) }

// parallel calls do for 0 to n-1, with several goroutines, until it fails or ctx is done.
func parallel(ctx context.Context, n int, do func(i int) error) error {
	const piece = 32
	var next atomic.Int64
	var all sync.WaitGroup
	var failed firstError
	for range min(workers(), n/piece+1) {
		all.Go(func() {
			for failed.get() == nil && ctx.Err() == nil {
				end := int(next.Add(piece))
				if end-piece >= n {
					return
				}
				for i := end - piece; i < min(end, n); i++ {
					if err := do(i); err != nil {
						failed.set(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failed.get(), context.Cause(ctx))
}

// firstError keeps the first of several errors.
type firstError struct{ err atomic.Pointer[error] }

func (f *firstError) set(err error) {
	if err != nil {
		f.err.CompareAndSwap(nil, &err)
	}
}

func (f *firstError) get() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
