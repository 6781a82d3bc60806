package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/clichain/clichain"
)

// The exit statuses.
const (
	exitFailed      = 1   // every backend failed
	exitUsage       = 2   // a mistake in the command line, the environment or the input
	exitNothing     = 3   // nothing to try: suppressed, or none installed
	exitTimeout     = 124 // out of time
	exitInterrupted = 130 // Ctrl-C
)

// statusError is an error with its exit status. Without err nothing is printed.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usagef makes the error for a mistake of the caller's: one line that names where and what.
func usagef(format string, args ...any) error {
	return &statusError{exitUsage, fmt.Errorf(format, args...)}
}

func outputError(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{exitFailed, fmt.Errorf("cannot write the answer: %w", err)}
}

var (
	timeouts = []clichain.Reason{clichain.ReasonTimeout, clichain.ReasonIdleTimeout, clichain.ReasonFirstOutputTimeout}
	// mistakes are the failures that another command line avoids.
	mistakes = []clichain.Reason{clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession}
)

// chainStatus is the exit status of a chain that did not answer. spent says that its whole budget is gone.
func chainStatus(err *clichain.ChainError, spent bool) int {
	spent = spent || slices.ContainsFunc(err.Attempts, func(a clichain.Attempt) bool {
		return a.Reason == clichain.ReasonBudgetSpent
	})
	reason := err.Reason()
	switch {
	case slices.Contains(mistakes, reason):
		return exitUsage
	case spent, slices.Contains(timeouts, reason): // also before anything could be started
		return exitTimeout
	case !err.Tried():
		return exitNothing
	}
	return exitFailed
}

// report prints a failure, to stdout as JSON or else to stderr, and returns the exit status.
func (a *app) report(ctx context.Context, err error, asJSON bool) int {
	if err == nil {
		return 0
	}
	status := exitUsage // errors without a status come from cobra, about the command line
	known, ok := errors.AsType[*statusError](err)
	if ok {
		status = known.status
	}
	if stop, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		status = stop.status()
	}
	switch {
	case ok && known.err == nil:
	case errors.Is(err, syscall.EPIPE): // nobody reads the output any more
	case asJSON: // an error of the write is lost, but the exit status is not 0 anyway
		_ = writeJSON(a.out, map[string]any{"error": failureOf(err, status)}, false)
	case status > 128:
		fmt.Fprintln(a.err, "clichain:", context.Cause(ctx))
	default:
		fmt.Fprintln(a.err, "clichain:", visible(message(err)))
	}
	return status
}

// failure is the JSON form of an error that is no *clichain.ChainError.
type failure struct {
	Reason   clichain.Reason    `json:"reason"`
	Message  string             `json:"message"`
	Attempts []clichain.Attempt `json:"attempts"`
}

func failureOf(err error, status int) any {
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
		return chain
	}
	reason := clichain.ReasonBadOption
	switch {
	case status > 128:
		reason = clichain.ReasonCanceled
	case status != exitUsage:
		reason = clichain.ReasonExit
	}
	return failure{reason, message(err), []clichain.Attempt{}}
}

// message is the error's text in the words of the command line, without the prefix of the library.
func message(err error) string {
	if text := suppressedAlike(err); text != "" {
		return text
	}
	if known, ok := err.(*statusError); ok && known.err != nil {
		err = known.err
	}
	text, found := told(err).Error(), true
	for found {
		text, found = strings.CutPrefix(text, "clichain: ")
	}
	return text
}

// suppressedAlike is one line for a chain whose backends are all suppressed by the same setting, and else empty.
func suppressedAlike(err error) string {
	chain, ok := errors.AsType[*clichain.ChainError](err)
	if !ok || len(chain.Attempts) < 2 {
		return ""
	}
	said := ""
	for i, a := range chain.Attempts {
		be, ok := a.Err.(*clichain.BackendError)
		if !ok || a.Reason != clichain.ReasonSuppressed || i > 0 && be.Message != said {
			return ""
		}
		said = be.Message
	}
	return fmt.Sprintf("nothing to try: all %d backends are %s", len(chain.Attempts), said)
}

// wantsJSON looks for --json itself, because cobra stops reading a command line at its first mistake.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
