// Package semaphore bounds how many calls do something at once. It knows nothing
// of what they do.
package semaphore

import "context"

// Semaphore bounds how many do something at once, by its capacity. A nil one
// sets no bound. It is safe for concurrent use.
type Semaphore chan struct{}

// Try takes a place if there is one.
func (s Semaphore) Try() (release func(), ok bool) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, true
	default:
		return nil, s == nil
	}
}

// Acquire waits for a place, in the order of the calls. The error is the cause
// of the context's end.
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
