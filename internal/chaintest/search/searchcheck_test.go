package search_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// searchChecks are the promises of one call. broken describes what happened instead, or returns "".
var searchChecks = []struct {
	promise string
	broken  func(*searchWorld, *searchResult) string
}{
	{"each backend that may be asked has an attempt", brokenAttempts},
	{"no attempt begins with less than MinAttempt", brokenMinimum},
	{"nothing runs again after a side effect", brokenReplay},
	{"the call ends at its deadline", brokenDeadline},
	{"the usage of all runs is reported", brokenUsage},
	{"the events are well-formed", brokenEvents},
	{"only a backend panics", brokenPanic},
}

// limit returns when the budget of a call ends, and the minimum for an attempt. The zero time means that there is no
// limit.
func (w *searchWorld) limit(c *searchResult) (end time.Time, minimum time.Duration) {
	if w.Budget > 0 {
		end = c.start.Add(w.Budget)
	}
	if c.Deadline > 0 {
		own := c.start.Add(c.Deadline - min(2*time.Second, c.Deadline/10))
		if end.IsZero() || own.Before(end) {
			end = own
		}
	}
	switch total := end.Sub(c.start); {
	case w.MinAttempt > 0:
		minimum = w.MinAttempt
	case end.IsZero():
	default:
		minimum = min(5*time.Second, total*5/9+1)
	}
	return end, minimum
}

// slack returns how long the store may delay a call.
func (w *searchWorld) slack() time.Duration {
	if !w.NoCooldown && (w.Store == "slow" || w.Store == "stuck") {
		return 5 * time.Second
	}
	return 0
}

func brokenPanic(_ *searchWorld, c *searchResult) string {
	own := slices.ContainsFunc(c.runs, func(r *searchRun) bool { return r.panicked })
	if own != (c.panicked != nil) {
		return fmt.Sprintf("a backend panicked: %v, and the call: %v", own, c.panicked)
	}
	return ""
}

func brokenDeadline(w *searchWorld, c *searchResult) string {
	end, _ := w.limit(c)
	for _, r := range c.runs {
		if !end.IsZero() && !r.start.Before(end.Add(w.slack())) {
			return fmt.Sprintf("%s began %v after the end", searchName(r.place), r.start.Sub(end))
		}
	}
	if cancel := c.start.Add(c.Cancel); c.Cancel > 0 && (end.IsZero() || cancel.Before(end)) {
		end = cancel
	}
	if end.IsZero() {
		return ""
	}
	for _, r := range c.runs { // the chain waits for a backend that ignores its context
		if r.end.After(end) && c.Backends[r.place].Stubborn {
			end = r.end
		}
	}
	if late := c.end.Sub(end.Add(w.slack())); late > 0 {
		return fmt.Sprintf("it ended %v late", late)
	}
	return ""
}

func brokenMinimum(w *searchWorld, c *searchResult) string {
	end, minimum := w.limit(c)
	if end.IsZero() || w.slack() > 0 {
		return ""
	}
	for i, r := range c.runs {
		switch left := r.deadline.Sub(r.start); {
		case end.Sub(c.start) < minimum:
			return fmt.Sprintf("%s began, but the whole call had less", searchName(r.place))
		case !slices.ContainsFunc(c.runs[:i], func(r *searchRun) bool { return !r.skips() }): // the first one may start
		case left < minimum-minimum/10:
			return fmt.Sprintf("%s began with %v of %v", searchName(r.place), left, minimum)
		}
	}
	return ""
}

func brokenReplay(w *searchWorld, c *searchResult) string {
	for i, r := range c.runs[:max(len(c.runs)-1, 0)] {
		next := searchName(c.runs[i+1].place)
		switch {
		case r.probe || r.answered() || r.panicked:
		case r.err.SideEffects && w.Replay != clichain.ReplayAlways:
			return next + " ran after a side effect"
		case w.Replay == clichain.ReplayNever && c.Access >= clichain.AccessWrite && !r.skips():
			return next + " ran after a run with write access"
		case c.Stream && !w.AcceptReset && r.text:
			return next + " ran after text that cannot be taken back"
		}
	}
	return ""
}

// skips reports whether the failure says that nothing was started.
func (r *searchRun) skips() bool { return r.err != nil && r.err.Reason == clichain.ReasonUnsupported }

