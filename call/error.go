package call

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/plaintext"
)

// Error says why one backend did not answer: it failed, or it was
// skipped before anything started. It matches the sentinel of its Reason
// with [errors.Is], and what Err wraps. It is a plain value: do not change
// one that was returned, and reading it is safe for concurrent use.
type Error struct {
	// Backend is the name of the spec, such as "claude".
	Backend string `json:"backend"`
	// Reason is the class of the failure, decided from all the evidence.
	Reason Reason `json:"reason"`
	// Message is what the backend itself said, one line, or what is wrong
	// with the request. Empty when there is nothing beyond the Reason.
	Message string `json:"message,omitempty"`
	// Option names the field of the request that the backend cannot honour
	// or that is wrong. Empty for the other reasons.
	Option string `json:"option,omitempty"`
	// ExitCode is the program's exit status; -1 when it was not started, or
	// was ended by a signal.
	ExitCode int `json:"exit_code"`
	// Stderr is the kept part (head and tail) of the program's stderr.
	Stderr string `json:"stderr,omitempty"`
	// Partial is answer text that had arrived before the failure.
	Partial string `json:"partial,omitempty"`
	// RetryAfter is when the backend said it will be of use again. Zero when
	// it did not say.
	RetryAfter time.Time `json:"retry_after,omitzero"`
	// Hint tells a person what to do next. Empty when there is no advice.
	Hint string `json:"hint,omitempty"`
	// Usage is what the failed run consumed, as far as it was reported.
	Usage Usage `json:"usage,omitzero"`
	// Earlier holds the tries of the same backend before this one, oldest
	// first. Empty when the first try was the last.
	Earlier []Attempt `json:"earlier,omitempty"`
	// SideEffects: the agent had used a tool with write access, so running the
	// request again, here or elsewhere, could do things twice.
	SideEffects bool `json:"side_effects,omitempty"`
	// Err is the cause underneath, such as a [context.DeadlineExceeded] or an
	// [io/fs.ErrNotExist]. May be nil.
	Err error `json:"-"`

	// Stage says whether a process was started. Empty: unknown.
	Stage Stage `json:"stage,omitempty"`
}

// Stage says how far a backend got before its error. The zero value means that
// nobody knows, as for a custom backend that did not say.
type Stage string

const (
	StageSkipped Stage = "skipped" // no process was started
	StageStarted Stage = "started" // a process was started
)

// Errorf makes the error of a call that was refused before a process started.
// field is the field of the request that is wrong, or empty.
func Errorf(reason Reason, field, format string, args ...any) *Error {
	return &Error{Reason: reason, Option: field, Message: fmt.Sprintf(format, args...), ExitCode: -1}
}

// Error is one line: backend, reason, what was said, what to do.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Backend != "" {
		b.WriteString(e.Backend + ": ")
	}
	b.WriteString(e.Class())
	if detail := e.Detail(); detail != "" {
		b.WriteString(": " + detail)
	}
	return b.String() + e.Advice()
}

// Class is the Reason, and the field it is about.
func (e *Error) Class() string {
	if e.Option == "" {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s (%s)", e.Reason, e.Option)
}

// Advice is the hint, in brackets.
func (e *Error) Advice() string {
	if e.Hint == "" {
		return ""
	}
	return fmt.Sprintf(" [%s]", plaintext.OneLine(e.Hint))
}

// Detail is the most telling text there is: the backend's own words, the
// cause, the exit status, the last line of stderr.
func (e *Error) Detail() string {
	switch {
	case e.Message != "":
		return plaintext.OneLine(e.Message)
	case e.Err != nil:
		return plaintext.OneLine(e.Err.Error())
	case e.ExitCode > 0 && e.Stderr != "":
		return fmt.Sprintf("exit status %d: %s", e.ExitCode, plaintext.LastLine(e.Stderr))
	case e.ExitCode > 0:
		return fmt.Sprintf("exit status %d", e.ExitCode)
	}
	return ""
}

// Is reports whether target is the sentinel of e's Reason.
func (e *Error) Is(target error) bool { return target == sentinel(e.Reason) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError finds the BackendError of a failed attempt. Backends are an
// interface, so a stranger's error is possible: it counts as a failed run.
func AsError(name string, err error) *Error {
	if be, ok := errors.AsType[*Error](err); ok {
		return be
	}
	return &Error{Backend: name, Reason: ReasonExit, ExitCode: -1, Err: err}
}
