package ask

import (
	"slices"
	"time"

	"github.com/clichain/clichain"
)

// hinted adds to a failure what on the command line would have helped.
func (f *askFlags) hinted(err *clichain.ChainError) *clichain.ChainError {
	all := &clichain.ChainError{Cause: f.hintedCause(err.Cause), Note: err.Note, Attempts: slices.Clone(err.Attempts)}
	for i := range all.Attempts {
		a := &all.Attempts[i]
		be, ok := a.Err.(*clichain.BackendError)
		if !ok || be.HintText() != "" {
			continue
		}
		with := *be
		with.Hint = f.moreTime(a.Reason, a.Duration)
		a.Err = &with
	}
	return all
}

// hintedCause tells of a chain whose backends all cool down how to ask them all the same.
func (f *askFlags) hintedCause(cause error) error {
	be, ok := cause.(*clichain.BackendError)
	if !ok || be.Reason != clichain.ReasonCoolingDown || be.HintText() != "" {
		return cause
	}
	with := *be
	with.Hint = "--no-cooldown asks all the same"
	return &with
}

// moreTime is how to give more time to a backend that had so much of it. Empty: it was not ended for that.
func (f *askFlags) moreTime(reason clichain.Reason, had time.Duration) string {
	switch {
	case reason == clichain.ReasonIdleTimeout:
		return "--idle-timeout bounds how long it may say nothing"
	case reason == clichain.ReasonBudgetSpent,
		reason == clichain.ReasonTimeout && f.Budget > 0 && had < f.BackendTimeout():
		return "a longer --budget gives it more time"
	case reason == clichain.ReasonTimeout && f.Request.Access > clichain.AccessNone && !f.Config.Agent:
		return "a longer --timeout gives it more time, --agent 10 minutes"
	case reason == clichain.ReasonTimeout:
		return "a longer --timeout gives it more time"
	}
	return ""
}
