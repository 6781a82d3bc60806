package clichain

import (
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// stopError is why clichain ended a run: the cause of the context that the
// process runs under.
type stopError struct {
	Reason Reason
	After  time.Duration
}

func (e *stopError) Error() string {
	return fmt.Sprintf("%s after %v", e.Reason, e.After.Round(time.Millisecond))
}

// Is lets errors.Is find the clock behind a more telling Reason.
func (e *stopError) Is(target error) bool { return target == sentinel(e.Reason) }

// The other causes for which a run is ended.
var (
	errMovedOn  = errors.New("given up for the next backend, rather than wait for the CLI's own retries")
	errAnswered = errors.New("the process went on after its last event")
	errFatal    = errors.New("the run could not go on")
)

// reasonOfCause classifies why a run was ended from outside.
func reasonOfCause(cause error) Reason {
	if stop, ok := errors.AsType[*stopError](cause); ok {
		return stop.Reason
	}
	if _, ok := errors.AsType[*proc.PanicError](cause); ok {
		return ReasonBadOutput
	}
	switch {
	case errors.Is(cause, proc.ErrOutputLimit):
		return ReasonOutputLimit
	case errors.Is(cause, proc.ErrReapLost):
		return ReasonExit
	case errors.Is(cause, errMovedOn):
		return ReasonServerError // it retried and did not say why
	}
	return ReasonCanceled
}
