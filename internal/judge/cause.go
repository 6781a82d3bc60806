package judge

import (
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/proc"
)

// Stop is why clichain ended a run after a time: the cause of the context that
// the process runs under.
type Stop struct {
	Reason call.Reason
	After  time.Duration
}

// Error gives the reason and the time, rounded to milliseconds.
func (e *Stop) Error() string {
	return fmt.Sprintf("%s after %v", e.Reason, e.After.Round(time.Millisecond))
}

// Is lets errors.Is find the sentinel error of the Reason in an error chain.
func (e *Stop) Is(target error) bool { return target == e.Reason.Err() }

// The other causes for which a run is ended.
var (
	ErrMovedOn  = errors.New("given up for the next backend, rather than wait for the CLI's own retries")
	ErrAnswered = errors.New("the process went on after its last event")
	ErrFatal    = errors.New("the run could not go on")
)

// ReasonOfCause is the reason of a run that was ended from outside, by the cause
// of its context; a cause of any other kind is a cancellation.
func ReasonOfCause(cause error) call.Reason {
	if stop, ok := errors.AsType[*Stop](cause); ok {
		return stop.Reason
	}
	if _, ok := errors.AsType[*proc.PanicError](cause); ok {
		return call.ReasonBadOutput
	}
	switch {
	case errors.Is(cause, proc.ErrOutputLimit):
		return call.ReasonOutputLimit
	case errors.Is(cause, proc.ErrReapLost):
		return call.ReasonExit
	case errors.Is(cause, ErrMovedOn):
		return call.ReasonServerError // the CLI retried and did not say why
	}
	return call.ReasonCanceled
}
