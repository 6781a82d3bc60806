package ask

import (
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
)

// withHints returns a failure with the flags that would have helped.
func withHints(err *clichain.ChainError, s *selection.Selection, access clichain.Access) *clichain.ChainError {
	all := &clichain.ChainError{Cause: hintedCause(err.Cause), Note: err.Note, Attempts: slices.Clone(err.Attempts)}
	for i := range all.Attempts {
		a := &all.Attempts[i]
		be, ok := a.Err.(*clichain.BackendError)
		if !ok || be.HintText() != "" {
			continue
		}
		with := *be
		with.Hint = moreTime(a, s, access)
		a.Err = &with
	}
	return all
}

// askAnyway are the flags that make a call ask a backend that it would skip.
var askAnyway = map[clichain.Reason]string{
	clichain.ReasonCoolingDown: "--no-cooldown asks all the same",
	clichain.ReasonReserved:    "--reserve 0 asks all the same",
}

// hintedCause adds the flag that ignores cooldowns or the reserve if all backends of the chain wait.
func hintedCause(cause error) error {
	be, ok := cause.(*clichain.BackendError)
	if !ok || askAnyway[be.Reason] == "" || be.HintText() != "" {
		return cause
	}
	with := *be
	with.Hint = askAnyway[be.Reason]
	return &with
}

// moreTime returns the flag that gives a backend more time, or "" for an attempt that no time limit ended.
func moreTime(a *clichain.Attempt, s *selection.Selection, access clichain.Access) string {
	switch reason := a.Reason; {
	case reason == clichain.ReasonIdleTimeout:
		return "--idle-timeout bounds how long it may say nothing"
	case reason == clichain.ReasonBudgetSpent,
		reason == clichain.ReasonTimeout && s.Chain.Budget > 0 && a.Duration < param.BackendTimeout(&s.Config):
		return "a longer --budget gives it more time"
	case reason == clichain.ReasonTimeout && access > clichain.AccessNone && !s.Config.Agent:
		return "a longer --timeout gives it more time, --agent 10 minutes"
	case reason == clichain.ReasonTimeout:
		return "a longer --timeout gives it more time"
	}
	return ""
}
