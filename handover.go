package clichain

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/cooling"
)

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
	if h.over || h.started != nil || w.req.Access != AccessNone || !w.above.quiet || w.cfg.MaxCostUSD > 0 {
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
	if w.above.movedOn != nil {
		w.above.movedOn()
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
