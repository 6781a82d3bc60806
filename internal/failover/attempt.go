package failover

import (
	"cmp"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
)

// attempt is the attempt of one candidate in a call.
type attempt struct {
	place     int // index in Stats
	candidate Candidate
	entry     *cooling.Entry
	start     time.Time
	ran       time.Time // when its first run began, after a possible wait for a slot
	cutShort  bool      // the attempt had less time than the minimum
	noTool    bool      // certainly no tool was used
	resp      *call.Response
	refused   *call.Response // the answer that the check refused; nil: none
	err       error
}

// see records an event of the candidate.
func (a *attempt) see(e call.Event) {
	if e.Kind == call.EventStart && a.ran.IsZero() {
		a.ran = time.Now()
	}
}

// took returns the time since the first run began or, without a run, since the start.
func (a *attempt) took() time.Duration { return time.Since(cmp.Or(a.ran, a.start)) }

// observe stores the reports of an attempt about the usage windows of its account.
func (l *Loop) observe(a attempt) {
	if windows := a.windows(); len(windows) > 0 {
		l.Cooldowns.Observe(l.ctx, a.candidate.Cooldown(l.Req), windows)
	}
}

// windows returns what the runs of the attempt reported about usage windows.
func (a *attempt) windows() (windows []call.QuotaWindow) {
	var failed []call.Attempt
	answer := cmp.Or(a.resp, a.refused)
	if answer != nil {
		failed = answer.Attempts
	} else {
		failed = policy.AttemptsOf(a.candidate.Name(), a.err, 0)
	}
	for _, run := range failed {
		if be, ok := run.Err.(*call.Error); ok {
			windows = append(windows, be.Quota...)
		}
	}
	if answer != nil {
		windows = append(windows, answer.Quota...)
	}
	return windows
}

// failures returns the failed runs of a candidate. Their durations do not include the wait for a slot.
func (a *attempt) failures() []call.Attempt {
	attempts := policy.AttemptsOf(a.candidate.Name(), a.err, a.took())
	if last := &attempts[len(attempts)-1]; a.ran.IsZero() && last.Skipped {
		last.Duration = 0
	}
	return slices.Concat(a.entry.Probed(), attempts)
}
