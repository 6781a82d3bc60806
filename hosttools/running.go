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

// PanicError is the error of a turn of a live.Session that a panic of a function has ended.
type PanicError struct {
	Value any // of the panic
}

// Error includes the value.
func (e *PanicError) Error() string {
	return fmt.Sprintf("a function of the caller panicked: %v", e.Value)
}

const lastWait = 2 * time.Second // for functions that have not returned when their call ends

// running has the functions of one call, and the goroutines that run them.
type running struct {
	tools  map[string]*Tool
	cancel context.CancelCauseFunc
	acted  atomic.Bool
	panic  atomic.Pointer[PanicError] // of the first function that panicked
	group
}

type runningKey struct{}

// begin begins a call. The context that it returns ends with the call, or if a function panics.
func begin(ctx context.Context, tools []Tool) (context.Context, *running) {
	r := &running{tools: map[string]*Tool{}}
	for i := range tools {
		r.tools[tools[i].name] = &tools[i]
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	return context.WithValue(ctx, runningKey{}, r), r
}

// end ends the contexts of the functions, and returns the error of a panic.
func (r *running) end() error {
	r.close()
	r.cancel(nil)
	r.wait()
	if p := r.panic.Load(); p != nil {
		return p
	}
	return nil
}

type outcome struct {
	value any
	err   error
}

// run calls a function. Its context ends with ctx, which ends with the call, and at the timeout.
func (r *running) run(ctx context.Context, t *Tool, input json.RawMessage) (any, error) {
	limit := t.Timeout
	if limit == 0 {
		limit = MaxTime
	}
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if !r.enter() {
		return nil, context.Canceled
	}
	if !t.ReadOnly {
		r.acted.Store(true)
	}
	done := make(chan outcome, 1)
	go func() {
		defer r.Done()
		returned := false
		defer func() {
			if returned {
				return
			}
			problem := &PanicError{"a function of the caller has ended its goroutine"}
			if value := recover(); value != nil {
				problem.Value = value
			}
			r.panic.CompareAndSwap(nil, problem)
			r.cancel(problem)
		}()
		value, err := t.call(own, input)
		returned = true
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-own.Done():
	}
	select {
	case o := <-done: // both can be ready
		return o.value, o.err
	default:
	}
	if errors.Is(own.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("the function did not return within %v", limit)
	}
	return nil, own.Err()
}

// group has goroutines that end soon after close.
type group struct {
	mu     sync.Mutex
	closed bool
	sync.WaitGroup
}

// enter adds a goroutine. It reports false after close.
func (g *group) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.Add(1)
	}
	return !g.closed
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// wait waits for the goroutines, but not for long: a function may ignore its context.
func (g *group) wait() {
	over := make(chan struct{})
	go func() { g.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(lastWait):
	}
}
