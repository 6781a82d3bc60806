package call

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A call continues while its reader is busy, and waits when the buffer of unread events is full.
func TestStreamWaitsForReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, got := 0, 0
		for e, err := range Stream(t.Context(), func(_ context.Context, emit func(Event)) (*Response, error) {
			for range 1000 {
				emit(Event{Kind: EventDelta})
				told++
			}
			return new(Response), nil
		}) {
			require.NoError(t, err)
			synctest.Wait()
			if got++; e.Kind == EventDelta {
				require.Equal(t, min(got+ahead, 1000), told)
			}
		}
		require.Equal(t, 1001, got)
	})
}

// A call ends after its reader has left the loop, although it still emits events.
func TestStreamReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		for range Stream(t.Context(), func(ctx context.Context, emit func(Event)) (*Response, error) {
			for range 1000 {
				emit(Event{Kind: EventDelta})
				told++
			}
			return nil, context.Cause(ctx)
		}) {
			break
		}
		require.Equal(t, 1000, told)
	})
}

// read returns the events and the last error of a stream.
func read(events iter.Seq2[Event, error]) (all []Event, failed error) {
	for e, err := range events {
		if failed = err; err == nil {
			all = append(all, e)
		}
	}
	return all, failed
}

// A stream ends with the outcome of the call: exactly one answer or one error.
func TestStreamOutcome(t *testing.T) {
	answer, failed := &Response{Backend: "b", Text: "42"}, &Error{Backend: "b", Reason: ReasonExit}
	done := Event{Kind: EventDone, Backend: "b", Response: answer}
	none := &Error{Reason: ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer"}
	for _, test := range []struct {
		name string
		call func() (*Response, error)
		want []Event
		err  error
	}{
		{"answer", func() (*Response, error) { return answer, nil }, []Event{done}, nil},
		{"answer and a nil pointer as the error", func() (*Response, error) { return answer, (*Error)(nil) }, []Event{done}, nil},
		{"error", func() (*Response, error) { return nil, failed }, nil, failed},
		{"answer and error", func() (*Response, error) { return answer, failed }, nil, failed},
		{"neither", func() (*Response, error) { return nil, nil }, nil, none},
		{"exit of the goroutine", func() (*Response, error) { runtime.Goexit(); return answer, nil }, nil, none},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := Event{Kind: EventStart}
			events, err := read(Stream(t.Context(), func(_ context.Context, emit func(Event)) (*Response, error) {
				emit(start)
				return test.call()
			}))
			require.Equal(t, append([]Event{start}, test.want...), events)
			require.Equal(t, test.err, err)
		})
	}
}

// The reader of a stream gets all events before the panic of the call.
func TestStreamPanic(t *testing.T) {
	n := 0
	require.PanicsWithValue(t, "call", func() {
		for e := range Stream(t.Context(), func(_ context.Context, emit func(Event)) (*Response, error) {
			emit(Event{Kind: EventStart})
			panic("call")
		}) {
			require.Equal(t, EventStart, e.Kind)
			n++
		}
	})
	require.Equal(t, 1, n)
}

// A second loop over a stream makes no second call.
func TestStreamOnce(t *testing.T) {
	calls := 0
	stream := Stream(t.Context(), func(context.Context, func(Event)) (*Response, error) {
		calls++
		return new(Response), nil
	})
	_, err := Collect(stream)
	require.NoError(t, err)
	events, err := read(stream)
	require.Empty(t, events)
	require.EqualError(t, err, "clichain: a stream can be read only once")
	require.Equal(t, 1, calls)
}

func TestCollect(t *testing.T) {
	answer, broken := &Response{Text: "42"}, errors.New("broken")
	start, done := timed{event: Event{Kind: EventStart}}, timed{event: Event{Kind: EventDone, Response: answer}}
	for _, test := range []struct {
		name   string
		script []timed
		want   *Response
		err    error
	}{
		{"answer", []timed{start, done}, answer, nil},
		{"error", []timed{start, {err: broken}}, nil, broken},
		{"events after the answer", []timed{done, {err: broken}}, answer, nil},
		{"only events", []timed{start}, nil, noAnswer()},
		{"nothing", nil, nil, noAnswer()},
	} {
		t.Run(test.name, func(t *testing.T) {
			events, ended := sourceOf(test.script)
			resp, err := Collect(events)
			require.Equal(t, test.want, resp)
			require.Equal(t, test.err, err)
			require.True(t, *ended)
		})
	}
}
