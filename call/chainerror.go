package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/plaintext"
	"github.com/hashicorp/go-multierror"
)

// ChainError says that no backend of a chain answered. It wraps a
// go-multierror Error that holds every attempt, skips too, so [errors.Is] and
// [errors.As] reach them all. Reading it is safe for concurrent use.
type ChainError struct {
	// Attempts holds what was tried or skipped, in order. Empty when the
	// chain has no backends, or the request was refused before the first.
	Attempts []Attempt
	// Cause is set when something else than the last attempt ended the chain,
	// such as the caller's context. Otherwise nil.
	Cause error
	// Note says why the chain ended before its last backend. Empty when it did
	// not, or the attempts tell.
	Note string
}

// Unwrap returns the cause, if any, and a *multierror.Error of all attempts.
func (e *ChainError) Unwrap() []error {
	attempts := &multierror.Error{}
	for _, a := range e.Attempts {
		if a.Err != nil {
			attempts = multierror.Append(attempts, &attemptError{a.Err})
		}
	}
	if e.Cause == nil {
		return []error{attempts}
	}
	return []error{e.Cause, attempts}
}

// attemptError keeps multierror.Append from flattening the *multierror.Error
// inside a nested chain's error: an attempt stays one entry.
type attemptError struct{ error }

func (e *attemptError) Unwrap() error { return e.error }

// Reason is the class of the whole failure, one for all attempts, where
// [errors.Is] is true of each: the cause's, else that of the last backend that
// was tried, had no time left to be, or found a mistake in the request, else
// that of the first that is misconfigured, else that of the first skip. Empty:
// there was nothing to try.
func (e *ChainError) Reason() Reason {
	if be, ok := e.Cause.(*Error); ok {
		return be.Reason
	}
	for _, a := range slices.Backward(e.Attempts) {
		if !a.Skipped || a.StopsChain() || a.Reason == ReasonTimeout {
			return a.Reason
		}
	}
	for _, a := range e.Attempts {
		if Misconfigured(a.Err) {
			return a.Reason
		}
	}
	if len(e.Attempts) > 0 {
		return e.Attempts[0].Reason
	}
	return ""
}

// Usage is what the failed attempts have consumed together. Its cost is the sum
// of the known costs, and nil when none is known.
func (e *ChainError) Usage() (total Usage) {
	for _, a := range e.Attempts {
		total = total.Add(a.Usage)
	}
	return total
}

// RetryAfter is when the first of the backends will be available again, as far
// as they said. Zero: none said so.
func (e *ChainError) RetryAfter() (first time.Time) {
	for i, a := range e.Attempts {
		if i+1 < len(e.Attempts) && e.Attempts[i+1].Backend == a.Backend {
			continue // the same backend's next try knows better
		}
		if at := retryAfter(a.Err); first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

func retryAfter(err error) time.Time {
	if inner, ok := err.(*ChainError); ok {
		return inner.RetryAfter()
	}
	if be, ok := errors.AsType[*Error](err); ok {
		return be.RetryAfter
	}
	return time.Time{}
}

// Tried reports whether any backend was really started.
func (e *ChainError) Tried() bool { return e.tried() > 0 }

func (e *ChainError) tried() (n int) {
	for _, a := range e.Attempts {
		if !a.Skipped {
			n++
		}
	}
	return n
}

// MarshalJSON writes {"reason", "message", "attempts"}.
func (e *ChainError) MarshalJSON() ([]byte, error) {
	message, _, _ := strings.Cut(e.Error(), "\n")
	return json.Marshal(struct {
		Reason   Reason    `json:"reason"`
		Message  string    `json:"message"`
		Attempts []Attempt `json:"attempts"`
	}{e.Reason(), message, append([]Attempt{}, e.Attempts...)})
}

// LogValue is the error as every logger of [log/slog] gets it: a group of reason,
// message and attempts, with a line for each attempt.
func (e *ChainError) LogValue() slog.Value {
	message, rest, _ := strings.Cut(e.Error(), "\n")
	var lines []string
	for line := range strings.Lines(rest) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return slog.GroupValue(
		slog.String("reason", string(e.Reason())), slog.String("message", message), slog.Any("attempts", lines))
}

// errorLine is what the text of a ChainError says of one attempt.
type errorLine struct{ backend, reason, detail string }

// errorLines has a line for each attempt, and for each one inside a nested
// chain.
func errorLines(attempts []Attempt, within string) (lines []errorLine) {
	for _, a := range attempts {
		name := within + a.Backend
		if inner := AsChainError(a.Err); inner != nil && len(inner.Attempts) > 0 {
			lines = append(lines, errorLines(inner.Attempts, name+"/")...)
			continue
		}
		line := errorLine{backend: name, reason: string(a.Reason)}
		if be, ok := errors.AsType[*Error](a.Err); ok {
			line.reason, line.detail = be.Class(), strings.TrimLeft(be.Detail()+be.BracketedHint(), " ")
		} else if a.Err != nil {
			line.detail = plaintext.OneLine(a.Err.Error())
		}
		lines = append(lines, line)
	}
	return lines
}

// Error is a summary line, then one line for each backend: its name, the
// reason, what was said, and what to do.
func (e *ChainError) Error() string {
	var b strings.Builder
	switch {
	case e.Cause != nil:
		fmt.Fprintf(&b, "clichain: %v", e.Cause)
	case len(e.Attempts) == 0:
		b.WriteString("clichain: no backends to try")
	default:
		fmt.Fprintf(&b, "clichain: no backend answered (%d tried, %d skipped)", e.tried(), len(e.Attempts)-e.tried())
	}
	if e.Note != "" {
		b.WriteString(": " + e.Note)
	}
	lines := errorLines(e.Attempts, "")
	names, reasons := 0, 0
	for _, line := range lines {
		names, reasons = max(names, len(line.backend)), max(reasons, len(line.reason))
	}
	for _, line := range lines {
		text := fmt.Sprintf("%-*s  %-*s  %s", names, line.backend, reasons, line.reason, line.detail)
		b.WriteString("\n  " + strings.TrimRight(text, " "))
	}
	return b.String()
}

// AsChainError returns the [*ChainError] that err is or wraps. It returns nil where there is none, or where an [*Error]
// wraps it.
func AsChainError(err error) *ChainError {
	chain, ok := errors.AsType[*ChainError](err)
	if !ok {
		return nil
	}
	if be, ok := errors.AsType[*Error](err); ok {
		if inside, _ := errors.AsType[*ChainError](be); inside == chain {
			return nil
		}
	}
	return chain
}
