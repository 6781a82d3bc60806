package call

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
)

// Once wraps a sequence so that a second loop over it yields an error. Reading a stream makes the call, which must
// not happen twice by accident.
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

// ahead is the number of events that a call may be ahead of its reader. With 0, each would wait for the other at every
// event.
const ahead = 16

// Stream turns a call that reports events into a sequence that can be read once. The call runs in a goroutine, which
// has ended when the loop over the sequence ends. Breaking out of the loop cancels the context of the call. If the
// reader is slow, the call waits after a few events. A panic of the call is repeated in the loop, so that its caller
// can recover it.
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

// running is a call in its own goroutine.
type running struct {
	happened chan Event // closed at the end of the call; read the other fields only after that

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
		case r.happened <- e: // a select of one channel is cheaper than one of two
			return
		default:
		}
		select {
		case r.happened <- e:
		case <-ctx.Done(): // the reader broke out of the loop
		}
	})
	switch {
	case resp != nil && isNil(err):
		r.resp, r.err = resp, nil
	case resp != nil || err != nil:
		r.resp, r.err = resp, err
	}
}

// repeat repeats the panic of a call that has ended.
func (r *running) repeat() {
	if r.panicked != nil {
		panic(r.panicked)
	}
}

// noAnswer returns the error of a call without any outcome, such as a call whose goroutine exited.
func noAnswer() *Error {
	return &Error{Reason: ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer"}
}

// Collect reads a stream to its end and returns the answer or the error of the stream. A stream that ends without
// either fails with bad_output.
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
