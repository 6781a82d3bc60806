package clichain

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/judge"
)

// failover ends a run early where its CLI only retries a request that keeps
// failing, some for a minute and some for ever, while another backend could
// answer. It also ends a process that goes on after its last event.
type failover struct {
	view     chainview.View
	overload time.Duration // how long an overload may take to pass
	settle   time.Duration // how long the process may go on after an error, or its last event
	bound    func() bool   // what has happened cannot be repeated elsewhere
	stop     context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer // runs while the CLI is in trouble
	linger *time.Timer // set at the terminal event
}

// hear takes an event of the run, classified.
func (f *failover) hear(s *judge.Sign) {
	if s.Terminal {
		f.finish()
		return
	}
	if judge.Progress(&s.Event) {
		f.calm()
	}
	switch s.Kind {
	case EventLimit:
		if s.Failed {
			f.trouble(s.Reason, 0)
		}
	case EventRetry:
		f.trouble(s.Reason, 0)
	case EventError:
		f.trouble(s.Reason, f.settle)
	}
}

// trouble ends the run after wait, or after what an overload may take. What
// every other backend would fail at too is left to the CLI. The question
// whether another backend could answer may read files and stores, so no lock
// is held meanwhile.
func (f *failover) trouble(reason Reason, wait time.Duration) {
	then := policy[reason]
	if reason == "" || then.again {
		wait = f.overload
	} else if !then.next {
		return
	}
	if wait < 0 || f.overload < 0 || f.view.HasFallback == nil || f.bound() || !f.view.HasFallback() {
		return
	}
	if wait == 0 {
		f.moveOn()
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil && f.linger == nil {
		f.timer = time.AfterFunc(wait, f.moveOn)
	}
}

// moveOn ends the run, and has the next backend start while it ends.
func (f *failover) moveOn() {
	f.stop(judge.ErrMovedOn)
	if f.view.OnHandover != nil {
		f.view.OnHandover()
	}
}

// calm forgets the trouble: the CLI got over it.
func (f *failover) calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
}

func (f *failover) forget() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}

// finish gives the process a moment to end by itself after its last event.
func (f *failover) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	if f.linger == nil {
		f.linger = time.AfterFunc(f.settle, func() { f.stop(judge.ErrAnswered) })
	}
}

func (f *failover) stopTimers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	if f.linger != nil {
		f.linger.Stop()
	}
}

// errAnswered is the cause of a run whose answer is not needed: the backend before it answered after all.
var errAnswered = errors.New("another backend answered first")

// lost records a backend that was asked for nothing. An answer a moment too
// late is paid for all the same.
func (w *walk) lost(t try) {
	if t.err != nil {
		t.entry.Left(w.ctx)
		w.failed(t.attempts()...)
		return
	}
	t.entry.Answered(w.ctx)
	w.failed(append(t.entry.Probed(), Attempt{
		Backend: t.backend.Name(), Reason: ReasonCanceled, Duration: time.Since(cmp.Or(t.ran, t.start)),
		Usage: t.resp.Usage, Err: errAnswered,
	})...)
}

// successor is a backend that was started while the one before it ends. All its events are held back until its turn.
type successor struct {
	try
	index    int
	events   []Event
	panicked any // by the backend
	stop     context.CancelCauseFunc
	done     chan struct{} // closed when nothing of it runs any more
	next     *successor    // that was started while this one ends
}

// handover starts the backend after one that is ended early. The zero value of started means that none was.
type handover struct {
	walk *walk
	from int

	mu      sync.Mutex
	over    bool // the backend has ended
	started *successor
}

// start starts the next backend that may answer, where that changes nothing and nobody reads the text of the two. A
// chain without one leaves it to the chain around it.
func (h *handover) start() {
	w := h.walk
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.started != nil || w.req.Access != AccessNone || !w.above.MilestonesOnly || w.cfg.MaxCostUSD > 0 {
		return
	}
	for j := h.from + 1; j < len(w.backends); j++ {
		if !w.could(w.backends[j]) {
			continue
		}
		entry, skip := w.cooldown.Enter(w.ctx, cooldownCall{w.backends[j], w.req})
		if entry.Doubtful() { // it is probed first, in its turn
			entry.Left(w.ctx)
			return
		}
		if skip == nil {
			h.started = w.startAhead(j, entry)
			return
		}
	}
	if w.above.OnHandover != nil {
		w.above.OnHandover()
	}
}

// end returns the backend that was started, if any. None is started after that.
func (h *handover) end() *successor {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return h.started
}

func (w *walk) startAhead(i int, entry *cooling.Entry) *successor {
	s := &successor{index: i, done: make(chan struct{})}
	s.try = try{place: w.place(i), backend: w.backends[i], entry: entry, start: time.Now()}
	ctx, stop := context.WithCancelCause(w.caller)
	s.stop = stop
	go func() {
		defer close(s.done)
		defer func() { s.panicked = recover() }()
		s.next = w.ask(ctx, i, &s.try, func(e Event) bool {
			s.events = append(s.events, e)
			return true
		})
	}()
	return s
}

// takes returns the successor if it is the backend at i. A nil successor is none.
func (s *successor) takes(i int) *successor {
	if s == nil || s.index != i {
		return nil
	}
	return s
}

// join waits for the end of a successor in its turn, and hands its events on.
func (s *successor) join(w *walk) try {
	<-s.done
	w.ahead = s.next
	s.stop(nil)
	if s.panicked != nil {
		panic(s.panicked)
	}
	for _, e := range s.events {
		if !w.pass(e) {
			break
		}
	}
	return s.try
}

// dropAhead ends the successors whose answers are not needed, and records what they used.
func (w *walk) dropAhead() {
	for _, s := range w.endAhead() {
		w.lost(s.try)
	}
}

// abandonAhead ends the successors of a call that nobody waits for.
func (w *walk) abandonAhead() {
	for _, s := range w.endAhead() {
		s.entry.Left(w.ctx)
	}
}

func (w *walk) endAhead() (ended []*successor) {
	for s := w.ahead; s != nil; s = s.next {
		s.stop(errAnswered)
		<-s.done
		ended = append(ended, s)
	}
	w.ahead = nil
	return ended
}
