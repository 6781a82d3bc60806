package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/session"
)

// enter changes the state on behalf of a method. The caller holds no lock.
func (s *Session) enter(op string, to State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(op); err != nil {
		return err
	}
	s.set(to)
	return nil
}

// check returns an error if the method is not allowed in the current state. The caller holds mu.
func (s *Session) check(op string) error {
	if !slices.Contains(allowed[op], s.state) {
		return &StateError{op, s.state}
	}
	return nil
}

// set changes the state and notifies the loops over the events. The caller holds mu.
func (s *Session) set(to State) {
	s.state, s.since = to, time.Now()
	s.changes++
	for _, r := range s.readers {
		r.add(stateEvent{s.changes, s.stateEvent()})
	}
}

// finish ends the session. The caller holds mu.
func (s *Session) finish(state State, err error) {
	s.err = err
	s.set(state)
	s.end(ErrStopped)
	for _, t := range s.queue {
		t.fail(s.provider.Name())
	}
	s.queue = nil
	close(s.over)
}

// fail ends a turn that never began.
func (t *Turn) fail(backend string) {
	t.err = skipped(backend, ErrStopped)
	close(t.done)
}

func skipped(backend string, cause error) *clichain.BackendError {
	return &clichain.BackendError{
		Backend: backend, Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause, Stage: call.StageSkipped,
	}
}

func (s *Session) wake() {
	select {
	case s.work <- struct{}{}:
	default: // already signaled
	}
}

// run begins one turn after the other, until the CLI has ended.
func (s *Session) run(cli *held.CLI) {
	for {
		if t := s.next(); t != nil {
			cli = s.turn(cli, t)
			continue
		}
		select {
		case <-s.work:
		case <-cli.Gone():
			s.gone(cli)
			return
		}
	}
}

// next removes the next turn from the queue, or returns nil if no turn may begin now.
func (s *Session) next() *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Running || len(s.queue) == 0 {
		return nil
	}
	s.now, s.queue = s.queue[0], s.queue[1:]
	return s.now
}

// turn asks the CLI, and returns the CLI that has the conversation then.
func (s *Session) turn(cli *held.CLI, t *Turn) *held.CLI {
	t.req = session.Resume(s.provider.Name(), s.lacks.with(t.text))
	s.asked = &t.req
	s.entry = s.entry.Again(s.asked)
	end := t.observe(s)
	cli, resp, failed := s.answer(cli, t)
	s.lacks.asked(t, resp, failed)
	if t.resp = resp; failed != nil {
		t.err = failed
	}
	s.entry.Ended(t.ctx, t.err, t.ctx.Err() != nil)
	end()
	if failed != nil {
		s.tell(s.life, item{err: failed})
	} else {
		s.tell(s.life, item{event: clichain.Event{Kind: clichain.EventDone, Backend: s.provider.Name(), Response: resp}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.died = nil, t.err // unless another turn follows
	s.turns++
	if resp != nil {
		s.usage, s.session = s.usage.Add(resp.Usage), cmp.Or(resp.Session, s.session)
		for _, earlier := range resp.Attempts {
			s.usage = s.usage.Add(earlier.Usage)
		}
	}
	close(t.done)
	return cli
}

// gone ends a session whose CLI has ended, on its own or because of Stop.
func (s *Session) gone(cli *held.CLI) {
	s.mu.Lock()
	stopping, err := s.state == Stopping, s.died
	s.mu.Unlock()
	if !stopping && err == nil {
		if err = cli.Err(); err != nil {
			s.entry.Again(s.asked).Ended(s.life, err, false)
		}
	}
	s.entry.Left(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Stopping {
		s.finish(Stopped, nil)
		return
	}
	s.finish(Error, err)
}
