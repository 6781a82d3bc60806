package call

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
)

// Once wraps a sequence so that a second loop over it gets an error: reading a
// stream makes the call, and a call must not be made twice by accident.
func Once(sequence iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	var used atomic.Bool
	return func(yield func(Event, error) bool) {
		if used.Swap(true) {
			yield(Event{}, errors.New("clichain: a stream can be read only once"))
			return
		}
		sequence(yield)
	}
}

// ahead is how many events a call may be ahead of its reader. With none, each would
// wait for the other at every event.
const ahead = 16

// Stream turns a call that reports events into a sequence that can be read once.
// The call runs in a goroutine that has ended when the loop over the sequence
// has; leaving the loop cancels the call's context. A call waits for a reader who is
// slower by more than a few events. A panic of the call goes on in the loop, where
// its host can recover it.
func Stream(
	ctx context.Context, call func(context.Context, func(Event)) (*Response, error),
) iter.Seq2[Event, error] {
	return Once(func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := running{happened: make(chan Event, ahead)}
		go r.run(ctx, call)
		defer func() {
			cancel()
			for range r.happened { // until the call has ended
			}
			r.repeat()
		}()
		for e := range r.happened {
			if !yield(e, nil) {
				return
			}
		}
		switch {
		case r.panicked != nil:
		case r.err != nil:
			yield(Event{}, r.err)
		default:
			yield(Event{Kind: EventDone, Backend: r.resp.Backend, Response: r.resp}, nil)
		}
	})
}

// running is a call in a goroutine of its own.
type running struct {
	happened chan Event // closed at its end, before which the rest is not to be read

	resp     *Response
	err      error
	panicked any
}

func (r *running) run(ctx context.Context, call func(context.Context, func(Event)) (*Response, error)) {
	defer close(r.happened)
	r.err = noAnswer()
	defer func() { r.panicked = recover() }()
	resp, err := call(ctx, func(e Event) {
		select {
		case r.happened <- e: // there is room, which is cheaper to see than two channels
			return
		default:
		}
		select {
		case r.happened <- e:
		case <-ctx.Done(): // the reader has left
		}
	})
	switch {
	case resp != nil && isNil(err):
		r.resp, r.err = resp, nil
	case resp != nil || err != nil:
		r.resp, r.err = resp, err
	}
}

// repeat goes on with the panic of a call that has ended.
func (r *running) repeat() {
	if r.panicked != nil {
		panic(r.panicked)
	}
}

// noAnswer is the error of a call without any outcome, such as one whose
// goroutine was ended.
func noAnswer() *Error {
	return &Error{Reason: ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer"}
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
	return nil, noAnswer()
}
