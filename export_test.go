package clichain

import (
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// Recording is a run that is over.
type Recording struct {
	Output         OutputMode
	Stdout, Stderr string
	ExitCode       int
	Signal         string // that ended it
	TimedOut       bool
	Now            time.Time
}

// Replay judges a recorded run the way a live one is judged, and returns the
// events a reader of its stream would have seen.
func Replay(spec CliSpec, rec Recording) (string, Response, *BackendError, []Event) {
	compiled, err := compileSpec(spec)
	if err != nil {
		panic(err)
	}
	var events []Event
	r := &run{
		spec: compiled, tally: tally{answer: spec.Answer}, secrets: newRedactor(nil), stop: func(error) {}, ended: func() bool { return rec.TimedOut },
		now:  func() time.Time { return rec.Now },
		inv:  &invocation{call: &call{output: rec.Output}},
		emit: func(e Event) { events = append(events, e) },
	}
	stdout, stderr := r.readers()
	feed := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, text string) {
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	}
	feed(stderr, rec.Stderr)
	feed(stdout, rec.Stdout)
	result := proc.Result{ExitCode: rec.ExitCode, Signal: rec.Signal, TreeClean: true}
	result.Stderr.Head = []byte(rec.Stderr)
	result.Stderr.Total = int64(len(rec.Stderr))
	if rec.TimedOut {
		result.ExitCode, result.Cause = -1, &stopError{ReasonTimeout, DefaultTimeout}
	}
	r.stopClocks()
	ev := r.evidence(result, 0)
	text, failure := compiled.verdictOf(ev)
	resp := Response{Session: r.tally.session, Model: r.tally.model, KeySource: r.tally.keySource, Usage: r.tally.total(), Warnings: r.tally.warnings}
	return text, resp, failure, events
}

// Backdate makes the runs of a registry older.
func (r *Registry) Backdate(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run := range r.runs {
		run.Started = run.Started.Add(-d)
	}
}

// Take takes a slot, as a call does.
func (s *Slots) Take() (release func()) {
	s.free <- struct{}{}
	return func() { <-s.free }
}

// NewTempName and RemoveStale are about the folders of calls.
var (
	NewTempName = newTempName
	RemoveStale = removeStale
)

// TakeTurn takes a session's turn, as a call does.
var TakeTurn = turns.take

// WaitingSessions counts the sessions that a call has or waits for.
func WaitingSessions() int {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	return len(turns.waiting)
}

// OnThisMachine resolves the files that options name.
func OnThisMachine(o Options) (Options, *BackendError) { return o.onThisMachine() }

// ReasonOfCause classifies why a run was ended from outside.
var ReasonOfCause = reasonOfCause
