package clichain

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
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
	text     []Event // held back: only the winner's counts
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
	r.won.resp.Attempts = slices.Concat(w.attempts, r.won.resp.Attempts)
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
		r.lost(l)
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
func (r *race) lost(l lane) {
	if l.err != nil {
		l.entry.Left(r.walk.ctx)
		r.failed(l.attempts()...)
		return
	}
	l.entry.Answered(r.walk.ctx)
	r.failed(Attempt{
		Backend: l.backend.Name(), Reason: ReasonCanceled, Duration: time.Since(cmp.Or(l.ran, l.start)),
		Usage: l.resp.Usage, Err: errLostRace,
	})
}
