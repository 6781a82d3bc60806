package clichain

import (
	"errors"
	"time"
)

// errMovedOn ends a run that only tries again, where another backend could
// answer.
var errMovedOn = errors.New("given up for the next backend, rather than wait for the CLI's own retries")

// patience watches a run for signs that the CLI tries again without a word of
// it in its answer: some go on so for a minute, some for ever. The CLI's own
// retries are worth waiting for only where nobody else can answer. The caller
// of its methods holds the run's mu.
type patience struct {
	outlook
	overload time.Duration // how long an overload may take to pass
	settle   time.Duration // how long an error may be followed by the end
	bound    func() bool   // what has happened cannot be repeated elsewhere
	stop     func()
	timer    *time.Timer
}

// hear takes an event of the run, classified.
func (p *patience) hear(e *Event) {
	if e.progress() {
		p.rest()
	}
	switch e.Kind {
	case EventLimit:
		if e.Failed {
			p.trouble(e.Reason, 0)
		}
	case EventRetry:
		p.trouble(e.Reason, 0)
	case EventError:
		p.trouble(e.Reason, p.settle)
	}
}

// progress reports whether a CLI that says this got over its trouble.
func (e *Event) progress() bool {
	switch e.Kind {
	case EventDelta, EventText, EventThinking, EventToolUse:
		return true
	case EventResult:
		return !e.Failed
	}
	return false
}

// trouble ends the run after wait, or after what an overload may take. What
// every other backend would fail at too is left to the CLI.
func (p *patience) trouble(reason Reason, wait time.Duration) {
	verdict := policy[reason]
	if reason == "" || verdict.again {
		wait = p.overload
	} else if !verdict.next {
		return
	}
	if wait < 0 || p.overload < 0 || p.another == nil || p.bound() || !p.another() {
		return
	}
	if wait == 0 {
		p.stop()
	} else if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.stop)
	}
}

// rest forgets the trouble: the CLI got over it.
func (p *patience) rest() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}
