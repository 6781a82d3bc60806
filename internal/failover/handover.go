package failover

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
)

// errAnswered is the cause of a stopped run whose answer is not needed, because the previous backend answered.
var errAnswered = errors.New("another backend answered first")

// recordUnused records an early start whose answer is not needed. The attempt includes the usage of an answer
// that came too late, because that is paid for.
func (l *Loop) recordUnused(a attempt) {
	l.observe(&a, a.windows())
	if a.err != nil {
		if a.entry.Left(l.ctx); a.refused != nil {
			a.entry.Answered(l.ctx)
		}
		l.fail(a.failures()...)
		return
	}
	a.entry.Answered(l.ctx)
	l.fail(append(a.entry.Probed(), call.Attempt{
		Backend: a.candidate.Name(), Reason: call.ReasonCanceled, Duration: a.took(),
		Usage: a.resp.Usage, Err: errAnswered,
	})...)
}

// successor is a candidate that was started while the previous one is ending. Its events are buffered until its
// turn.
type successor struct {
	attempt
	index    int
	events   []call.Event
	panicked any // the value of a panic of the backend
	stop     context.CancelCauseFunc
	done     chan struct{} // closed when the candidate has ended completely
	next     *successor    // was started while this one is ending
}

// handover starts the next candidate when a candidate is ended early.
type handover struct {
	loop *Loop
	from int

	mu      sync.Mutex
	over    bool       // the candidate has ended
	started *successor // nil if none was started
}

// start starts the next eligible candidate if the request has no access and the caller reads no text. If no
// candidate is eligible, an outer chain may start its next one.
func (h *handover) start() {
	l := h.loop
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.started != nil || l.Req.Access != call.AccessNone || !l.Outer.MilestonesOnly || l.MaxCostUSD > 0 ||
		call.HostToolsOf(l.ctx) != nil { // the one that ends may still call a function
		return
	}
	for j := h.from + 1; j < len(l.order); j++ {
		if !l.eligible(l.order[j]) {
			continue
		}
		entry, skip := l.Cooldowns.Enter(l.ctx, l.order[j].call(l.Req))
		if entry.Doubtful() { // its attempt begins with a probe
			entry.Left(l.ctx)
			return
		}
		if skip == nil {
			h.started = l.startEarly(j, entry)
			return
		}
	}
	if l.Outer.OnHandover != nil {
		l.Outer.OnHandover()
	}
}

// end returns the candidate that was started, or nil. After end, start does nothing.
func (h *handover) end() *successor {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return h.started
}

func (l *Loop) startEarly(i int, entry *cooling.Entry) *successor {
	s := &successor{index: i, done: make(chan struct{})}
	s.attempt = attempt{candidate: l.order[i], entry: entry, start: time.Now()}
	ctx, stop := context.WithCancelCause(l.Caller)
	s.stop = stop
	go func() {
		defer close(s.done)
		defer func() { s.panicked = recover() }()
		s.next = l.read(ctx, i, &s.attempt, func(e call.Event) bool {
			s.events = append(s.events, e)
			return true
		})
	}()
	return s
}

// at returns the successor if it is the candidate at index i, else nil.
func (s *successor) at(i int) *successor {
	if s == nil || s.index != i {
		return nil
	}
	return s
}

// join waits for the end of a successor and delivers its events.
func (s *successor) join(l *Loop) attempt {
	<-s.done
	l.successor = s.next
	s.stop(nil)
	if s.panicked != nil {
		panic(s.panicked)
	}
	for _, e := range s.events {
		if !l.forward(e) {
			break
		}
	}
	return s.attempt
}

// dropSuccessors ends the successors whose answers are not needed, and records their usage.
func (l *Loop) dropSuccessors() {
	for _, s := range l.endSuccessors() {
		l.recordUnused(s.attempt)
	}
}

// abandonSuccessors ends the successors of a call that ended without them.
func (l *Loop) abandonSuccessors() {
	for _, s := range l.endSuccessors() {
		l.observe(&s.attempt, s.windows())
		s.entry.Left(l.ctx)
	}
}

func (l *Loop) endSuccessors() (ended []*successor) {
	for s := l.successor; s != nil; s = s.next {
		s.stop(errAnswered)
		<-s.done
		ended = append(ended, s)
	}
	l.successor = nil
	return ended
}
