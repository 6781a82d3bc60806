package live

import (
	"context"
	"iter"
	"slices"

	"github.com/clichain/clichain"
)

// item is an event for a reader, or the error that ended a turn.
type item struct {
	event clichain.Event
	err   error
}

// reader is a loop over the events of a session.
type reader struct {
	items chan item
	left  chan struct{} // closed when the loop has ended
}

// Events yields what happens in the turns from the beginning of the loop on, until the
// session is over: an error stands for the end of a turn that failed. The turns go no
// faster than the loop over them, unless they are ended; without a loop nothing is kept.
func (s *Session) Events() iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		r := &reader{make(chan item), make(chan struct{})}
		if !s.join(r) {
			return
		}
		defer s.leave(r)
		for {
			select {
			case i := <-r.items:
				if !yield(i.event, i.err) {
					return
				}
			case <-s.over:
				return
			}
		}
	}
}

// join adds a reader, unless the session is over.
func (s *Session) join(r *reader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, r)
	return !s.state.Over()
}

func (s *Session) leave(r *reader) {
	close(r.left)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = slices.DeleteFunc(s.readers, func(other *reader) bool { return other == r })
}

// tell passes an event on to all readers and waits for them, as long as the turn goes on.
func (s *Session) tell(ctx context.Context, i item) {
	s.mu.Lock()
	readers := slices.Clone(s.readers)
	s.mu.Unlock()
	for _, r := range readers {
		select {
		case r.items <- i: // whatever else is the case
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
