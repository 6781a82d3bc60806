package console

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain"
)

// The exit codes.
const (
	ExitFailed      = 1   // every backend failed
	ExitUsage       = 2   // wrong use: flags, arguments, settings or input
	ExitNothing     = 3   // no backend to try
	ExitNoChange    = 4   // work: the agent changed nothing
	ExitConflict    = 5   // work: the directory has changed in the same places
	ExitTimeout     = 124 // the timeout or the budget was exceeded
	ExitInterrupted = 130 // Ctrl-C
)

// ExitError is an error with an exit code. If Err is nil, the command prints nothing.
type ExitError struct {
	Status int
	Err    error
}

// Error returns the text of Err, or else the exit code.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// Fail returns an ExitError.
func Fail(status int, err error) error { return &ExitError{status, err} }

// Usagef returns an ExitError with ExitUsage. The text names the flag or the place in the input first.
func Usagef(format string, args ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, args...))
}

// OutputError returns an ExitError for an error of a write to the output, or nil for a nil error.
func OutputError(err error) error {
	if err == nil {
		return nil
	}
	return Fail(ExitFailed, fmt.Errorf("cannot write the output: %w", err))
}

var (
	// TimeoutReasons are the reasons of backends that exceeded a time limit.
	TimeoutReasons = []clichain.Reason{clichain.ReasonTimeout, clichain.ReasonIdleTimeout,
		clichain.ReasonFirstOutputTimeout}
	// UsageReasons are the reasons of requests that are invalid.
	UsageReasons = []clichain.Reason{clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession}
)

// ChainStatus returns the exit code of a chain that did not answer. Spent reports whether the budget is used up.
func ChainStatus(err *clichain.ChainError, spent bool) int {
	spent = spent || slices.ContainsFunc(err.Attempts, func(a clichain.Attempt) bool {
		return a.Reason == clichain.ReasonBudgetSpent
	})
	reason := err.Reason()
	switch {
	case slices.Contains(UsageReasons, reason):
		return ExitUsage
	case spent, slices.Contains(TimeoutReasons, reason): // even if no process was started
		return ExitTimeout
	case !err.Tried():
		return ExitNothing
	}
	return ExitFailed
}
