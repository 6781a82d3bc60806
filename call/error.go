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

// Error says why one backend did not answer: it failed, or it was skipped
// before anything started. [errors.Is] matches it with the sentinel of its
// Reason and with what Err wraps. It is a plain value: do not change one that
// was returned; reading it is safe for concurrent use.
type Error struct {
	// Backend is the name of the spec, such as "claude".
	Backend string `json:"backend"`
	// Reason is the class of the failure, decided from all the evidence.
	Reason Reason `json:"reason"`
	// Message is one line: what the backend itself said, or what is wrong with
	// the request. Empty when the Reason says it all.
	Message string `json:"message,omitempty"`
	// Option names the field of the request that is wrong, or that the backend
	// cannot honour. Empty for the other reasons.
	Option string `json:"option,omitempty"`
	// ExitCode is the program's exit status; -1 when it was not started, or
	// was ended by a signal.
	ExitCode int `json:"exit_code"`
	// Stderr is the kept part (head and tail) of the program's stderr, without
	// blanks around it.
	Stderr string `json:"stderr,omitempty"`
	// Partial is answer text that had arrived before the failure, of a run the
	// first 1 MiB.
	Partial string `json:"partial,omitempty"`
	// RetryAfter is when the backend said it will be available again, or before
	// which it is of no use to ask again. Zero: nothing is known of it.
	RetryAfter time.Time `json:"retry_after,omitzero"`
	// Hint tells a person what to do next. Empty: nothing, or see Advice.
	Hint string `json:"hint,omitempty"`
	// Advice lists fields whose change would help, as alternatives to Hint and
	// to each other.
	Advice []Advice `json:"advice,omitempty"`
	// Usage is what the failed run consumed, as far as it was reported.
	Usage Usage `json:"usage,omitzero"`
	// Earlier holds the earlier runs of the same backend in this call, oldest
	// first. Empty when there was one run only.
	Earlier []Attempt `json:"earlier,omitempty"`
	// Warnings are what else the run has told, as in [Response].
	Warnings []string `json:"warnings,omitempty"`
	// SideEffects reports that the agent had used a tool with write access, or may
	// have, because its CLI does not show that none began. Running the request
	// again, here or elsewhere, could repeat an effect.
	SideEffects bool `json:"side_effects,omitempty"`
	// Err is the wrapped cause, such as a [context.DeadlineExceeded] or an
	// [io/fs.ErrNotExist]. May be nil.
	Err error `json:"-"`
	// Stage says whether a process was started. Empty: unknown.
	Stage Stage `json:"stage,omitempty"`
}

// Stage says whether a process was started before an error. The zero value
// means unknown, as for a custom backend that did not set it.
type Stage string

// The stages.
const (
	StageSkipped Stage = "skipped" // no process was started
	StageStarted Stage = "started" // a process was started
)

// Errorf makes the error of a call that was refused before a process started.
// field is the field of the request that is wrong, or empty.
func Errorf(reason Reason, field, format string, args ...any) *Error {
	return &Error{Reason: reason, Option: field, Message: fmt.Sprintf(format, args...), ExitCode: -1}
}

// Error returns one line: backend, reason, details and, in brackets, HintText.
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

// Class returns the Reason and, in brackets, the field it is about.
func (e *Error) Class() string {
	if e.Option == "" {
		return string(e.Reason)
	}
	return fmt.Sprintf("%s (%s)", e.Reason, e.Option)
}

// HintText returns Hint and Advice on one line, with Go names for the fields.
// Empty when there is neither.
func (e *Error) HintText() string {
	return plaintext.OneLine(JoinHint(e.Hint, e.Advice, Advice.String))
}

// BracketedHint returns a blank and HintText in brackets; empty without a hint.
func (e *Error) BracketedHint() string {
	if text := e.HintText(); text != "" {
		return " [" + text + "]"
	}
	return ""
}

// Detail returns the most specific text there is on one line: the backend's own
// message, else the cause, else the exit status and the last line of stderr.
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

// Is reports whether target is the sentinel of e's Reason.
func (e *Error) Is(target error) bool { return target == sentinel(e.Reason) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns the [*Error] in the tree of err. Custom backends may return
// errors of any type, or leave out the Backend or the Reason: then it is a new
// [*Error] that wraps err. Its Reason is that of the sentinel which err wraps,
// timeout where err says so, else exit: a run that failed without explanation.
func AsError(name string, err error) *Error {
	if isNil(err) {
		be := Errorf(ReasonBadOutput, "", "its error is a nil %T", err)
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

// isNil reports whether an error holds a nil pointer: a variable of a pointer type
// that is returned as an error is none by the rules of the language, but it was
// meant to be.
func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// reasonIn is the class of an error that names none.
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
