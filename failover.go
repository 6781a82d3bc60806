package clichain

import (
	"context"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
)

// earlyEnd ends a run early where its CLI only retries a request that keeps
// failing, some for a minute and some for ever, while another backend could
// answer. It also ends a process that goes on after its last event.
type earlyEnd struct {
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
func (f *earlyEnd) hear(s *judge.Sign) {
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
func (f *earlyEnd) trouble(reason Reason, wait time.Duration) {
	then, known := policy.Default[reason]
	if reason == "" || then.Again {
		wait = f.overload
	} else if !known || then.Stop {
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
func (f *earlyEnd) moveOn() {
	f.stop(judge.ErrMovedOn)
	if f.view.OnHandover != nil {
		f.view.OnHandover()
	}
}

// calm forgets the trouble: the CLI got over it.
func (f *earlyEnd) calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
}

func (f *earlyEnd) forget() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}

// finish gives the process a moment to end by itself after its last event.
func (f *earlyEnd) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	if f.linger == nil {
		f.linger = time.AfterFunc(f.settle, func() { f.stop(judge.ErrAnswered) })
	}
}

func (f *earlyEnd) stopTimers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	if f.linger != nil {
		f.linger.Stop()
	}
}