func brokenUsage(_ *searchWorld, c *searchResult) string {
	want, got := clichain.Usage{}, clichain.Usage{}
	for _, r := range c.runs {
		want = want.Add(r.usage)
	}
	switch failed := call.AsChainError(c.err); {
	case c.panicked != nil:
		return ""
	case c.resp != nil:
		got = c.resp.TotalUsage()
	case failed != nil:
		got = failed.Usage()
	}
	if want != got {
		return fmt.Sprintf("%d tokens instead of %d", got.OutputTokens, want.OutputTokens)
	}
	return ""
}

// attempts returns the attempts of a call, and those in its error that were skipped.
func (c *searchResult) attempts() (list []clichain.Attempt, note string) {
	if c.resp != nil {
		return c.resp.Attempts, ""
	}
	if failed := call.AsChainError(c.err); failed != nil {
		return failed.Attempts, failed.Note
	}
	return nil, ""
}

func brokenAttempts(w *searchWorld, c *searchResult) string {
	if c.panicked != nil {
		return ""
	}
	attempts, note := c.attempts()
	var names []string
	for _, a := range attempts {
		names = append(names, a.Backend)
	}
	if c.resp != nil {
		names = append(names, c.resp.Backend)
	}
	names = slices.Compact(names)
	for i, name := range names {
		if i >= w.Backends || name != searchName(i) {
			return fmt.Sprintf("%v are not the first backends in order", names)
		}
	}
	if c.resp == nil && len(names) < w.Backends && !w.mayStop(c, note) {
		return fmt.Sprintf("only %v have one, and nothing stopped the call", names)
	}
	for place := range len(names) {
		if problem := w.brokenSkip(c, attempts, place); problem != "" {
			return problem
		}
	}
	return ""
}

// mayStop reports whether a failed call may leave out its last backends.
func (w *searchWorld) mayStop(c *searchResult, note string) bool {
	if c.Cancel > 0 && !c.end.Before(c.start.Add(c.Cancel)) || len(c.runs) == 0 {
		return c.Cancel > 0
	}
	last := c.runs[len(c.runs)-1]
	if last.err == nil {
		return false
	}
	bound := last.err.SideEffects || c.Access >= clichain.AccessWrite && w.Replay == clichain.ReplayNever || c.Stream && last.text
	return note != "" && bound || last.err.Reason.StopsChain() || w.Strict && last.err.Reason == clichain.ReasonExit
}

// brokenSkip checks that a backend with an attempt has run, or that there is a reason to skip it.
func (w *searchWorld) brokenSkip(c *searchResult, attempts []clichain.Attempt, place int) string {
	ran := slices.ContainsFunc(c.runs, func(r *searchRun) bool { return r.place == place })
	for _, a := range attempts {
		if a.Backend != searchName(place) || ran {
			continue
		}
		end, minimum := w.limit(c)
		failedBefore := slices.ContainsFunc(w.runs, func(r *searchRun) bool {
			return r.place == place && r.err != nil && !r.end.After(c.end)
		})
		switch {
		case !a.Skipped:
			return fmt.Sprintf("%s did not run, and its attempt is not skipped", a.Backend)
		case a.Reason == clichain.ReasonCoolingDown && failedBefore && !w.NoCooldown:
		case a.Reason == clichain.ReasonBudgetSpent && !end.IsZero() && end.Sub(c.end) < minimum:
		default:
			return fmt.Sprintf("%s was skipped without a cause: %v", a.Backend, a.Err)
		}
	}
	return ""
}

func brokenEvents(w *searchWorld, c *searchResult) string {
	if !c.Stream || c.panicked != nil {
		return ""
	}
	text, last := "", clichain.Event{}
	var failed []string
	for _, e := range c.events {
		switch last = e; e.Kind {
		case clichain.EventDelta, clichain.EventText:
			text += e.Text
		case clichain.EventReset:
			if text == "" {
				return "a reset without text"
			}
			text = ""
		case clichain.EventAttempt:
			failed = append(failed, e.Attempt.Backend)
		}
	}
	attempts, _ := c.attempts()
	var names []string
	for _, a := range attempts {
		names = append(names, a.Backend)
	}
	done := last.Kind == clichain.EventDone
	switch {
	case c.after > 0:
		return fmt.Sprintf("%d events after the last", c.after)
	case done != (c.err == nil):
		return fmt.Sprintf("the last event is %s, and the error %v", last.Kind, c.err)
	case done && text != c.resp.Text:
		return fmt.Sprintf("the text is %q, and the answer %q", text, c.resp.Text)
	case !slices.Equal(slices.Compact(names), slices.Compact(failed)):
		return fmt.Sprintf("attempts of %v, and events of %v", names, failed)
	}
	return ""
}
