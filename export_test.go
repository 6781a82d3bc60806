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
	if err := spec.Validate(); err != nil {
		panic(err)
	}
	var events []Event
	r := &Reading{
		Name: spec.Name, Program: CompileProgram(spec.Events), Judge: NewJudge(&spec), Output: rec.Output, Answer: spec.Answer,
		Secrets: newRedactor(nil), KeepCommentary: true,
		Emit: func(e Event) { events = append(events, e) }, Stop: func(error) {}, Ended: func() bool { return rec.TimedOut },
		Now: func() time.Time { return rec.Now },
	}
	stdout, stderr := r.Streams()
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
	ev := r.Evidence(result, 0)
	v := r.Judge.Verdict(ev)
	resp := Response{Session: r.tally.Session, Model: r.tally.Model, KeySource: r.tally.KeySource, Usage: r.tally.Total(), Warnings: r.tally.Warnings}
	return v.Text, resp, v.Err, events
}

// Backdate makes the runs of a registry older.
func (r *Registry) Backdate(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run := range r.runs {
		run.Started = run.Started.Add(-d)
	}
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
func OnThisMachine(o Options) (Options, *BackendError) { return onThisMachine(o) }

// ReasonOfCause classifies why a run was ended from outside.
var ReasonOfCause = reasonOfCause
