package live

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// item is an event for a reader, or the error that ended a turn.
type item struct {
	event clichain.Event
	err   error
	after int // the number of the latest state before the item
}

// reader is a loop over the events of a session.
type reader struct {
	items chan item
	left  chan struct{} // closed when the loop has ended
	fresh chan struct{} // signals that there are states

	states []stateEvent // states that the loop has not yielded; guarded by the session's mu
}

// stateEvent is the event of the session's nth state.
type stateEvent struct {
	n     int
	event clichain.Event
}

// maxStates limits the number of states that a loop may be behind.
const maxStates = 16

// Events yields the states of the session and the events of its turns, from the beginning of the loop until the
// session is over. The first event is an EventState with the current state. The last event is an EventState
// with Stopped or Error. An error reports a failed turn. A turn waits for the slowest loop over its events,
// unless the turn is canceled. A change of state does not wait: a loop that is more than 16 states behind
// misses the oldest. Events are not stored for later loops.
func (s *Session) Events() iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		r := s.join()
		defer s.leave(r)
		for {
			select {
			case <-r.fresh:
				if !s.yieldStates(r, math.MaxInt, yield) {
					return
				}
			case i := <-r.items:
				if !s.yieldStates(r, i.after, yield) || !yield(i.event, i.err) {
					return
				}
			case <-s.over:
				s.yieldStates(r, math.MaxInt, yield)
				return
			}
		}
	}
}

// join adds a reader, which receives the current state first.
func (s *Session) join() *reader {
	r := &reader{items: make(chan item), left: make(chan struct{}), fresh: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, r)
	r.add(stateEvent{s.changes, s.stateEvent()})
	return r
}

// stateEvent returns the current state as an event. The caller holds mu.
func (s *Session) stateEvent() clichain.Event {
	e := clichain.Event{Kind: clichain.EventState, Backend: s.provider.Name(), Text: string(s.state)}
	if s.err != nil {
		e.Reason, e.Message = call.AsError(e.Backend, s.err).Reason, s.err.Error()
	}
	return e
}

// add queues a state for the loop. The caller holds the session's mu.
func (r *reader) add(state stateEvent) {
	r.states = append(r.states, state)
	r.states = r.states[max(len(r.states)-maxStates, 0):]
	select {
	case r.fresh <- struct{}{}:
	default:
	}
}

// yieldStates yields the queued states of a reader, up to the number upTo.
func (s *Session) yieldStates(r *reader, upTo int, yield func(clichain.Event, error) bool) (goOn bool) {
	for {
		s.mu.Lock()
		if len(r.states) == 0 || r.states[0].n > upTo {
			s.mu.Unlock()
			return true
		}
		next := r.states[0]
		r.states = r.states[1:]
		s.mu.Unlock()
		if !yield(next.event, nil) {
			return false
		}
	}
}

func (s *Session) leave(r *reader) {
	close(r.left)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = slices.DeleteFunc(s.readers, func(other *reader) bool { return other == r })
}

// tell delivers an event to all readers and waits for them until ctx ends.
func (s *Session) tell(ctx context.Context, i item) {
	s.mu.Lock()
	readers := slices.Clone(s.readers)
	i.after = s.changes
	s.mu.Unlock()
	for _, r := range readers {
		select {
		case r.items <- i: // deliver without checking ctx if the reader is ready
			continue
		default:
		}
		select {
		case r.items <- i:
		case <-r.left:
		case <-ctx.Done():
		}
	}
}
