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

// Report prints a failure, to stdout as JSON or else to stderr, and returns the exit status.
func (e *Env) Report(ctx context.Context, err error, asJSON bool) int {
	if err == nil {
		return 0
	}
	status := ExitUsage // errors without a status come from cobra, about the command line
	known, ok := errors.AsType[*ExitError](err)
	if ok {
		status = known.Status
	}
	if stop, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok {
		status = stop.Status()
	}
	switch {
	case ok && known.Err == nil:
	case errors.Is(err, syscall.EPIPE): // nobody reads the output any more
	case asJSON: // an error of the write is lost, but the exit status is not 0 anyway
		_ = WriteJSON(e.Out, map[string]any{"error": failureOf(err, status)}, false)
	case status > 128:
		fmt.Fprintln(e.Err, "clichain:", context.Cause(ctx))
	default:
		fmt.Fprintln(e.Err, "clichain:", terminal.Visible(Message(err)))
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
	case status != ExitUsage:
		reason = clichain.ReasonExit
	}
	return failure{reason, Message(err), []clichain.Attempt{}}
}

// Message is the error's text in the words of the command line, without the prefix of the library.
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

// WantsJSON looks for --json itself, because cobra stops reading a command line at its first mistake.
func WantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
