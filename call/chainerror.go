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

// ChainError is the failure of a chain: no backend answered. It wraps a go-multierror Error of all attempts,
// including skips, so [errors.Is] and [errors.As] find the error of each. Do not modify a returned ChainError;
// concurrent reads are safe.
type ChainError struct {
	// Attempts lists the backends that were asked or skipped, in order. Empty: the chain has no backends, or the
	// request was refused before the first one.
	Attempts []Attempt
	// Cause is the reason why the call ended, if it was not the last attempt, such as a canceled context. Otherwise
	// nil.
	Cause error
	// Note tells why the chain stopped before its last backend. Empty: it did not stop early, or the attempts explain
	// it.
	Note string
}

// Unwrap returns the Cause, if there is one, and a *multierror.Error of all attempts.
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

// attemptError prevents multierror.Append from flattening the *multierror.Error of a nested chain, so each attempt
// remains one entry.
type attemptError struct{ error }

func (e *attemptError) Unwrap() error { return e.error }

// Reason returns one class for the whole failure. It is the Reason of the Cause, if any. Otherwise it is the Reason of
// the last attempt that started a process, timed out before its start or has an invalid request. Without such an
// attempt, the first misconfigured backend decides, or else the first skip. It returns "" if there are no attempts.
// [errors.Is] matches the sentinels of all attempts.
func (e *ChainError) Reason() Reason {
	if be, ok := e.Cause.(*Error); ok {
		return be.Reason
	}
	return e.decisive().Reason
}

// decisive returns the attempt that has the Reason for the whole failure. It is zero if there are no attempts.
func (e *ChainError) decisive() Attempt {
	for _, a := range slices.Backward(e.Attempts) {
		if !a.Skipped || a.StopsChain() || a.Reason == ReasonTimeout {
			return a
		}
	}
	for _, a := range e.Attempts {
		if Misconfigured(a.Err) {
			return a
		}
	}
	if len(e.Attempts) > 0 {
		return e.Attempts[0]
	}
	return Attempt{}
}

// Usage returns the total consumption of the failed attempts. Its cost is the sum of the known costs, and nil if no
// cost is known.
func (e *ChainError) Usage() (total Usage) {
	for _, a := range e.Attempts {
		total = total.Add(a.Usage)
	}
	return total
}

// RetryAfter returns the earliest time at which one of the backends will be available again. Zero: no backend gave a
// time.
func (e *ChainError) RetryAfter() (first time.Time) {
	for i, a := range e.Attempts {
		if i+1 < len(e.Attempts) && e.Attempts[i+1].Backend == a.Backend {
			continue // the next attempt of the same backend is more recent
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

// Tried reports whether a process of any backend was started.
func (e *ChainError) Tried() bool { return e.tried() > 0 }

func (e *ChainError) tried() (n int) {
	for _, a := range e.Attempts {
		if !a.Skipped {
			n++
		}
	}
	return n
}

// MarshalJSON returns an object with the members reason, message and attempts.
func (e *ChainError) MarshalJSON() ([]byte, error) {
	message, _, _ := strings.Cut(e.Error(), "\n")
	return json.Marshal(struct {
		Reason   Reason    `json:"reason"`
		Message  string    `json:"message"`
		Attempts []Attempt `json:"attempts"`
	}{e.Reason(), message, append([]Attempt{}, e.Attempts...)})
}

// LogValue returns the group that loggers of [log/slog] write: reason, message and attempts, with one line for each
// attempt.
func (e *ChainError) LogValue() slog.Value {
	message, rest, _ := strings.Cut(e.Error(), "\n")
	var lines []string
	for line := range strings.Lines(rest) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return slog.GroupValue(
		slog.String("reason", string(e.Reason())), slog.String("message", message), slog.Any("attempts", lines))
}

// errorLine is the line of one attempt in the text of a ChainError.
type errorLine struct{ backend, reason, detail string }

// errorLines returns a line for each attempt, including those of nested chains.
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

// Error returns a summary line, and one line for each backend: its name, the reason, the message and the hint.
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

// AsChainError returns the [*ChainError] that err is or wraps. It returns nil if there is none, or if an [*Error]
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
