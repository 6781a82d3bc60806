package hosttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// errPanic is the cause of the end of a call whose function has panicked.
var errPanic = errors.New("a function of the caller has panicked")

// running has the goroutines of one call.
type running struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	panic  atomic.Pointer[any] // the value of the first panic

	mu    sync.Mutex
	ended bool
	sync.WaitGroup
}

func (r *running) begin(ctx context.Context) context.Context {
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r.ctx
}

// enter adds a goroutine. It reports false if the call has ended.
func (r *running) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.Add(1)
	}
	return !r.ended
}

func (r *running) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.cancel(nil)
}

// wait waits for the goroutines, but not for long: a function may ignore its context.
func (r *running) wait() {
	over := make(chan struct{})
	go func() { r.WaitGroup.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(lastWait):
	}
}

type outcome struct {
	value any
	err   error
}

// run calls a function. Its context ends with the call, with the request of the CLI, and at the timeout.
func (r *running) run(request context.Context, t *Tool, input json.RawMessage) (any, error) {
	limit := t.Timeout
	if limit == 0 {
		limit = MaxTime
	}
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	defer context.AfterFunc(request, cancel)()
	if !r.enter() {
		return nil, context.Canceled
	}
	done := make(chan outcome, 1)
	go func() {
		defer r.Done()
		returned := false
		defer func() {
			if returned {
				return
			}
			var value any = "a function of the caller has ended its goroutine"
			if recovered := recover(); recovered != nil {
				value = recovered
			}
			r.panic.CompareAndSwap(nil, &value)
			r.cancel(errPanic)
		}()
		value, err := t.call(ctx, input)
		returned = true
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // both can be ready
		return o.value, o.err
	default:
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("the function did not return within %v", limit)
	}
	return nil, ctx.Err()
}
