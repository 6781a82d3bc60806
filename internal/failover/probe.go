package failover

import (
	"context"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
)

// probe sends a probe to a candidate in doubt before its attempt. It returns an error if the candidate is
// in cooldown now, or if the probe left too little time for the attempt.
func (l *Loop) probe(i int, a *attempt) *call.Error {
	c := a.candidate
	refused := a.entry.Confirm(l.ctx, func() ([]call.Attempt, bool, error) {
		view, slice, done := l.slice(l.Caller, i)
		defer done()
		view.HasFallback, view.CanReset = func() bool { return l.hasFallback(i) }, true
		view.MilestonesOnly = !c.Observed()
		start := time.Now()
		tried, cutShort, err := cooling.Probe(l.Caller, chainview.With(slice, view), c.call(l.Req), l.Req,
			func(ctx context.Context, probe call.Request) (*call.Response, error) {
				resp, err := l.answerProbe(ctx, c, probe)
				probed := attempt{candidate: c, resp: resp, err: err}
				l.observe(&probed, probed.windows())
				return resp, err
			})
		return tried, cutShort || l.cutShort(slice, view, start), err
	})
	probed := a.entry.Probed()
	if len(probed) == 0 || refused != nil {
		return refused
	}
	l.emit(call.Event{Kind: call.EventAttempt, Backend: c.Name(), Attempt: &probed[len(probed)-1]})
	late := l.skip(c, false)
	if late == nil {
		late = a.entry.Reenter(l.ctx)
	}
	if late != nil {
		l.attempts = append(l.attempts, probed...)
	}
	return late
}

// answerProbe sends a probe to a candidate, and delivers its start events and failed attempts.
func (l *Loop) answerProbe(ctx context.Context, c Candidate, probe call.Request) (*call.Response, error) {
	return call.Collect(func(yield func(call.Event, error) bool) {
		for e, err := range c.Stream(ctx, probe) {
			if err == nil && (e.Kind == call.EventStart || e.Kind == call.EventAttempt) {
				l.emit(e)
			}
			if !yield(e, err) {
				return
			}
		}
	})
}
