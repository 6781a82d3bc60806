package clichain

import (
	"encoding/json"
	"strings"

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

// Reason is the class of the whole failure: the cause's, else that of the
// last backend that was really tried or found a mistake of the caller's, else that of the first skip; empty when
// there was nothing to try.
func (e *ChainError) Reason() Reason {
	if be, ok := e.Cause.(*BackendError); ok {
		return be.Reason
	}
	for i := len(e.Attempts) - 1; i >= 0; i-- {
		if a := e.Attempts[i]; !a.Skipped || !policy[a.Reason].next {
			return e.Attempts[i].Reason
		}
	}
	if len(e.Attempts) > 0 {
		return e.Attempts[0].Reason
	}
	return ""
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
