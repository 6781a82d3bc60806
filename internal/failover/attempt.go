package failover

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
)

// attempt is the attempt of one candidate in a call.
type attempt struct {
	candidate *contender
	entry     *cooling.Entry
	start     time.Time
	ran       time.Time                   // when its first run began, after a possible wait for a slot
	cutShort  bool                        // the attempt had less time than the minimum
	noTool    bool                        // certainly no tool was used
	stored    map[string]call.QuotaWindow // the last reports of the attempt that are in the store, by name
	resp      *call.Response
	refused   *call.Response // the answer that the check refused; nil: none
	err       error
}

// see records an event of the candidate. It stores reports about usage windows immediately, because other calls need
// them, and because the reader may leave before the end.
func (l *Loop) see(a *attempt, e call.Event) {
	if e.Kind == call.EventStart && a.ran.IsZero() {
		a.ran = time.Now()
	}
	l.observe(a, e.Quota)
}

// took returns the time since the first run began or, without a run, since the start.
func (a *attempt) took() time.Duration { return time.Since(cmp.Or(a.ran, a.start)) }

// observe stores reports about the usage windows of a candidate's account, without those that are stored already.
func (l *Loop) observe(a *attempt, reports []call.QuotaWindow) {
	var news []call.QuotaWindow
	for _, w := range reports {
		if known, ok := a.stored[w.Name]; ok && repeats(w, known) {
			continue
		}
		if a.stored == nil {
			a.stored = map[string]call.QuotaWindow{}
		}
		a.stored[w.Name] = w
		news = append(news, w)
	}
	if len(news) > 0 {
		l.Cooldowns.Observe(l.ctx, a.candidate.call(l.Req), news)
	}
}

// sameReport is the time in which a repeated report says nothing new.
const sameReport = time.Minute

// repeats reports whether a report says the same as an earlier one.
func repeats(later, earlier call.QuotaWindow) bool {
	recent := later.ObservedAt.Sub(earlier.ObservedAt).Abs() < sameReport
	later.ObservedAt = earlier.ObservedAt
	return recent && reflect.DeepEqual(later, earlier)
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
