// Package semaphore limits concurrency.
package semaphore

import "context"

// Semaphore is a concurrency limit; its capacity is the number of slots. A nil Semaphore sets no limit. It is
// safe for concurrent use.
type Semaphore chan struct{}

// Try takes a slot if one is free.
func (s Semaphore) Try() (release func(), ok bool) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, s == nil
	}
}

// Acquire waits for a slot, in the order of the calls. The error is the cause of the cancellation of ctx.
func (s Semaphore) Acquire(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
