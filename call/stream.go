package call

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
)

// events is a sequence of what happens during a call.
type events = iter.Seq2[Event, error]

// Once wraps a sequence so that a second loop over it gets an error: reading a
// stream makes the call, and a call must not be made twice by accident.
func Once(sequence events) events {
	var used atomic.Bool
	return func(yield func(Event, error) bool) {
		if used.Swap(true) {
			yield(Event{}, errors.New("clichain: a stream can be read only once"))
			return
		}
		sequence(yield)
	}
}

// Stream turns a call that reports events into a sequence that can be read once.
// The call runs in a goroutine that has ended when the loop over the sequence
// has; leaving the loop cancels the call's context.
func Stream(ctx context.Context, call func(context.Context, func(Event)) (*Response, error)) events {
	return Once(func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		happened := make(chan Event)
		var resp *Response
		var err error
		go func() {
			defer close(happened)
			resp, err = call(ctx, func(e Event) {
				select {
				case happened <- e:
				case <-ctx.Done(): // the reader has left
				}
			})
		}()
		defer func() {
			cancel()
			for range happened { // until the call has ended
			}
		}()
		for e := range happened {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		yield(Event{Kind: EventDone, Backend: resp.Backend, Response: resp}, nil)
	})
}

// Collect reads a stream to its end and returns the answer, or the stream's
// error. A stream that ends without either is bad_output.
func Collect(events iter.Seq2[Event, error]) (*Response, error) {
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if e.Kind == EventDone {
			return e.Response, nil
		}
	}
	return nil, &Error{Reason: ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer"}
}
