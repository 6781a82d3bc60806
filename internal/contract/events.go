package contract

import (
	"cmp"
	"iter"
	"reflect"

	"github.com/clichain/clichain/call"
)

// runState is the state of the backend's own run, as the event stream shows it.
type runState int

const (
	running runState = iota // the run has started and not ended
	failed                  // the run ended with an attempt event; the next start begins another run
)

// after returns the state after an event of the backend. deliver is false for a second start of a run.
func (s runState) after(kind call.EventKind) (next runState, deliver bool) {
	switch kind {
	case call.EventStart:
		return running, s != running
	case call.EventAttempt:
		return failed, true
	}
	return s, true
}

// textState tells whether the reader of the stream has received the text of the answer.
type textState int

const (
	withheld  textState = iota // no text since the start or the last reset
	delivered                  // some text; the backend delivers the rest
)

func (s textState) after(kind call.EventKind) textState {
	switch kind {
	case call.EventDelta, call.EventText:
		return delivered
	case call.EventReset:
		return withheld
	}
	return s
}

// read delivers the events before the end of the stream, and keeps the answer or error. It returns false if the reader
// has stopped.
func (r *reply) read(events iter.Seq2[call.Event, error], yield func(call.Event, error) bool) bool {
	r.err = &call.Error{
		Backend: r.name, Reason: call.ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer",
	}
	if events == nil {
		return true
	}
	for e, err := range upToEnd(events) {
		if err != nil || e.Kind == call.EventDone {
			r.resp, r.err = e.Response, err
			if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
				r.err = call.AsError(r.name, err) // the methods of a nil pointer may panic
			}
			return true
		}
		e.Backend = cmp.Or(e.Backend, r.name)
		if r.take(&e) && !yield(e, nil) {
			return false
		}
	}
	return true
}

// take updates the state for an event. It reports whether to deliver the event.
func (r *reply) take(e *call.Event) (deliver bool) {
	deliver = true
	if e.Backend == r.name {
		r.run, deliver = r.run.after(e.Kind)
	}
	r.text = r.text.after(e.Kind)
	r.acted = r.acted || e.Kind == call.EventToolUse && r.req.Access >= call.AccessWrite
	return deliver && (e.Kind != call.EventAttempt || e.Attempt != nil)
}

// upToEnd yields a stream up to its answer or error. It ignores later events: a backend that does not check whether its
// reader has stopped would panic.
func upToEnd(events iter.Seq2[call.Event, error]) iter.Seq2[call.Event, error] {
	return func(yield func(call.Event, error) bool) {
		over := false
		events(func(e call.Event, err error) bool {
			if over {
				return false
			}
			over = err != nil || e.Kind == call.EventDone
			return yield(e, err) && !over
		})
	}
}
