package provider

import (
	"context"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
)

// earlyEnd stops a run whose CLI only retries a failing request, possibly forever, while another backend can
// serve the request. It also stops a process that keeps running after its last event.
type earlyEnd struct {
	view     chainview.View
	patience time.Duration // for a failure that may be transient
	settle   time.Duration // how long the process may run after an error, or its last event
	bound    func() bool   // no other backend may take over
	stop     context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer // runs while the CLI retries
	linger *time.Timer // set at the terminal event
}

// hear processes a classified event of the run.
func (f *earlyEnd) hear(s *judge.Sign) {
	if s.Terminal {
		f.finish()
		return
	}
	if judge.Progress(&s.Event) {
		f.calm()
	}
	switch s.Kind {
	case call.EventLimit:
		if s.Failed {
			f.trouble(s.Reason, 0)
		}
	case call.EventRetry:
		f.trouble(s.Reason, 0)
	case call.EventError:
		f.trouble(s.Reason, f.settle)
	}
}

// trouble stops the run after wait or, for a failure that may be transient, after the patience. It does nothing
// for a failure that every backend would share. HasFallback may read files and stores, so trouble holds no lock
// during that call.
func (f *earlyEnd) trouble(reason call.Reason, wait time.Duration) {
	then, known := policy.Default[reason]
	if reason == "" || then.Again {
		wait = f.patience
	} else if !known || then.Stop {
		return
	}
	if wait < 0 || f.patience < 0 || f.view.HasFallback == nil || f.bound() || !f.view.HasFallback() {
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

// moveOn stops the run, and lets the next backend start in the meantime.
func (f *earlyEnd) moveOn() {
	f.stop(judge.ErrMovedOn)
	if f.view.OnHandover != nil {
		f.view.OnHandover()
	}
}

// calm cancels the planned stop of the run, because the CLI has recovered.
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

// finish gives the process a short time to exit after its last event.
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
