package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Report prints a failure, to Out as JSON or else to Err, and returns the exit code.
func (e *Env) Report(ctx context.Context, err error, asJSON bool) int {
	if err == nil {
		return 0
	}
	status := ExitUsage // an error without an exit code comes from cobra
	known, ok := errors.AsType[*ExitError](err)
	if ok {
		status = known.Status
	}
	if stop, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok {
		status = stop.Status()
	}
	switch {
	case ok && known.Err == nil:
	case errors.Is(err, syscall.EPIPE): // the reader closed the pipe
	case asJSON && WriteJSON(e.Out, map[string]any{"error": FailureOf(err, status)}, false) == nil:
	case status > 128:
		fmt.Fprintln(e.Err, "clichain:", context.Cause(ctx))
	default:
		fmt.Fprintln(e.Err, "clichain:", terminal.Visible(Message(err)))
	}
	return status
}

// failure is the JSON form of an error that is not a *clichain.ChainError.
type failure struct {
	Reason   clichain.Reason    `json:"reason"`
	Message  string             `json:"message"`
	Attempts []clichain.Attempt `json:"attempts"`
}

// FailureOf returns the JSON form of an error and its exit code.
func FailureOf(err error, status int) any {
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
		return chain
	}
	reason := clichain.ReasonBadOption
	switch {
	case status > 128:
		reason = clichain.ReasonCanceled
	case status != ExitUsage:
		reason = clichain.ReasonExit
	}
	return failure{reason, Message(err), []clichain.Attempt{}}
}

// Message returns the text of an error with the names of flags, without the prefix "clichain: ".
func Message(err error) string {
	if text := suppressedAlike(err); text != "" {
		return text
	}
	if known, ok := err.(*ExitError); ok && known.Err != nil {
		err = known.Err
	}
	text, found := WithFlags(err).Error(), true
	for found {
		text, found = strings.CutPrefix(text, "clichain: ")
	}
	return text
}

// suppressedAlike returns one line for a chain whose backends are all suppressed by the same setting, else "".
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

// WantsJSON searches for --json itself, because cobra stops parsing at the first error.
func WantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
