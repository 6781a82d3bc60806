package call

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/plaintext"
)

// Error is the failure of one backend: it failed, or it was skipped before a process started. [errors.Is] matches it
// with the sentinel of its Reason and with the errors that Err wraps. Do not modify a returned Error; concurrent
// reads are safe.
type Error struct {
	// Backend is the name of the backend, such as "claude".
	Backend string `json:"backend"`
	// Reason is the class of the failure, based on all the evidence.
	Reason Reason `json:"reason"`
	// Message is the error message of the backend, or describes the mistake in the request, on one line. Empty: the
	// Reason explains the failure.
	Message string `json:"message,omitempty"`
	// Option is the field of the request that is invalid or that the backend does not support. Empty for other
	// reasons.
	Option string `json:"option,omitempty"`
	// ExitCode is the exit code of the program; -1 if it was not started, or was killed by a signal.
	ExitCode int `json:"exit_code"`
	// Stderr is the start and the end of the stderr of the program, without surrounding white space.
	Stderr string `json:"stderr,omitempty"`
	// Partial is the text of the answer that arrived before the failure, at most 1 MiB of a run.
	Partial string `json:"partial,omitempty"`
	// RetryAfter is the time at which the backend said it will be available again, or before which a retry would
	// fail. Zero: unknown.
	RetryAfter time.Time `json:"retry_after,omitzero"`
	// Hint is the next step for the user. Empty: none, or see Advice.
	Hint string `json:"hint,omitempty"`
	// Advice lists changes of fields that would help. Each is an alternative to Hint and to the others.
	Advice []Advice `json:"advice,omitempty"`
	// Session is the session that the CLI reported before it failed, as in [Response]. The session may hold the message
	// of the call without an answer. Empty: the CLI reported none.
	Session string `json:"session,omitempty"`
	// Usage is the consumption of the failed run, as far as the CLI reported it.
	Usage Usage `json:"usage,omitzero"`
	// Quota is what the CLI reported about the usage windows of its plan, as in [Response].
	Quota []QuotaWindow `json:"quota,omitempty"`
	// Earlier lists the earlier runs of the backend in this call, oldest first. Empty: there was one run.
	Earlier []Attempt `json:"earlier,omitempty"`
	// Warnings are the warnings of the run, as in [Response].
	Warnings []string `json:"warnings,omitempty"`
	// SideEffects reports that the agent used a tool with write access, or may have used one because its CLI does not
	// report all tools. A retry could repeat the changes.
	SideEffects bool `json:"side_effects,omitempty"`
	// Discarded reports that the agent worked in a private copy of Request.Dir, and that its changes were discarded;
	// see package workspace. SideEffects then covers only effects outside the copy.
	Discarded bool `json:"discarded,omitempty"`
	// Confined is what confined the failed run, as in [Response]. Empty: unknown, or there was no run.
	Confined string `json:"confined,omitempty"`
	// Err is the wrapped cause, such as [context.DeadlineExceeded] or [io/fs.ErrNotExist]. It may be nil.
	Err error `json:"-"`
	// Stage tells whether a process was started. Empty: unknown.
	Stage Stage `json:"stage,omitempty"`
}

// Stage tells whether a process was started before an error. The zero value means unknown, as for a custom backend
// that does not set it.
type Stage string

// The stages.
const (
	StageSkipped Stage = "skipped" // no process was started
	StageStarted Stage = "started" // a process was started
)

// Errorf returns the Error of a call that was refused before a process started. field is the invalid field of the
// request, or empty.
func Errorf(reason Reason, field, format string, args ...any) *Error {
	return &Error{Reason: reason, Option: field, Message: fmt.Sprintf(format, args...), ExitCode: -1}
}

// Error returns one line: backend, reason, details, and the result of HintText in brackets.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Backend != "" {
		b.WriteString(e.Backend + ": ")
	}
	b.WriteString(e.Class())
	if detail := e.Detail(); detail != "" {
		b.WriteString(": " + detail)
	}
	return b.String() + e.BracketedHint()
}

// Class returns the Reason and, in parentheses, the Option.
func (e *Error) Class() string {
	if e.Option == "" {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s (%s)", e.Reason, e.Option)
}

// HintText returns Hint and Advice on one line, with the Go names of fields, or "".
func (e *Error) HintText() string {
	return plaintext.OneLine(JoinHint(e.Hint, e.Advice, Advice.String))
}

// BracketedHint returns a space and the result of HintText in brackets, or "" without a hint.
func (e *Error) BracketedHint() string {
	if text := e.HintText(); text != "" {
		return " [" + text + "]"
	}
	return ""
}

// Detail returns the most specific description on one line: the Message, else the cause, else the exit code and the
// last line of stderr.
func (e *Error) Detail() string {
	switch {
	case e.Message != "":
		return plaintext.OneLine(e.Message)
	case e.Err != nil && e.Err != e.Reason.Err():
		return plaintext.OneLine(e.Err.Error())
	case e.ExitCode > 0 && e.Stderr != "":
		return fmt.Sprintf("exit status %d: %s", e.ExitCode, plaintext.LastLine(e.Stderr))
	case e.ExitCode > 0:
		return fmt.Sprintf("exit status %d", e.ExitCode)
	}
	return ""
}

// Is reports whether target is the sentinel of the Reason.
func (e *Error) Is(target error) bool { return target == sentinel(e.Reason) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns the [*Error] that err is or wraps, if it has a Backend and a Reason. Otherwise it returns a new
// [*Error] that wraps err, with name as the missing Backend. The missing Reason is that of the sentinel that err
// wraps, timeout if a Timeout method returns true, and otherwise exit.
func AsError(name string, err error) *Error {
	if isNil(err) {
		be := Errorf(ReasonBadOutput, "", "the error of the backend is a nil %T", err)
		be.Backend = name
		return be
	}
	found, ok := errors.AsType[*Error](err)
	if ok && found.Backend != "" && found.Reason != "" {
		return found
	}
	be := Error{ExitCode: -1, Err: err}
	if s, wraps := errors.AsType[sentinel](err); !ok && wraps && err != error(s) {
		be.Message = strings.TrimSuffix(strings.TrimPrefix(err.Error(), s.Error()+": "), ": "+s.Error())
	}
	if ok {
		be = *found
		if err != error(found) {
			be.Err = err
		}
	}
	be.Backend, be.Reason = cmp.Or(be.Backend, name), cmp.Or(be.Reason, reasonIn(err))
	return &be
}

// isNil reports whether an error holds a nil pointer. A nil pointer that is returned as an error is not equal to nil,
// but its author meant it to be.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// reasonIn returns the class of an error that has no Reason.
func reasonIn(err error) Reason {
	if s, ok := errors.AsType[sentinel](err); ok {
		return Reason(s)
	}
	if late, ok := errors.AsType[timeoutError](err); ok && late.Timeout() {
		return ReasonTimeout
	}
	return ReasonExit
}

// timeoutError is implemented by [context.DeadlineExceeded] and errors of net.
type timeoutError interface {
	error
	Timeout() bool
}
