package clichain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/cooling"
)

// errLostRace is the cause of a run that another backend's answer ended.
var errLostRace = errors.New("another backend answered first")

// race asks the next backend too when the one before has not answered in time,
// and takes the first answer. It is for requests that change nothing. The
// losers' runs are ended, and nothing of them is left, when it returns.
type race struct {
	*walk
	ctx    context.Context
	stop   context.CancelCauseFunc
	events chan Event
	ends   chan lane
	next   int // the backend to start next
	lanes  int // that are running
	won    *lane
}

// lane is one backend in a race.
type lane struct {
	try
	text     []Event // held back: that of a race, of which only the winner's counts
	panicked any     // by the backend
}

// race runs the call to its end.
func (w *walk) race(after time.Duration) (*Response, error) {
	r := &race{walk: w, events: make(chan Event), ends: make(chan lane)}
	r.ctx, r.stop = context.WithCancelCause(w.ctx)
	defer r.stop(nil)
	timer := time.NewTimer(after)
	defer timer.Stop()
	defer r.abandon()
	r.startNext()
	for r.lanes > 0 {
		select {
		case e := <-r.events:
			r.emit(e)
		case end := <-r.ends:
			r.lanes--
			if r.finish(end) && r.lanes == 0 && r.startNext() {
				timer.Reset(after)
			}
		case <-timer.C:
			if r.won == nil && !r.left && r.startNext() {
				timer.Reset(after)
			}
		}
		if r.left {
			r.stop(errLostRace)
		}
	}
	if r.won == nil {
		return nil, w.failure()
	}
	for _, e := range r.won.text {
		r.emit(e)
	}
	r.won.resp.Attempts = slices.Concat(w.attempts, r.won.entry.Probed(), r.won.resp.Attempts)
	return r.won.resp, nil
}

// abandon ends the lanes that run on where a hook, a backend or the reader has
// panicked, or the reader's goroutine is at its end.
func (r *race) abandon() {
	r.stop(errLostRace)
	for r.lanes > 0 {
		select {
		case <-r.events:
		case end := <-r.ends:
			r.lanes--
			end.entry.Left(r.walk.ctx)
		}
	}
}

// startNext starts the next backend that may be asked; false when there is
// none.
func (r *race) startNext() bool {
	for r.next < len(r.backends) && !r.left {
		i, b := r.next, r.backends[r.next]
		r.next++
		r.begun = r.begun || r.lanes > 0
		entry, skip := r.enter(b)
		if skip != nil {
			r.failed(attemptOf(b.Name(), skip, 0))
			continue
		}
		r.lanes++
		go r.run(lane{try: try{place: r.place(i), backend: b, entry: entry, start: time.Now()}})
		return true
	}
	return false
}

// run reads one backend's stream to its end.
func (r *race) run(l lane) {
	defer func() { r.ends <- l }()
	defer func() { l.panicked = recover() }() // goes on where the host can recover it
	b := r.budget
	view := chainView{resets: true, end: b.end, hard: b.hard, given: b.end.Sub(l.start)} // the others run already
	whole := func() (chainView, context.Context, context.CancelFunc) { return view, r.ctx, func() {} }
	if refused := r.probe(&l.try, whole, func(e Event) { r.events <- e }); refused != nil {
		l.err = refused
		return
	}
	ctx := withChainView(r.ctx, view)
	l.err = noAnswer(l.backend)
	for e, err := range streamOf(ctx, l.backend, r.req) {
		switch {
		case err != nil:
			l.err = err
		case e.Kind == EventDone:
			l.resp, l.err = e.Response, nil
		case e.Kind == EventReset:
			l.text = nil
		case e.Kind == EventDelta || e.Kind == EventText:
			l.text = append(l.text, e)
		default:
			l.heard(e)
			r.events <- e // the race reads until all lanes have ended
		}
	}
}

// finish takes what came of a backend; it reports whether others may go on.
func (r *race) finish(l lane) bool {
	if l.panicked != nil {
		l.entry.Left(r.walk.ctx)
		panic(l.panicked)
	}
	switch {
	case r.won != nil || r.left:
		r.lost(l.try)
		return false
	case r.settle(l.try):
		return true
	case l.err == nil:
		r.won = &l
	}
	r.next = len(r.backends)
	r.stop(errLostRace)
	return false
}

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
		Usage: t.resp.Usage, Err: errLostRace,
	})...)
}

// successor is a backend that was started while the one before it ends. All its events are held back until its turn.
type successor struct {
	lane
	index int
	stop  context.CancelCauseFunc
	done  chan struct{} // closed when nothing of it runs any more
	next  *successor    // that was started while this one ends
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
		if entry, skip := w.cooldown.Enter(w.ctx, cooldownCall{w.backends[j], w.req}); skip == nil {
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
			s.text = append(s.text, e)
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
	for _, e := range s.text {
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
		s.stop(errLostRace)
		<-s.done
		ended = append(ended, s)
	}
	w.ahead = nil
	return ended
}
