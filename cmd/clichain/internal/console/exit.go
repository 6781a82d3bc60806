package console

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain"
)

// The exit statuses.
const (
	ExitFailed      = 1   // every backend failed
	ExitUsage       = 2   // a mistake in the command line, the environment or the input
	ExitNothing     = 3   // nothing to try: suppressed, or none installed
	ExitTimeout     = 124 // out of time
	ExitInterrupted = 130 // Ctrl-C
)

// ExitError is an error with its exit status. Where Err is nil, nothing is printed.
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

// Fail gives an error its exit status. A nil error is not printed.
func Fail(status int, err error) error { return &ExitError{status, err} }

// Usagef makes the error for a mistake in the command line or the input: one line that names the place and the mistake.
func Usagef(format string, args ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, args...))
}

// OutputError gives an error of writing the output its exit status.
func OutputError(err error) error {
	if err == nil {
		return nil
	}
	return Fail(ExitFailed, fmt.Errorf("cannot write the answer: %w", err))
}

var (
	// TimeoutReasons are the failures of a backend that had no time left.
	TimeoutReasons = []clichain.Reason{clichain.ReasonTimeout, clichain.ReasonIdleTimeout,
		clichain.ReasonFirstOutputTimeout}
	// UsageReasons are the failures that a correct command line avoids.
	UsageReasons = []clichain.Reason{clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession}
)

// ChainStatus is the exit status of a chain that did not answer. spent says that its whole budget is gone.
func ChainStatus(err *clichain.ChainError, spent bool) int {
	spent = spent || slices.ContainsFunc(err.Attempts, func(a clichain.Attempt) bool {
		return a.Reason == clichain.ReasonBudgetSpent
	})
	reason := err.Reason()
	switch {
	case slices.Contains(UsageReasons, reason):
		return ExitUsage
	case spent, slices.Contains(TimeoutReasons, reason): // also before anything could be started
		return ExitTimeout
	case !err.Tried():
		return ExitNothing
	}
	return ExitFailed
}
